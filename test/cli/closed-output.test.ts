import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { TestInstallation } from '../support/process.ts'
import { cli, createDemoInstallation, errorMessageIn } from '../support/process.ts'

const root = resolve(import.meta.dirname, '../..')

/** Runs a command whose output is a pipe without a reader, as in `payout-gateway --help | true`. */
async function runWithClosed(closed: 'stdout' | 'both', place: TestInstallation, args: readonly string[]) {
  const child = spawn(process.execPath, ['src/cli/cli.ts', ...args], {
    cwd: root,
    env: place.env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  child.stdout.destroy()
  if (closed === 'both') child.stderr.destroy()
  let errors = ''
  child.stderr.on('data', (chunk) => {
    errors += chunk
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  return { code, errors: errorMessageIn(errors) }
}

test.each([['--help'], ['help payout'], ['payout list'], ['audit --json'], ['events tail --from 1'], ['config']])(
  'the command %s ends without an error message if its standard output is a closed pipe',
  async (line) => {
    const place = await createDemoInstallation()
    expect(await runWithClosed('stdout', place, line.split(' '))).toEqual({ code: 0, errors: '' })
  },
)

test('a command whose standard output and standard error are closed pipes still makes its change', async () => {
  const place = await createDemoInstallation()
  expect(await runWithClosed('both', place, ['rail', 'pause', 'sandbox'])).toEqual({ code: 0, errors: '' })
  expect((await cli(place, 'rail', 'list', '--json')).json()).toMatchObject([{ pausedAt: expect.any(String) }])
})

// Only Linux has /dev/full.
test.runIf(process.platform === 'linux').each([['--help'], ['payout list'], ['export payouts']])(
  'the command %s fails with one error message if the disk of its output is full',
  async (line) => {
    const place = await createDemoInstallation()
    const full = openSync('/dev/full', 'w')
    onTestFinished(() => closeSync(full))
    const child = spawn(process.execPath, ['src/cli/cli.ts', ...line.split(' ')], {
      cwd: root,
      env: place.env,
      stdio: ['ignore', full, 'pipe'],
    })
    let errors = ''
    child.stderr?.on('data', (chunk) => {
      errors += chunk
    })
    const code = await new Promise((resolve) => child.on('close', resolve))
    const message = 'The output is incomplete: ENOSPC: no space left on device, write\n'
    expect({ code, errors: errorMessageIn(errors) }).toEqual({ code: 1, errors: message })
  },
)
