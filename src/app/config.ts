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
  /** Requests a second and merchant; `null` for no limit. */
  RATE_LIMIT: z.union([z.literal('off').transform(() => null), wholeNumber(1, 1_000_000)]).default(null),
  /** Processes that answer requests. */
  WORKERS: wholeNumber(1, 64).default(1),
})

const Configuration = Environment.transform((variables) => ({
  host: variables.HOST,
  port: variables.PORT,
  databaseUrl: variables.DATABASE_URL,
  mode: variables.MODE,
  logLevel: variables.LOG_LEVEL,
  rateLimit: variables.RATE_LIMIT,
  workers: variables.WORKERS,
}))

export type Config = Readonly<z.output<typeof Configuration>> & {
  /** Whether `mode` was asked for, and not left to its default. */
  readonly isModeGiven: boolean
}

/**
 * Reads the configuration from the environment.
 *
 * @throws Error that names every variable that is wrong, with what is allowed
 */
export function readConfig(environment: NodeJS.ProcessEnv = process.env): Config {
  // An empty variable is an absent one: that is how shells and compose files unset things.
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''))
  const parsed = Configuration.safeParse(given)
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')} ${faultOf(issue)}`)
    throw new Error(`The configuration is wrong:\n  ${faults.join('\n  ')}`)
  }
  return { ...parsed.data, isModeGiven: given.MODE !== undefined }
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
