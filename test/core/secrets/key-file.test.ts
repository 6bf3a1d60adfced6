import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { readConfig } from '../../../src/app/config.ts'
import { loadSecrets } from '../../../src/app/load-secrets.ts'
import { createSecretsFromKeyFile, loadOrCreateKey } from '../../../src/core/secrets/key-file.ts'
import { noSecrets } from '../../../src/core/secrets/secrets.ts'

let folder = ''
let path = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
  path = join(folder, 'payouts.sqlite.secrets-key')
  onTestFinished(() => rmSync(folder, { recursive: true }))
})

test('the key file is created once, and only its owner can read it', () => {
  const key = loadOrCreateKey(path)

  expect(key.length).toBe(32)
  expect(loadOrCreateKey(path)).toEqual(key)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(readFileSync(path, 'utf8')).toBe(`${key.toString('base64')}\n`)
  expect(readdirSync(folder)).toEqual(['payouts.sqlite.secrets-key'])
})

test('the key file is not created before a secret is encrypted', () => {
  const secrets = createSecretsFromKeyFile(path)
  expect(readdirSync(folder)).toEqual([])

  const sealed = secrets.seal('text', 'place')
  expect(createSecretsFromKeyFile(path).open(sealed, 'place')).toBe('text')
})

test('processes that create the key file simultaneously use the same key', async () => {
  const source = join(import.meta.dirname, '../../../src/core/secrets/key-file.ts')
  const script = `import { loadOrCreateKey } from ${JSON.stringify(source)}; console.log(loadOrCreateKey(${JSON.stringify(path)}).toString('hex'))`
  const run = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  const outputs = await Promise.all(Array.from({ length: 6 }, run))

  expect(new Set(outputs.map(({ stdout }) => stdout)).size).toBe(1)
  expect(readdirSync(folder)).toEqual(['payouts.sqlite.secrets-key'])
})

test.each([
  ['contains no valid key', 'half a k'],
  ['is empty', ''],
  ['contains several keys', [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')).join()],
])('a key file that %s causes an error and is not replaced', (_, text) => {
  writeFileSync(path, text)

  expect(() => loadOrCreateKey(path)).toThrow(`${path} must hold one key of 32 bytes in base64, and nothing else`)
  expect(readFileSync(path, 'utf8')).toBe(text)
})

test('loadSecrets uses SECRETS_KEY if it is set, a key file next to the SQLite file in the sandbox, and no key in all other cases', () => {
  const sqlite = { DATABASE_URL: `sqlite:${join(folder, 'payouts.sqlite')}` }
  const postgres = { DATABASE_URL: 'postgres://user@host/database' }
  const given = { SECRETS_KEY: Buffer.alloc(32, 1).toString('base64') }

  expect(loadSecrets(readConfig(sqlite), 'live')).toBe(noSecrets)
  expect(loadSecrets(readConfig(postgres), 'sandbox')).toBe(noSecrets)
  expect(loadSecrets(readConfig(postgres), 'live')).toBe(noSecrets)
  loadSecrets(readConfig(sqlite), 'sandbox').seal('text', 'place')
  expect(readdirSync(folder)).toEqual(['payouts.sqlite.secrets-key'])

  const sealed = loadSecrets(readConfig({ ...postgres, ...given }), 'live').seal('text', 'place')
  expect(loadSecrets(readConfig({ ...sqlite, ...given }), 'sandbox').open(sealed, 'place')).toBe('text')
})
