import { join } from 'node:path'
import { startOptions } from '../support/start-options.ts'
import type { BenchDatabase } from './data.ts'
import type { Load } from './load.ts'
import type { ServerSpec } from './servers.ts'

const root = join(import.meta.dirname, '../..')
/** The path of a yardstick that runs without a build. */
export const yardstick = (file: string) => join(import.meta.dirname, 'yardsticks', file)

/** A server under load. */
export type Subject = {
  readonly name: string
  readonly server: ServerSpec
  readonly load: Load
  /** The content of a response without server-specific parts: two subjects of a measure must agree in it. */
  readonly valueOf: (body: unknown) => unknown
}

/** A target for one subject relative to another: ratios of requests per second, or of costs, where less is better. */
export type Target = {
  /** The first subject by default. */
  readonly of?: string
  readonly against: string
  readonly reach: number
  readonly aim: number
  /** The only figure that counts; by default either suffices, so that the subject fails only by both. */
  readonly by?: 'requests' | 'cpu'
}

/** Subjects that are loaded in alternation. */
export type Measure = {
  readonly name: string
  readonly title: string
  readonly clients: number
  readonly subjects: readonly Subject[]
  readonly targets: readonly Target[]
  /** Whether the ratio compares the cost of a request on the first subject with that on the other. */
  readonly isCost?: boolean
}

/** The service as in production: keys, ids, log and limits. */
export function service(databaseUrl: string, { name = 'service', words = [] as readonly string[] } = {}): ServerSpec {
  return {
    name,
    words: [...startOptions, ...words, join(root, 'src/main.js')],
    environment: { PORT: '0', DATABASE_URL: databaseUrl, MODE: 'sandbox', LOG_LEVEL: 'info', RATE_LIMIT: '1000000' },
  }
}

/** A yardstick that takes the merchants' keys as a map. */
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

/** The data of a response of either API. */
export function dataOf(body: unknown): Record<string, unknown> {
  return (body as { data: Record<string, unknown> }).data
}
