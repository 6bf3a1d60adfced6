import { existsSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { createService } from '../../src/operations/context.ts'
import { createServer } from '../../src/server/host.ts'
import type { Change } from './changed-source.ts'
import { startMain } from './server.ts'

export const hourMs = 60 * 60 * 1000

/** An hour ahead, an hour behind, or right. */
export function anyOffset(random: () => number): number {
  return Math.floor(random() * 3 - 1) * hourMs
}

/** A server with a clock that can be set wrong. */
export type Stepping = {
  readonly port: number
  readonly setOffset: (ms: number) => void
  readonly end: () => Promise<unknown>
}

export type SteppingOptions = { readonly url: string; readonly rateLimit: number | null }

/** Runs the service in this process with an injected clock. */
export async function startInjected({ url, rateLimit }: SteppingOptions): Promise<Stepping> {
  let offsetMs = 0
  const onFatal = (error: Error) => {
    throw error
  }
  const db = await openDatabase({ url, onFatal })
  const service = createService({ db, mode: 'sandbox', clock: () => Date.now() + offsetMs })
  const app = createServer({ service, logger: createLogger('silent', { write: () => {} }), rateLimit })
  const address = await app.listen({ host: '127.0.0.1', port: 0 })
  return {
    port: Number(new URL(address).port),
    setOffset: (ms) => {
      offsetMs = ms
    },
    end: async () => {
      await app.close()
      await db.close()
    },
  }
}

/** The multi-threaded library of libfaketime, where Debian's package `faketime` installs it; `null` without it. */
export function findFaketime(): string | null {
  const folders = existsSync('/usr/lib') ? readdirSync('/usr/lib').map((name) => join('/usr/lib', name)) : []
  const places = folders.map((folder) => join(folder, 'faketime/libfaketimeMT.so.1'))
  return places.find((place) => existsSync(place)) ?? null
}

/** Runs the whole program in a separate process, whose system clock libfaketime controls. */
export async function startFaked(
  library: string,
  { url, rateLimit, folder, changes }: SteppingOptions & { folder: string; changes: readonly Change[] },
): Promise<Stepping> {
  const place = join(folder, `offset ${rateLimit}`)
  const setOffset = (ms: number) => {
    // Renames a complete file into place: libfaketime reads it at every clock call.
    writeFileSync(`${place}.next`, `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1000}`)
    renameSync(`${place}.next`, place)
  }
  setOffset(0)
  const environment = {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: place,
    FAKETIME_NO_CACHE: '1',
    // Timers use the monotonic clock, which cannot be set.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    ...(rateLimit !== null && { RATE_LIMIT: String(rateLimit) }),
  }
  const { port, kill } = await startMain({ url, environment, changes })
  return { port, setOffset, end: kill }
}
