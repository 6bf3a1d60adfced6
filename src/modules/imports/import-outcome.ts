import type { Reader, Tx } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import { idOwnersByKind } from './repository.ts'

/** The result of importing one object of the source. With a `problem`, which is a sentence, nothing was written. */
export type ImportOutcome =
  | { readonly id: string | null; readonly outcome: 'imported' | 'same' }
  | { readonly id: string | null; readonly outcome: 'problem'; readonly problem: string }

export type ImportOptions = {
  /** Only checks the rows, and reports those as imported that would be. */
  readonly isDryRun: boolean
}

/**
 * Classifies rows in their order, and inserts the new ones in one transaction. Each row is written whole or not at all.
 *
 * @param prepare reads what is needed for all rows
 */
export async function importRows<Row extends { readonly id: string }, Prepared>(
  context: Context,
  rows: readonly Row[],
  { isDryRun }: ImportOptions,
  steps: {
    readonly prepare: (db: Reader, rows: readonly Row[]) => Promise<Prepared>
    /** Returns the existing row with this id in the form of the source; `null` if there is none. */
    readonly existing: (prepared: Prepared, row: Row) => Partial<Row> | null
    /** Returns why a new row can't be inserted. */
    readonly findProblem: (prepared: Prepared, row: Row) => string | null
    readonly insert: (tx: Tx, row: Row) => Promise<void>
    /** Called for each row that is or would be inserted, so that `findProblem` knows it. */
    readonly remember?: (prepared: Prepared, row: Row) => void
  },
): Promise<ImportOutcome[]> {
  const run = async (db: Reader, tx: Tx | null): Promise<ImportOutcome[]> => {
    const prepared = await steps.prepare(db, rows)
    const inserted = new Map<string, Row>()
    const outcomes: ImportOutcome[] = []
    for (const row of rows) {
      const { id } = row
      const existing = inserted.get(id) ?? steps.existing(prepared, row)
      const problem = existing === null ? steps.findProblem(prepared, row) : describeDifference(row, existing)
      if (problem !== null) outcomes.push({ id, outcome: 'problem', problem })
      else if (existing !== null) outcomes.push({ id, outcome: 'same' })
      else {
        if (tx !== null) await steps.insert(tx, row)
        steps.remember?.(prepared, row)
        inserted.set(id, row)
        outcomes.push({ id, outcome: 'imported' })
      }
    }
    return outcomes
  }
  if (rows.length === 0) return []
  const { db, merchantId } = context
  return isDryRun ? run(db, null) : db.write((tx) => run(tx, tx), { merchantId })
}

/** Names the columns in which an existing row differs from the source (ruling 145). */
function describeDifference<Row extends object>(row: Row, existing: Partial<Row>): string | null {
  const columns = (Object.keys(existing) as (keyof Row & string)[]).filter(
    (column) => serialize(row[column]) !== serialize(existing[column]),
  )
  return columns.length === 0 ? null : `differs from the row that is here in ${columns.join(', ')}; it was not changed`
}

function serialize(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)) ?? 'null'
}

type ObjectKind = keyof typeof idOwnersByKind

const nouns: Readonly<Record<ObjectKind, string>> = {
  customer: 'a customer',
  payoutMethod: 'a payout method',
  wallet: 'a wallet',
}

/**
 * Returns why ids can't be used for new objects (ruling 144). Ids of other merchants are refused without a word about
 * these, and ids of the merchant's objects of another kind because the versions of events are counted per id.
 */
export async function findIdProblems(
  db: Reader,
  { merchantId }: Context,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const problems = new Map<string, string>([[merchantId, 'has the id of the merchant']])
  for (const kind of Object.keys(idOwnersByKind) as ObjectKind[]) {
    for (const owner of await idOwnersByKind[kind](db, { ids })) {
      const isOwn = owner.merchantId === merchantId
      problems.set(owner.id, isOwn ? `has the id of ${nouns[kind]} of this merchant` : 'has an id that is in use')
    }
  }
  return problems
}

/** The difference that clocks of two machines may have. */
const maxClockSkewMs = 300_000

/** A row of the future would make all later rows as late. */
export function futureTimeProblem(
  { wallClock }: Context,
  { createdAt, updatedAt }: { createdAt: string; updatedAt: string },
): string | null {
  const latest = new Date(wallClock() + maxClockSkewMs).toISOString()
  if (createdAt > latest || updatedAt > latest) return 'has a time in the future'
  return createdAt > updatedAt ? 'was updated before it was created' : null
}
