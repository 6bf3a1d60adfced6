import { join } from 'node:path'
import { startOptions } from '../support/start-options.ts'
import type { BenchDatabase } from './data.ts'
import type { Load } from './load.ts'
import type { ServerSpec } from './servers.ts'

const root = join(import.meta.dirname, '../..')
/** The path of a yardstick that runs as it is. */
export const yardstick = (file: string) => join(import.meta.dirname, 'yardsticks', file)

/** A server under a load. */
export type Subject = {
  readonly name: string
  readonly server: ServerSpec
  readonly load: Load
  /** What an answer says, without what is each server's own: two subjects of a measure must say the same. */
  readonly valueOf: (body: unknown) => unknown
}

/** What a subject is held to against another: ratios of requests a second, or of costs where less is better. */
export type Target = {
  /** The first subject, unless another is named. */
  readonly of?: string
  readonly against: string
  readonly reach: number
  readonly aim: number
  /** The only figure that counts; without it whichever one trusts, so that it is short only by both. */
  readonly by?: 'requests' | 'cpu'
}

/** Subjects that are loaded by turns. */
export type Measure = {
  readonly name: string
  readonly title: string
  readonly clients: number
  readonly subjects: readonly Subject[]
  readonly targets: readonly Target[]
  /** Whether the ratio is that of what a request costs the first subject to what it costs the other. */
  readonly isCost?: boolean
}

/** The service as it is run, with its real work: keys, ids, log and limits. */
export function service(databaseUrl: string, { name = 'service', words = [] as readonly string[] } = {}): ServerSpec {
  return {
    name,
    words: [...startOptions, ...words, join(root, 'src/main.js')],
    environment: { PORT: '0', DATABASE_URL: databaseUrl, MODE: 'sandbox', LOG_LEVEL: 'info', RATE_LIMIT: '1000000' },
  }
}

/** A yardstick that takes the keys of merchants as a map. */
export function plain(
  name: string,
  file: string,
  words: readonly string[],
  { merchantId, apiKey }: BenchDatabase,
): ServerSpec {
  return {
    name,
    words: [yardstick(file), ...words],
    environment: { MERCHANTS: JSON.stringify({ [apiKey]: merchantId }) },
  }
}

/** The data of an answer, through either door. */
export function dataOf(body: unknown): Record<string, unknown> {
  return (body as { data: Record<string, unknown> }).data
}
