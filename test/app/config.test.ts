import { describe, expect, test } from 'vitest'
import type { Config } from '../../src/app/config.ts'
import { readConfig } from '../../src/app/config.ts'
import { trustProxyFormat } from '../../src/server/http/caller-address.ts'
import { corsOriginsFormat } from '../../src/server/http/cors.ts'

const defaults: Config = {
  host: '127.0.0.1',
  port: 4000,
  databaseUrl: 'sqlite:db/payouts.sqlite',
  mode: 'sandbox',
  isModeGiven: false,
  logLevel: 'info',
  documents: 'any',
  executor: 'planned',
  rateLimit: null,
  metrics: null,
  tracing: null,
  corsOrigins: ['*'],
  trustedProxies: 0,
  workers: 1,
  secretsKeys: [],
  webhookAllowed: [],
  backupFolder: null,
  backupEveryMs: 86_400_000,
  backupKeep: 7,
  rails: [],
  pausedRails: [],
  console: null,
}

/** The tracing defaults if only a collector is configured. */
const everyTrace = { sampler: 'parentbased_always_on', ratio: 1, timeoutMs: 3_000 } as const

const logLevels = 'trace, debug, info, warn, error, fatal, silent'

/** A valid SECRETS_KEY. */
const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')

/** A valid RAIL_SECRET_<NAME>. */
const secret = (byte: number) => `whsec_${key(byte)}`

/** A valid hash of CONSOLE_USERS. */
const passwordHash = `$argon2id$v=19$m=19456,t=2,p=1$${'c'.repeat(22)}$${'d'.repeat(43)}`

/** Returns the lines of the configuration error. */
function faultsOf(environment: NodeJS.ProcessEnv): string[] {
  try {
    readConfig(environment)
  } catch (error) {
    return (error as Error).message.split('\n')
  }
  return []
}

test('readConfig uses the defaults when no variable is set, and ignores unknown variables', () => {
  expect(readConfig({})).toEqual(defaults)
  expect(readConfig({ PATH: '/usr/bin', port: '1' })).toEqual(defaults)
})

test('readConfig treats an empty variable as absent', () => {
  const empty = {
    HOST: '',
    PORT: '',
    DATABASE_URL: '',
    MODE: '',
    LOG_LEVEL: '',
    DOCUMENTS: '',
    GRAPHQL_EXECUTOR: '',
    RATE_LIMIT: '',
    METRICS_PORT: '',
    METRICS_HOST: '',
    OTEL_EXPORTER_OTLP_ENDPOINT: '',
    OTEL_EXPORTER_OTLP_TIMEOUT: '',
    OTEL_SDK_DISABLED: '',
    OTEL_TRACES_SAMPLER: '',
    OTEL_TRACES_SAMPLER_ARG: '',
    CORS_ORIGINS: '',
    TRUST_PROXY: '',
    WORKERS: '',
    SECRETS_KEY: '',
    WEBHOOK_ALLOW: '',
    BACKUP_DIR: '',
    BACKUP_EVERY: '',
    BACKUP_KEEP: '',
    RAILS: '',
    RAIL_PAUSE: '',
    CONSOLE_PORT: '',
    CONSOLE_HOST: '',
    CONSOLE_URL: '',
    CONSOLE_USERS: '',
  }

  expect(readConfig(empty)).toEqual(defaults)
})

