import { spawn } from 'node:child_process'
import { join, resolve } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import stringWidth from 'string-width'
import { expect, test } from 'vitest'
import { demoPayoutCount } from '../../src/demo/demo-history.ts'
import type { TestInstallation } from '../support/process.ts'
import { cliProcess, createDemoInstallation } from '../support/process.ts'

const root = resolve(import.meta.dirname, '../..')

/** Returns the output of a command on a pseudo terminal of util-linux `script`. */
async function onTerminal(
  place: TestInstallation,
  columns: number,
  command: string,
  environment: Record<string, string> = {},
) {
  const line = `stty cols ${columns} rows 50; ${process.execPath} src/cli/cli.ts ${command}`
  const env = { ...place.env, TERM: 'xterm', ...environment }
  const child = spawn('script', ['-qec', line, '/dev/null'], { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  const code = await new Promise((ended) => child.on('close', ended))
  return { code, shown: output.replaceAll('\r\n', '\n') }
}

test.each([80, 120])('a list fits a terminal of %i columns, with one coloured line per payout', async (columns) => {
  const { code, shown } = await onTerminal(await createDemoInstallation(), columns, 'payout list')
  const lines = stripVTControlCharacters(shown).split('\n')
  const payouts = lines.filter((line) => /^ {2}[0-9A-Z]{10} {2}/.test(line) || /^ {2}[\da-f-]{36} {2}/.test(line))
  expect([code, payouts.length]).toEqual([0, 20])
  // The database's path and the cursor of the next list are printed in full.
  const wide = lines.filter((line) => stringWidth(line) > columns && !/^(MODE=|next )/.test(line))
  expect(wide).toEqual([])
  expect(shown).toContain('\u001b[32mCOMPLETED\u001b[39m')
})

test('NO_COLOR disables colours on a terminal, and FORCE_COLOR adds no colours to JSON', async () => {
  const place = await createDemoInstallation()
  const without = await onTerminal(place, 80, 'payout list', { NO_COLOR: '1' })
  expect(without).toMatchObject({ code: 0, shown: expect.stringContaining('COMPLETED') })
  expect(without.shown).not.toContain('\u001b[')
  const piped = await cliProcess(
    { ...place, env: Object.assign({}, place.env, { FORCE_COLOR: '1' }) },
    'payout',
    'list',
    '--json',
  )
  expect(piped.json()).toMatchObject({ total: demoPayoutCount })
})

test('a terminal shows the progress of an export to a file, and no progress of an export to the terminal', async () => {
  const place = await createDemoInstallation()
  const file = join(place.folder, 'payouts.csv')
  const written = await onTerminal(place, 80, `export payouts --out ${file}`)
  expect(written).toMatchObject({
    code: 0,
    shown: expect.stringContaining(`100 % ${demoPayoutCount}/${demoPayoutCount}`),
  })
  const output = await onTerminal(place, 80, 'export payouts')
  expect(output).toMatchObject({ code: 0, shown: expect.not.stringContaining('100 %') })
})

test('help wraps to the width of the terminal', async () => {
  const { shown } = await onTerminal(await createDemoInstallation(), 60, 'help documents add')
  const lines = stripVTControlCharacters(shown).split('\n')
  expect(lines.filter((line) => line.length > 60)).toEqual([])
})
