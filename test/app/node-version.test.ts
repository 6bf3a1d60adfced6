import { execFileSync, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = join(import.meta.dirname, '../..')

/** What a program says on a Node that says it is of this version. */
function runOn(version: string, program: string) {
  const versions = `{ value: { ...process.versions, node: '${version}' } }`
  const pretence = `data:text/javascript,Object.defineProperty(process, 'versions', ${versions})`
  const env = { ...process.env, DATABASE_URL: 'nonsense' }
  return spawnSync(process.execPath, ['--import', pretence, program], { cwd: root, env, encoding: 'utf8' })
}

describe.each(['src/main.js', 'src/cli.js'])('%s', (program) => {
  test.each(['20.20.2', '22.17.9', '18.0.0'])('says on Node %s in one sentence what it needs', (version) => {
    const { status, stdout, stderr } = runOn(version, program)
    const sentence = `payout-gateway needs Node.js 22.18 or later, and this is ${version}.\n`
    expect([status, stdout, stderr]).toEqual([1, '', sentence])
  })

  test.each(['22.18.0', '23.0.0', process.versions.node])('goes on with Node %s', (version) => {
    const { stdout, stderr } = runOn(version, program)
    // The service reads its configuration, and the commands explain themselves.
    expect(stdout + stderr).toMatch(/DATABASE_URL must be|Usage: npm run/)
  })
})

const older = olderNode()

// Not every machine has one; it can't read TypeScript at all.
test.skipIf(older === null)('an older Node that is really there says the same', () => {
  const { status, stderr } = spawnSync(String(older), ['src/main.js'], { cwd: root, encoding: 'utf8' })
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^payout-gateway needs Node\.js 22\.18 or later.*\n$/)])
})

function olderNode(): string | null {
  try {
    const version = execFileSync('/usr/bin/node', ['--version'], { encoding: 'utf8' })
    return /^v(1[89]|2[01])\./.test(version) ? '/usr/bin/node' : null
  } catch {
    return null
  }
}