test('readConfig reads every variable', () => {
  const environment = {
    HOST: '0.0.0.0',
    PORT: '8080',
    DATABASE_URL: 'sqlite:/var/lib/payouts.sqlite',
    MODE: 'live',
    LOG_LEVEL: 'warn',
    DOCUMENTS: 'trusted',
    GRAPHQL_EXECUTOR: 'reference',
    RATE_LIMIT: '50',
    CORS_ORIGINS: 'https://App.example.com:443, http://localhost:5173,https://*.example.com',
    TRUST_PROXY: '10.0.0.5, fd00::/8',
    METRICS_PORT: '9464',
    METRICS_HOST: '10.0.0.7',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example/otlp',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_SDK_DISABLED: 'false',
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
    WORKERS: '4',
    SECRETS_KEY: `${key(1)},${key(2)}`,
    WEBHOOK_ALLOW: '10.0.0.0/8, hooks.internal:8080',
    BACKUP_DIR: '/var/backups/payouts',
    BACKUP_EVERY: '6h',
    BACKUP_KEEP: '28',
    RAILS: 'first-bank:https://bank.example/v1/, other:https://other.example',
    RAIL_SECRET_FIRST_BANK: `${secret(1)}, ${secret(2)}`,
    RAIL_SECRET_OTHER: secret(3),
    RAIL_PAUSE: 'other',
    CONSOLE_PORT: '4100',
    CONSOLE_HOST: '0.0.0.0',
    CONSOLE_URL: 'https://Console.example.com:443/',
    CONSOLE_USERS: `ada:act:${passwordHash}\n Ben@Example.com:look:${passwordHash}`,
  }

  expect(readConfig(environment)).toEqual({
    host: '0.0.0.0',
    port: 8080,
    databaseUrl: 'sqlite:/var/lib/payouts.sqlite',
    mode: 'live',
    isModeGiven: true,
    logLevel: 'warn',
    documents: 'trusted',
    executor: 'reference',
    rateLimit: 50,
    metrics: { host: '10.0.0.7', port: 9464 },
    tracing: { sampler: 'traceidratio', ratio: 0.01, timeoutMs: 500 },
    corsOrigins: ['https://app.example.com', 'http://localhost:5173', 'https://*.example.com'],
    trustedProxies: ['10.0.0.5', 'fd00::/8'],
    workers: 4,
    secretsKeys: [Buffer.alloc(32, 1), Buffer.alloc(32, 2)],
    webhookAllowed: ['10.0.0.0/8', 'hooks.internal 8080'],
    backupFolder: '/var/backups/payouts',
    backupEveryMs: 21_600_000,
    backupKeep: 28,
    rails: [
      { name: 'first-bank', url: 'https://bank.example/v1', secrets: [secret(1), secret(2)] },
      { name: 'other', url: 'https://other.example', secrets: [secret(3)] },
    ],
    pausedRails: ['other'],
    console: {
      ...{ host: '0.0.0.0', port: 4100, url: 'https://console.example.com' },
      operators: [
        { name: 'ada', role: 'act', passwordHash },
        { name: 'ben@example.com', role: 'look', passwordHash },
      ],
    },
  })
})

test.each([
  [{ PORT: '0' }, { port: 0 }],
  [{ PORT: '65535' }, { port: 65_535 }],
  [{ RATE_LIMIT: 'off' }, { rateLimit: null }],
  [{ METRICS_PORT: 'off' }, { metrics: null }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }, { tracing: everyTrace }],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', OTEL_SDK_DISABLED: 'true' }, { tracing: null }],
  [{ OTEL_TRACES_SAMPLER: 'always_off' }, { tracing: null }],
  [{ METRICS_PORT: '9464' }, { metrics: { host: '127.0.0.1', port: 9464 } }],
  [{ RATE_LIMIT: '1' }, { rateLimit: 1 }],
  [{ RATE_LIMIT: '1000000' }, { rateLimit: 1_000_000 }],
  [{ MODE: 'live' }, { mode: 'live' as const, isModeGiven: true, corsOrigins: [] }],
  [
    { MODE: 'live', CORS_ORIGINS: ' * ' },
    { mode: 'live' as const, isModeGiven: true, corsOrigins: ['*'] },
  ],
  [{ CORS_ORIGINS: 'https://app.example.com' }, { corsOrigins: ['https://app.example.com'] }],
  [{ TRUST_PROXY: 'off' }, { trustedProxies: 0 }],
  [{ TRUST_PROXY: '1' }, { trustedProxies: 1 }],
  [{ TRUST_PROXY: '10' }, { trustedProxies: 10 }],
  [{ TRUST_PROXY: '127.0.0.1' }, { trustedProxies: ['127.0.0.1'] }],
  [{ RAIL_PAUSE: 'all' }, { pausedRails: 'all' as const }],
  [{ RAIL_PAUSE: 'sandbox' }, { pausedRails: ['sandbox'] }],
])('readConfig accepts %j', (environment, expected) => {
  expect(readConfig(environment)).toEqual({ ...defaults, ...expected })
})

