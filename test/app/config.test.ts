import { describe, expect, test } from 'vitest'
import type { Config } from '../../src/app/config.ts'
import { readConfig } from '../../src/app/config.ts'

const defaults: Config = {
  host: '127.0.0.1',
  port: 4000,
  databaseUrl: 'sqlite:db/payouts.sqlite',
  mode: 'sandbox',
  isModeGiven: false,
  logLevel: 'info',
  rateLimit: null,
  workers: 1,
}

const logLevels = 'trace, debug, info, warn, error, fatal, silent'

/** What reading it says, line by line. */
function faultsOf(environment: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(environment)
  } catch (error) {
    return (error as Error).message.split('\n')
  }
  return []
}

test('without any variable the defaults hold, and others are ignored', () => {
  expect(readConfig({})).toEqual(defaults)
  expect(readConfig({ PATH: '/usr/bin', port: '1' })).toEqual(defaults)
})

test('an empty variable is an absent one', () => {
  const empty = { HOST: '', PORT: '', DATABASE_URL: '', MODE: '', LOG_LEVEL: '', RATE_LIMIT: '', WORKERS: '' }

  expect(readConfig(empty)).toEqual(defaults)
})

test('every variable is read', () => {
  const environment = {
    HOST: '0.0.0.0',
    PORT: '8080',
    DATABASE_URL: 'sqlite:/var/lib/payouts.sqlite',
    MODE: 'live',
    LOG_LEVEL: 'warn',
    RATE_LIMIT: '50',
    WORKERS: '4',
  }

  expect(readConfig(environment)).toEqual({
    host: '0.0.0.0',
    port: 8080,
    databaseUrl: 'sqlite:/var/lib/payouts.sqlite',
    mode: 'live',
    isModeGiven: true,
    logLevel: 'warn',
    rateLimit: 50,
    workers: 4,
  })
})

test.each([
  [{ PORT: '0' }, { port: 0 }],
  [{ PORT: '65535' }, { port: 65_535 }],
  [{ RATE_LIMIT: 'off' }, { rateLimit: null }],
  [{ RATE_LIMIT: '1' }, { rateLimit: 1 }],
  [{ RATE_LIMIT: '1000000' }, { rateLimit: 1_000_000 }],
])('%j is allowed', (environment, expected) => {
  expect(readConfig(environment)).toEqual({ ...defaults, ...expected })
})

describe('a wrong value is named with what is allowed', () => {
  test.each<readonly [name: string, value: string, allowed: string]>([
    ...['-1', '65536', '80.5', '1e3', '0x50', ' 80', 'http'].map(
      (value) => ['PORT', value, 'must be a whole number from 0 to 65535'] as const,
    ),
    ...['mysql://x', 'postgres', 'postgres://', 'sqlite:', '/var/lib/x.sqlite'].map(
      (value) => ['DATABASE_URL', value, 'must be sqlite:<path> or postgres://<user>@<host>/<database>'] as const,
    ),
    ...['Sandbox', 'test', 'production'].map((value) => ['MODE', value, 'must be one of sandbox, live'] as const),
    ['LOG_LEVEL', 'verbose', `must be one of ${logLevels}`],
    ...['0', '-1', '1000001', 'none', '1.5'].map(
      (value) => ['RATE_LIMIT', value, 'must be off or a whole number from 1 to 1000000'] as const,
    ),
  ])('%s=%s', (name, value, allowed) => {
    expect(faultsOf({ [name]: value })).toEqual(['The configuration is wrong:', `  ${name} ${allowed}`])
  })
})

test('all faults are named at once', () => {
  expect(faultsOf({ PORT: 'x', DATABASE_URL: 'x', MODE: 'x', LOG_LEVEL: 'x', RATE_LIMIT: 'x' })).toEqual([
    'The configuration is wrong:',
    '  PORT must be a whole number from 0 to 65535',
    '  DATABASE_URL must be sqlite:<path> or postgres://<user>@<host>/<database>',
    '  MODE must be one of sandbox, live',
    `  LOG_LEVEL must be one of ${logLevels}`,
    '  RATE_LIMIT must be off or a whole number from 1 to 1000000',
  ])
})
