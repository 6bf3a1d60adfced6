import { resolve } from 'node:path'
import { z } from 'zod'
import { keyFormat, parseKeys } from '../core/secrets/secrets.ts'
import { allowlistFormat, parseAllowlist } from '../modules/webhooks/transport/destination-policy.ts'
import { samplerNames } from '../observability/tracing/sampler-names.ts'
import { modes } from '../operations/context.ts'
import { parseTrustedProxies, trustProxyFormat } from '../server/http/caller-address.ts'
import { corsOriginsFormat, defaultCorsOrigins, parseCorsOrigins } from '../server/http/cors.ts'
import type { EnvFile } from './env-file.ts'
import { applyEnvFile, noEnvFile, readEnvFile } from './env-file.ts'
import type { ConsoleConfig } from './read-console.ts'
import { readConsole } from './read-console.ts'
import type { ConfiguredRails } from './read-rails.ts'
import { readRails } from './read-rails.ts'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** The path of the database file is relative to the working directory. */
export const defaultDatabaseUrl = 'sqlite:db/payouts.sqlite'

/** See docs/reference/configuration.md. */
const Environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(4000),
  DATABASE_URL: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)/, 'must be sqlite:<path> or postgres://<user>@<host>/<database>')
    .default(defaultDatabaseUrl),
  MODE: z.enum(modes).default('sandbox'),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  DOCUMENTS: z.enum(['any', 'trusted']).default('any'),
  /** `planned` compiles GraphQL documents to plans; `reference` uses graphql-js alone. */
  GRAPHQL_EXECUTOR: z.enum(['planned', 'reference']).default('planned'),
  /** Requests per second and merchant. */
  RATE_LIMIT: wholeNumberOrOff(1, 1_000_000),
  /** By default, the sandbox allows any origin, and live mode allows none. */
  CORS_ORIGINS: z
    .string()
    .transform(parseCorsOrigins)
    .refine((origins) => origins !== null, `must be ${corsOriginsFormat}`)
    .optional(),
  TRUST_PROXY: z
    .string()
    .transform(parseTrustedProxies)
    .refine((proxies) => proxies !== null, `must be ${trustProxyFormat}`)
    .default(0),
  METRICS_PORT: wholeNumberOrOff(1, 65_535),
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  CONSOLE_PORT: z.string().optional(),
  CONSOLE_HOST: z.string().optional(),
  CONSOLE_URL: z.string().optional(),
  CONSOLE_USERS: z.string().optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http or https URL' }).optional(),
  /**
   * In milliseconds. The default of OTEL_EXPORTER_OTLP_TIMEOUT is shorter than in OpenTelemetry, because the shutdown
   * waits until the last traces are sent.
   */
  OTEL_EXPORTER_OTLP_TIMEOUT: wholeNumber(1, 60_000).default(3_000),
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false'),
  OTEL_TRACES_SAMPLER: z.enum(samplerNames).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: samplingRatio().default(1),
  WORKERS: wholeNumber(1, 64).default(1),
  /** The first key of SECRETS_KEY encrypts secrets, and every key can decrypt secrets. */
  SECRETS_KEY: z
    .string()
    .transform(parseKeys)
    .refine((keys) => keys !== null, `must be one or more keys of ${keyFormat}, separated by commas`)
    .default([]),
  WEBHOOK_ALLOW: z
    .string()
    .transform(parseAllowlist)
    .refine((entries) => entries !== null, `must be ${allowlistFormat}`)
    .default([]),
  BACKUP_DIR: z.string().optional(),
  BACKUP_EVERY: z
    .string()
    .transform(readInterval)
    .refine((interval) => interval !== null, 'must be a whole number with s, m, h or d, of 24d at most, such as 6h')
    .default(86_400_000),
  BACKUP_KEEP: wholeNumber(1, 100_000).default(7),
  RAILS: z.string().optional(),
  RAIL_PAUSE: z.string().optional(),
})

const Configuration = Environment.transform((variables) => ({
  host: variables.HOST,
  port: variables.PORT,
  databaseUrl: variables.DATABASE_URL,
  mode: variables.MODE,
  logLevel: variables.LOG_LEVEL,
  documents: variables.DOCUMENTS,
  executor: variables.GRAPHQL_EXECUTOR,
  rateLimit: variables.RATE_LIMIT,
  metrics: variables.METRICS_PORT === null ? null : { host: variables.METRICS_HOST, port: variables.METRICS_PORT },
  tracing: readTracing(variables),
  corsOrigins: variables.CORS_ORIGINS ?? defaultCorsOrigins(variables.MODE),
  trustedProxies: variables.TRUST_PROXY ?? 0,
  workers: variables.WORKERS,
  secretsKeys: variables.SECRETS_KEY ?? [],
  webhookAllowed: variables.WEBHOOK_ALLOW ?? [],
  backupFolder: variables.BACKUP_DIR === undefined ? null : resolve(variables.BACKUP_DIR),
  backupEveryMs: variables.BACKUP_EVERY ?? 0,
  backupKeep: variables.BACKUP_KEEP,
}))