describe('readConfig rejects an invalid value and reports the allowed values:', () => {
  test.each<readonly [name: string, value: string, allowed: string]>([
    ...['-1', '65536', '80.5', '1e3', '0x50', ' 80', 'http'].map(
      (value) => ['PORT', value, 'must be a whole number from 0 to 65535'] as const,
    ),
    ...['mysql://x', 'postgres', 'postgres://', 'sqlite:', '/var/lib/x.sqlite'].map(
      (value) => ['DATABASE_URL', value, 'must be sqlite:<path> or postgres://<user>@<host>/<database>'] as const,
    ),
    ...[
      'x',
      key(1).slice(0, 43),
      `${key(1)},`,
      Buffer.alloc(16).toString('base64'),
      Buffer.alloc(32).toString('hex'),
    ].map(
      (value) => ['SECRETS_KEY', value, 'must be one or more keys of 32 bytes in base64, separated by commas'] as const,
    ),
    ...[
      '10.0.0.0/33',
      '10.0.0.0/',
      'https://hooks.internal',
      'hooks.internal:0',
      'hooks.internal:65536',
      'a,,b',
      '*',
    ].map(
      (value) =>
        [
          'WEBHOOK_ALLOW',
          value,
          'must be networks (10.0.0.0/8), addresses and hosts (hooks.internal, hooks.internal:8080), separated by commas',
        ] as const,
    ),
    ...['Sandbox', 'test', 'production'].map((value) => ['MODE', value, 'must be one of sandbox, live'] as const),
    ['LOG_LEVEL', 'verbose', `must be one of ${logLevels}`],
    ...['all', 'Trusted', 'true'].map((value) => ['DOCUMENTS', value, 'must be one of any, trusted'] as const),
    ...['plans', 'Reference'].map((value) => ['GRAPHQL_EXECUTOR', value, 'must be one of planned, reference'] as const),
    ...['0', '-1', '1000001', 'none', '1.5'].map(
      (value) => ['RATE_LIMIT', value, 'must be off or a whole number from 1 to 1000000'] as const,
    ),
    ...['collector:4318', 'ftp://collector', 'localhost'].map(
      (value) => ['OTEL_EXPORTER_OTLP_ENDPOINT', value, 'must be an http or https URL'] as const,
    ),
    [
      'OTEL_TRACES_SAMPLER',
      'all',
      'must be one of always_on, always_off, traceidratio, parentbased_always_on, parentbased_always_off, parentbased_traceidratio',
    ],
    ...['1.1', '-1', '1e-3', 'x', '.5'].map(
      (value) => ['OTEL_TRACES_SAMPLER_ARG', value, 'must be a number from 0 to 1'] as const,
    ),
    ...['app.example.com', 'https://app.example.com,', '*,https://app.example.com', 'https://app.example.com/'].map(
      (value) => ['CORS_ORIGINS', value, `must be ${corsOriginsFormat}`] as const,
    ),
    ...[
      'true',
      '0',
      '11',
      '-1',
      '1.5',
      'loopback',
      '10.0.0.0/33',
      '10.0.0.5,',
      '0.0.0.0/0',
      '10.0.0.5,::/0',
      '10.0.0.5:80',
    ].map((value) => ['TRUST_PROXY', value, `must be ${trustProxyFormat}`] as const),
  ])('%s=%s', (name, value, allowed) => {
    expect(faultsOf({ [name]: value })).toEqual(['The configuration is wrong:', `  ${name} ${allowed}`])
  })
})

