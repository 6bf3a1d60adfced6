import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findOlderNode } from '../support/older-node.ts'

const root = join(import.meta.dirname, '../..')

/** Returns the output of a program on a Node that reports this version. */
function runOn(version: string, program: string) {
  const versions = `{ value: { ...process.versions, node: '${version}' } }`
  const pretence = `data:text/javascript,Object.defineProperty(process, 'versions', ${versions})`
  const env = { ...process.env, DATABASE_URL: 'nonsense' }
  return spawnSync(process.execPath, ['--import', pretence, program], { cwd: root, env, encoding: 'utf8' })
}

describe.each(['src/main.js', 'src/cli.js'])('%s', (program) => {
  test.each(['20.20.2', '22.17.9', '18.0.0'])(
    'on Node.js %s fails with one sentence that contains the required version',
    (version) => {
      const { status, stdout, stderr } = runOn(version, program)
      const sentence = `payout-gateway needs Node.js 22.18 or later, and this is ${version}.\n`
      expect([status, stdout, stderr]).toEqual([1, '', sentence])
    },
  )

  test.each(['22.18.0', '23.0.0', process.versions.node])('starts on Node.js %s', (version) => {
    const { stdout, stderr } = runOn(version, program)
    // The service reads its configuration, and the CLI prints its help.
    expect(stdout + stderr).toMatch(/DATABASE_URL must be|Usage: npm run/)
  })
})

const older = findOlderNode()

// An older Node is optional on the machine; it cannot read TypeScript.
test.skipIf(older === null)(
  'src/main.js fails on an installed Node.js version that is too old, and reports the required version',
  () => {
    const { status, stderr } = spawnSync(String(older), ['src/main.js'], { cwd: root, encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^payout-gateway needs Node\.js 22\.18 or later.*\n$/)])
  },
)