function readTracing(variables: z.output<typeof Environment>) {
  if (variables.OTEL_EXPORTER_OTLP_ENDPOINT === undefined || variables.OTEL_SDK_DISABLED === 'true') return null
  return {
    sampler: variables.OTEL_TRACES_SAMPLER,
    ratio: variables.OTEL_TRACES_SAMPLER_ARG,
    timeoutMs: variables.OTEL_EXPORTER_OTLP_TIMEOUT,
  }
}

/** The type excludes the variables RAIL_SECRET_<NAME>, because their names depend on the value of RAILS. */
export type ConfigurationVariable = keyof z.input<typeof Environment>

export type Config = Readonly<z.output<typeof Configuration>> &
  ConfiguredRails & {
    readonly console: ConsoleConfig | null
    readonly isModeGiven: boolean
  }

export type ProcessEnvironment = {
  readonly variables: NodeJS.ProcessEnv
  readonly namesFromFile: ReadonlySet<string>
}

let envFile: EnvFile = noEnvFile
let namesFromFile: ReadonlySet<string> = new Set()

/**
 * Adds the variables of `.env` to the environment, so that child processes and libraries can read the variables. The
 * environment has precedence over `.env`. Tests must not read a developer's `.env` file, so only the entry points of
 * the program read `.env`.
 */
export function loadEnvFile(): void {
  envFile = readEnvFile(process.cwd())
  namesFromFile = applyEnvFile(process.env, envFile)
}

export function processEnvironment(): ProcessEnvironment {
  if (envFile.errors.length > 0) throw new Error(`The configuration is wrong:\n  ${envFile.errors.join('\n  ')}`)
  return { variables: process.env, namesFromFile }
}

/** @throws Error that names every invalid variable, with the allowed values */
export function readConfig(environment: NodeJS.ProcessEnv = processEnvironment().variables): Config {
  // An environment variable with an empty value counts as absent, because shells and compose files unset variables that
  // way.
  const variables = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Configuration.safeParse(variables)
  const mode = modes.find((each) => each === variables.MODE) ?? 'sandbox'
  const { errors: railErrors, ...rails } = readRails(variables, mode)
  const ownErrors = (parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')} ${describeIssue(issue)}`)
  const { errors: consoleErrors, console } = readConsole(variables)
  const errors = [...ownErrors, ...railErrors, ...consoleErrors]
  if (!parsed.success || errors.length > 0) throw new Error(`The configuration is wrong:\n  ${errors.join('\n  ')}`)
  return { ...parsed.data, ...rails, console, isModeGiven: variables.MODE !== undefined }
}

const intervalUnitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Returns `null` if the interval is invalid or exceeds the maximum delay of a timer. */
function readInterval(text: string): number | null {
  const [, count = '', unit = ''] = /^([1-9]\d{0,6})([smhd])$/.exec(text) ?? []
  const interval = Number(count) * (intervalUnitsMs[unit] ?? 0)
  return interval > 0 && interval <= 24 * 86_400_000 ? interval : null
}

function wholeNumber(min: number, max: number) {
  return z
    .string()
    .refine((text) => isWholeNumber(text, min, max), `must be a whole number from ${min} to ${max}`)
    .transform(Number)
}

function wholeNumberOrOff(min: number, max: number) {
  return z
    .string()
    .refine(
      (text) => text === 'off' || isWholeNumber(text, min, max),
      `must be off or a whole number from ${min} to ${max}`,
    )
    .transform((text) => (text === 'off' ? null : Number(text)))
    .default(null)
}

function samplingRatio() {
  return z
    .string()
    .refine((text) => /^\d{1,4}(\.\d{1,12})?$/.test(text) && Number(text) <= 1, 'must be a number from 0 to 1')
    .transform(Number)
}

function isWholeNumber(text: string, min: number, max: number): boolean {
  return /^\d{1,7}$/.test(text) && Number(text) >= min && Number(text) <= max
}

function describeIssue(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  return issue.message
}
