import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { configurationVariables, effectiveVariables, telemetryVariables } from '../../src/app/effective-variables.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

const declarations = { ...configurationVariables, ...telemetryVariables }
const defaults = Object.fromEntries(
  Object.entries(configurationVariables).flatMap(([name, { default: value }]) =>
    value === null ? [] : [[name, value]],
  ),
)
/** The example of a variable whose name depends on a bank. */
const railSecret = 'RAIL_SECRET_FIRST_BANK'

/** Returns the effective rows of an environment by name, with no variable from a file. */
function rowsOf(variables: NodeJS.ProcessEnv) {
  const rows = effectiveVariables(readConfig(variables), { variables, namesFromFile: new Set() })
  return Object.fromEntries(rows.map(({ name, ...row }) => [name, row]))
}

describe('the declared defaults', () => {
  test('are the values that readConfig uses for absent variables', () => {
    const { isModeGiven: _, ...written } = readConfig(defaults)
    const { isModeGiven: __, ...absent } = readConfig({})
    expect(written).toEqual(absent)
  })

  test('are documented in docs/reference/configuration.md', () => {
    const reference = read('docs/reference/configuration.md')
    for (const [name, { default: value }] of Object.entries(declarations)) {
      const row = reference
        .split('\n')
        .find((line) => line.startsWith('|') && line.split('|')[1]?.includes(`\`${name}\``))
      // The last of several in one row has no line of its own.
      if (row === undefined) expect(reference).toContain(`\`${name}\``)
      else if (value !== null)
        expect([name, row.split('|')[2]]).toEqual([name, expect.stringContaining(`\`${value}\``)])
      else if (name !== 'CORS_ORIGINS') expect([name, row.split('|')[2]?.trim()]).toEqual([name, 'none'])
    }
  })
})

describe('.env.example', () => {
  const example = read('.env.example')
  const lines = example.split('\n')
  const written = lines.flatMap((line, place) => {
    const [, name = '', value = ''] = /^#([A-Z_]+)=(.*)$/.exec(line) ?? []
    return name === '' ? [] : [{ name, value, sentence: lines[place - 1] ?? '' }]
  })

  test('contains every variable once, commented out, with its default', () => {
    expect(written.filter(({ name }) => name !== railSecret).map(({ name, value }) => [name, value])).toEqual(
      Object.entries(declarations).map(([name, { default: value }]) => [name, value ?? '']),
    )
    expect(written.map(({ name }) => name)).toContain(railSecret)
    expect(parseEnv(example)).toEqual({})
  })

  test('explains each variable in a comment', () => {
    for (const { name, sentence } of written)
      expect([name, sentence]).toEqual([name, expect.stringMatching(/^# [A-Z].{10,}/)])
  })
})

describe('the effective variables', () => {
  test('include, for each unset variable, the default value in the current mode', () => {
    const rows = rowsOf({})
    expect(rows.CORS_ORIGINS).toEqual({ value: '*', source: 'default' })
    expect(rowsOf({ MODE: 'live' }).CORS_ORIGINS).toEqual({ value: null, source: 'default' })
    expect(rows.PORT).toEqual({ value: '4000', source: 'default' })
    expect(rowsOf({ PORT: '' }).PORT).toEqual({ value: '4000', source: 'default' })
  })

  test('hide the values of secrets', () => {
    const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')
    const secrets = {
      SECRETS_KEY: `${key(1)},${key(2)}`,
      RAIL_SECRET_FIRST_BANK: `whsec_${key(3)}`,
      RAIL_SECRET_FORMER: 'left over',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer abc',
    }
    const rows = rowsOf({ ...secrets, RAILS: 'first-bank:https://bank.example' })
    for (const name of Object.keys(secrets)) {
      expect([name, rows[name]]).toEqual([name, { value: '(secret)', source: 'environment' }])
    }
    expect(rows.RAILS?.value).toBe('first-bank:https://bank.example')
  })

  test.each([
    ['postgres://me:p4ss@db.example/x', 'postgres://me:(secret)@db.example/x'],
    ['postgresql://me:p@s:s@one,two:6432/x', 'postgresql://me:(secret)@one,two:6432/x'],
    ['postgres://me@db/x?password=p4ss&pool=3', 'postgres://me@db/x?password=(secret)&pool=3'],
    [
      'postgres://me@db/x?sslmode=verify-full&sslpassword=p4ss',
      'postgres://me@db/x?sslmode=verify-full&sslpassword=(secret)',
    ],
    ['postgres://me@db/x', 'postgres://me@db/x'],
    ['sqlite:/srv/a:b@c.sqlite', 'sqlite:/srv/a:b@c.sqlite'],
  ])('mask the password in %s', (DATABASE_URL, value) => {
    expect(rowsOf({ DATABASE_URL }).DATABASE_URL?.value).toBe(value)
  })

  test('mask the password in the URL of an OpenTelemetry collector', () => {
    const rows = rowsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'https://me:p4ss@collector.example:4318' })
    expect(rows.OTEL_EXPORTER_OTLP_ENDPOINT?.value).toBe('https://me:(secret)@collector.example:4318')
  })
})
