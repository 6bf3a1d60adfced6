import { z } from 'zod'
import { modes } from '../context.ts'

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

/** Every variable that configures the service, with its default; the README lists them. */
const Environment = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(4000),
  DATABASE_URL: z
    .string()
    .regex(/^(sqlite:.+|postgres(ql)?:\/\/.+)/, 'must be sqlite:<path> or postgres://<user>@<host>/<database>')
    .default('sqlite:db/payouts.sqlite'),
  MODE: z.enum(modes).default('sandbox'),
  LOG_LEVEL: z.enum(logLevels).default('info'),
  RATE_LIMIT: z.union([z.literal('off').transform(() => null), wholeNumber(1, 1_000_000)]).default(null),
  WORKERS: wholeNumber(1, 64).default(1),
})

export type Config = {
  readonly host: string
  readonly port: number
  readonly databaseUrl: string
  readonly mode: 'sandbox' | 'live'
  /** Whether `mode` was asked for, and not left to its default. */
  readonly isModeGiven: boolean
  readonly logLevel: (typeof logLevels)[number]
  /** Requests a second and merchant; `null` for no limit. */
  readonly rateLimit: number | null
  /** Processes that answer requests. */
  readonly workers: number
}

/**
 * Reads the configuration from the environment.
 *
 * @throws Error that names every variable that is wrong, with what is allowed
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  // An empty variable is an absent one: that is how shells and compose files unset things.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Environment.safeParse(given)
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${faultOf(issue)}`)
    throw new Error(`The configuration is wrong:\n  ${faults.join('\n  ')}`)
  }
  const { HOST, PORT, DATABASE_URL, MODE, LOG_LEVEL, RATE_LIMIT, WORKERS } = parsed.data
  return {
    host: HOST,
    port: PORT,
    databaseUrl: DATABASE_URL,
    mode: MODE,
    isModeGiven: given.MODE !== undefined,
    logLevel: LOG_LEVEL,
    rateLimit: RATE_LIMIT,
    workers: WORKERS,
  }
}

function wholeNumber(least: number, most: number) {
  return z
    .string()
    .refine(
      (text) => /^\d{1,7}$/.test(text) && Number(text) >= least && Number(text) <= most,
      `must be a whole number from ${least} to ${most}`,
    )
    .transform(Number)
}

function faultOf(issue: z.core.$ZodIssue): string {
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`
  if (issue.code === 'invalid_union') return 'must be off or a whole number from 1 to 1000000'
  return issue.message
}
