import { statSync } from 'node:fs'
import type Sqlite from 'better-sqlite3'
import type { FileStatuses } from './file-watch.ts'

/** How long others that read or write are waited for; nothing else is done meanwhile, but there is nothing else to do. */
const busyTimeoutMs = 1_000

/**
 * Copies what an open log holds into the database file, where only the name of the log is gone: what was acknowledged
 * would be lost with the process otherwise.
 *
 * Not where another process may have written to a log in its place, of which this one knows nothing.
 *
 * @returns whether all of it is in the database file and on disk
 */
export function checkpointUnlinkedWal(raw: Sqlite.Database, fates: FileStatuses): boolean {
  const isOnlyNameGone = fates['-wal'] === 'removed' || (fates['-wal'] === 'replaced' && fates.isWalEmpty)
  if (fates[''] !== 'same' || fates['-shm'] !== 'same' || !isOnlyNameGone) return false
  try {
    raw.pragma(`busy_timeout = ${busyTimeoutMs}`)
    const { busy, log, checkpointed } = checkpoint(raw, 'FULL')
    return busy === 0 && log === checkpointed
  } catch {
    return false
  }
}

/**
 * Holds that the log is as long as the processes that have it open say.
 *
 * @throws when it was removed under them: what they wrote is not in the one that is there now, nor may anything be added
 */
export function requireCompleteWal(raw: Sqlite.Database, path: string): void {
  const pageSize = raw.pragma('page_size', { simple: true }) as number
  for (;;) {
    const { log } = checkpoint(raw, 'NOOP')
    if (log <= 0 || statSync(`${path}-wal`).size >= walHeaderBytes + log * (frameHeaderBytes + pageSize)) return
    // Else another process has begun it anew in between.
    if (checkpoint(raw, 'NOOP').log === log) break
  }
  throw new Error('its log (-wal) was removed while another process had it open: end that process first')
}

const walHeaderBytes = 32
const frameHeaderBytes = 24

/** Pages in the log, and how many of them are in the database file. */
function checkpoint(raw: Sqlite.Database, how: 'FULL' | 'NOOP') {
  const [result] = raw.pragma(`wal_checkpoint(${how})`) as { busy: number; log: number; checkpointed: number }[]
  return result as NonNullable<typeof result>
}