test('readConfig reports all invalid values in one error', () => {
  expect(
    faultsOf({ PORT: 'x', DATABASE_URL: 'x', MODE: 'x', LOG_LEVEL: 'x', RATE_LIMIT: 'x', CORS_ORIGINS: 'x' }),
  ).toEqual([
    'The configuration is wrong:',
    '  PORT must be a whole number from 0 to 65535',
    '  DATABASE_URL must be sqlite:<path> or postgres://<user>@<host>/<database>',
    '  MODE must be one of sandbox, live',
    `  LOG_LEVEL must be one of ${logLevels}`,
    '  RATE_LIMIT must be off or a whole number from 1 to 1000000',
    `  CORS_ORIGINS must be ${corsOriginsFormat}`,
  ])
})

describe('readConfig, for the console,', () => {
  test.each([
    [{ CONSOLE_PORT: 'off', CONSOLE_URL: 'https://console.example.com' }, null],
    [{ CONSOLE_PORT: '4100' }, { host: '127.0.0.1', url: 'http://127.0.0.1:4100' }],
    [
      { CONSOLE_PORT: '4100', CONSOLE_HOST: '::1' },
      { host: '::1', url: 'http://[::1]:4100' },
    ],
    [
      { CONSOLE_PORT: '4100', CONSOLE_HOST: '0.0.0.0', CONSOLE_URL: 'http://localhost:4200' },
      { host: '0.0.0.0', url: 'http://localhost:4200' },
    ],
  ])('accepts %j', (environment, expected) => {
    const { console } = readConfig(environment)
    expect(console).toEqual(expected && { ...expected, port: 4100, operators: [] })
  })

  const addressRule =
    'must be the address of the console in browsers, such as https://console.example.com, without a path; http:// only for localhost'

  test.each([
    ...['0', '65536', 'on', '4100.5', ' 4100'].map((value) => [
      'CONSOLE_PORT',
      value,
      'must be off or a whole number from 1 to 65535',
    ]),
    ...[
      'console.example.com',
      'http://console.example.com',
      'https://console.example.com/path',
      'https://a@b',
      'ftp://x',
      'https://x?a',
      'http://127.0.0.1.example',
    ].map((value) => ['CONSOLE_URL', value, addressRule]),
  ])('rejects %s=%s', (name, value, rule) => {
    expect(faultsOf({ [name]: value })).toContain(`  ${name} ${rule}`)
  })

  test('requires CONSOLE_URL if CONSOLE_HOST is not a loopback address', () => {
    const message =
      '  CONSOLE_URL must be set if CONSOLE_HOST is not this machine: the console answers under that address only'
    expect(faultsOf({ CONSOLE_PORT: '4100', CONSOLE_HOST: '0.0.0.0' }).slice(1)).toEqual([message])
  })

  test.each([
    'ada',
    'ada:act',
    `ada:write:${passwordHash}`,
    `ada act:${passwordHash}`,
    `a/b:act:${passwordHash}`,
    `ada:act:${passwordHash}:more`,
    'ada:act:geheim',
    `ada:act:${passwordHash.replace('m=19456', 'm=4096')}`,
    `ada:act:${passwordHash.replace('t=2', 't=20')}`,
    `ada:act:${passwordHash.replace('argon2id', 'argon2i')}`,
  ])('rejects CONSOLE_USERS=%s without showing the value', (CONSOLE_USERS) => {
    const faults = faultsOf({ CONSOLE_USERS })
    expect(faults).toEqual([
      'The configuration is wrong:',
      '  CONSOLE_USERS must be <name>:<look or act>:<hash>, separated by spaces or new lines, with hashes $argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>: the command `operator password` makes one',
    ])
    expect(faults.join()).not.toMatch(/geheim|ddd/)
  })

  test('rejects CONSOLE_USERS if it contains two operators with the same name', () => {
    const CONSOLE_USERS = `ada:act:${passwordHash} ADA:look:${passwordHash}`
    expect(faultsOf({ CONSOLE_USERS }).slice(1)).toEqual(['  CONSOLE_USERS must name each operator once'])
  })
})

