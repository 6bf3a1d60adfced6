import Sqlite from 'better-sqlite3'
import { openDatabase } from '../../src/app/open-database.ts'
import { formatAmount } from '../../src/core/money/amount.ts'
import { auditBooks } from '../../src/modules/audit/audit.ts'
import { createService } from '../../src/operations/context.ts'
import type { Acknowledged, PayoutLog } from './clients.ts'

type Row = {
  readonly sequence: bigint
  readonly id: string
  readonly narration: string
  readonly transactionId: string
  readonly balanceAfter: bigint
}

/** Known payouts, from one log or from several. */
export type PayoutTruth = Pick<PayoutLog, 'sent' | 'acknowledged'>

/** A comparison with stored rows: `faults` are breaches in words, `unacknowledged` counts rows without a 200. */
export type StoredComparison = {
  readonly faults: readonly string[]
  readonly unacknowledged: number
  readonly latest: bigint
}

/**
 * Compares the stored payouts in the SQLite file at `path` with the clients' log: every acknowledged one is stored as
 * it was returned, and every stored one was requested and is stored once.
 *
 * @param after compares only payouts with a later number, for a log that began there
 */
export function compare(path: string, { sent, acknowledged }: PayoutTruth, after = 0n): StoredComparison {
  const database = new Sqlite(path, { fileMustExist: true, timeout: 5_000 })
  const rows = database
    .prepare(
      `select sequence, id, narration, transaction_id as transactionId, balance_after as balanceAfter
       from payouts where sequence > ? order by sequence`,
    )
    .safeIntegers()
    .all(after) as Row[]
  database.close()

  const faults: string[] = []
  const stored = new Map<string, Row>()
  for (const row of rows) {
    if (!sent.has(row.narration)) faults.push(`${row.narration} was never requested`)
    if (stored.has(row.narration)) faults.push(`${row.narration} is stored twice`)
    stored.set(row.narration, row)
  }
  for (const [narration, acknowledgement] of acknowledged) {
    const row = stored.get(narration)
    if (!row) faults.push(`${narration} was acknowledged and is lost`)
    else if (!isAs(row, acknowledgement)) faults.push(`${narration} differs from its acknowledgement`)
  }
  const unacknowledged = rows.filter(({ narration }) => !acknowledged.has(narration)).length
  return { faults, unacknowledged, latest: rows.at(-1)?.sequence ?? after }
}

function isAs(row: Row, acknowledgement: Acknowledged): boolean {
  return (
    row.id === acknowledgement.id &&
    row.transactionId === acknowledgement.transactionId &&
    formatAmount(row.balanceAfter) === acknowledgement.balance
  )
}

/** Describes contradictions in the books of the database at `url`, on either engine. */
export async function contradictionsIn(url: string): Promise<string[]> {
  const db = await openDatabase({
    url,
    mustExist: true,
    onFatal: (error) => {
      throw error
    },
  })
  const { findings } = await auditBooks(createService({ db, mode: 'sandbox' }))
  await db.close()
  return findings.filter(({ contradictions }) => contradictions > 0).map(({ check }) => `not so: ${check}`)
}

/**
 * Describes contradictions in the SQLite file at `path`, in its books and its pages (`PRAGMA integrity_check`). The
 * service's own code opens it, which first recovers a file that was not closed.
 */
export async function faultsOfBooks(path: string): Promise<string[]> {
  const books = await contradictionsIn(`sqlite:${path}`)
  const database = new Sqlite(path, { timeout: 5_000 })
  const findings = database.pragma('integrity_check') as { integrity_check: string }[]
  database.close()
  const pages = findings.map(({ integrity_check }) => integrity_check).filter((finding) => finding !== 'ok')
  return [...pages, ...books]
}
