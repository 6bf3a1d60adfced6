import type { Reader, Tx } from '../../database/query.ts'
import type { ImportedRow } from '../../lists/sequence.ts'
import type { Context } from '../../operations/context.ts'
import { customersByIds, idOwnersByKind } from './repository.ts'

/** `problem` is a sentence. An object with a problem is not imported. */
export type ImportOutcome =
  | { readonly id: string | null; readonly outcome: 'imported' | 'same' }
  | { readonly id: string | null; readonly outcome: 'problem'; readonly problem: string }

export type ImportOptions = {
  /** A dry run only checks the rows. In a dry run, the outcome `imported` means that the row would be imported. */
  readonly isDryRun: boolean
}

type ImportSteps<Row, Stored, Known> = {
  readonly findStored: (db: Reader, ids: readonly string[]) => Promise<Stored[]>
  readonly prepare: (db: Reader, stored: ReadonlyMap<string, Stored>) => Promise<Known>
  readonly findProblem: (known: Known, row: Row) => string | null
  readonly insert: (tx: Tx, row: Row) => Promise<void>
  readonly complete?: (known: Known, stored: Stored, row: Row) => object
  /**
   * `remember` is called for each new row without a problem, also in a dry run, so that `findProblem` can compare later
   * rows with that row.
   */
  readonly remember?: (known: Known, row: Row) => void
}

/** Imports the rows in order, in one transaction. An object with several rows is imported completely or not at all. */
export async function importRows<Row extends ImportedRow, Stored extends { readonly id: string }, Known>(
  context: Context,
  rows: readonly Row[],
  { isDryRun }: ImportOptions,
  { findStored, prepare, findProblem, insert, complete, remember }: ImportSteps<Row, Stored, Known>,
): Promise<ImportOutcome[]> {
  const { db, merchantId } = context
  const ids = rows.map(({ id }) => id)
  const run = async (db: Reader, tx: Tx | null): Promise<ImportOutcome[]> => {
    const stored = new Map((await findStored(db, ids)).map((row) => [row.id, row]))
    const known = await prepare(db, stored)
    const idProblems = await findIdProblems(db, context, ids)
    const inserted = new Map<string, Row>()
    const findExisting = (row: Row): object | null => {
      const before = stored.get(row.id)
      return before === undefined ? (inserted.get(row.id) ?? null) : (complete?.(known, before, row) ?? before)
    }
    const findNewRowProblem = (row: Row) =>
      idProblems.get(row.id) ?? findProblem(known, row) ?? futureTimeProblem(context, row)
    const outcomes: ImportOutcome[] = []
    for (const row of rows) {
      const { id } = row
      const existing = findExisting(row)
      const problem = existing === null ? findNewRowProblem(row) : describeDifference(row, existing)
      if (problem !== null) outcomes.push({ id, outcome: 'problem', problem })
      else if (existing !== null) outcomes.push({ id, outcome: 'same' })
      else {
        if (tx !== null) await insert(tx, row)
        remember?.(known, row)
        inserted.set(id, row)
        outcomes.push({ id, outcome: 'imported' })
      }
    }
    return outcomes
  }
  if (rows.length === 0) return []
  return isDryRun ? run(db, null) : db.write((tx) => run(tx, tx), { merchantId })
}

function describeDifference<Row extends object>(row: Row, existing: Partial<Row>): string | null {
  const columns = (Object.keys(row) as (keyof Row & string)[]).filter(
    (column) => serialize(row[column]) !== serialize(existing[column]),
  )
  return columns.length === 0 ? null : `differs from the row that is here in ${columns.join(', ')}; it was not changed`
}

function serialize(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each)) ?? 'null'
}

/** A dry run does not insert customers, so it accepts every customer id. */
export async function findOwners(
  db: Reader,
  { merchantId }: Context,
  rows: readonly { readonly customerId: string | null }[],
  { isDryRun }: ImportOptions,
): Promise<(row: { readonly customerId: string | null }) => string | null> {
  const ids = rows.flatMap(({ customerId }) => customerId ?? [])
  const known = new Set((await customersByIds(db, { merchantId, ids })).map(({ id }) => id))
  return ({ customerId }) =>
    customerId === null || isDryRun || known.has(customerId)
      ? null
      : `belongs to customer ${customerId}, which was not imported`
}

type ObjectKind = keyof typeof idOwnersByKind

const nouns: Readonly<Record<ObjectKind, string>> = {
  customer: 'a customer',
  payoutMethod: 'a payout method',
  wallet: 'a wallet',
}

/**
 * Returns, for each id that a new object cannot use, the reason (ruling 144). If an id belongs to another merchant, the
 * reason must not disclose the merchant. Objects of different kinds must not share an id, because event versions are
 * counted per id.
 */
async function findIdProblems(
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

const maxClockSkewMs = 300_000

/** If a row has a time in the future, all later rows get times in the future too. */
function futureTimeProblem({ wallClock }: Context, { createdAt, updatedAt }: ImportedRow): string | null {
  const latest = new Date(wallClock() + maxClockSkewMs).toISOString()
  if (createdAt > latest || updatedAt > latest) return 'has a time in the future'
  return createdAt > updatedAt ? 'was updated before it was created' : null
}