describe('readConfig, for rails,', () => {
  const RAIL_SECRET_BANK = secret(1)
  const form =
    'must be <name>:<url>, separated by commas: a name is 1 to 32 of a-z, 0-9 and -, and begins with a letter'
  const formOfUrl =
    'must have a URL for bank that begins with https:// or http://, without a user, a query and a fragment'

  test.each<readonly [rails: string, allowed: string]>([
    ...['Bank:https://x', '1bank:https://x', `${'b'.repeat(33)}:https://x`, ',', ':https://x'].map(
      (rails) => [rails, form] as const,
    ),
    [
      'https://x',
      'must have a URL for https that begins with https:// or http://, without a user, a query and a fragment',
    ],
    ['bank', formOfUrl],
    ...['ftp://x', 'https://', 'https://user:geheim@x', 'https://x?a', 'https://x#a', 'https://x/a b', 'x:1'].map(
      (url) => [`bank:${url}`, formOfUrl] as const,
    ),
    ['sandbox:https://x', 'must not name sandbox, which is the bank of the sandbox'],
    ['bank:https://x,bank:https://y', 'must not name bank twice'],
  ])('rejects RAILS=%s', (RAILS, allowed) => {
    const faults = faultsOf({ RAILS, RAIL_SECRET_BANK, RAIL_SECRET_HTTPS: secret(1), RAIL_SECRET_SANDBOX: secret(1) })
    expect(faults).toEqual(['The configuration is wrong:', `  RAILS ${allowed}`])
    expect(faults.join()).not.toContain('geheim')
  })

  test.each([
    ['', []],
    ['whsec_geheim', ['geheim']],
    [key(1), [key(1)]],
    [`${secret(1)},`, [key(1)]],
    [`${secret(1)},whsk_${Buffer.alloc(64).toString('base64')}`, [key(1)]],
    [`whsec_${Buffer.alloc(16, 7).toString('base64')}`, [Buffer.alloc(16, 7).toString('base64')]],
  ])('rejects RAIL_SECRET_BANK=%j without showing the secret', (RAIL_SECRET_BANK, hidden) => {
    const faults = faultsOf({ RAILS: 'bank:https://bank.example', RAIL_SECRET_BANK })
    expect(faults.slice(1)).toEqual([
      '  RAIL_SECRET_BANK must be one or more of whsec_ with 32 bytes in base64, separated by commas',
    ])
    for (const text of hidden) expect(faults.join()).not.toContain(text)
  })

  test.each(['http://localhost:4200', 'http://127.0.0.1:4200/v1', 'http://[::1]:4200', 'https://bank.example'])(
    'accepts the rail URL %s in live mode',
    (url) => {
      const { rails } = readConfig({ MODE: 'live', RAILS: `bank:${url}`, RAIL_SECRET_BANK })
      expect(rails).toEqual([{ name: 'bank', url, secrets: [RAIL_SECRET_BANK] }])
    },
  )

  test.each(['http://bank.example', 'http://10.0.0.1', 'http://127.0.0.1.bank.example'])(
    'accepts the rail URL %s in the sandbox, and rejects it in live mode',
    (url) => {
      expect(readConfig({ RAILS: `bank:${url}`, RAIL_SECRET_BANK }).rails).toHaveLength(1)
      expect(faultsOf({ MODE: 'live', RAILS: `bank:${url}`, RAIL_SECRET_BANK }).slice(1)).toEqual([
        '  RAILS must have a URL for bank that begins with https://, unless its host is this machine',
      ])
    },
  )

  test.each(['bnak', 'all,bank', 'bank,', 'ALL'])(
    'rejects RAIL_PAUSE=%s, which is neither "all" nor a list of configured rails',
    (RAIL_PAUSE) => {
      expect(faultsOf({ RAILS: 'bank:https://bank.example', RAIL_SECRET_BANK, RAIL_PAUSE }).slice(1)).toEqual([
        '  RAIL_PAUSE must be all, or some of bank, sandbox, separated by commas',
      ])
    },
  )

  test('reports invalid rail variables together with other invalid variables', () => {
    expect(
      faultsOf({ PORT: 'x', RAILS: 'bank:https://bank.example', RAIL_PAUSE: 'x' }).map(
        (line) => line.trim().split(' ')[0],
      ),
    ).toEqual(['The', 'PORT', 'RAIL_SECRET_BANK', 'RAIL_PAUSE'])
  })
})
