import { timestamp } from '../core/ids-and-clock.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { allOrFirstError, mapMaybe } from '../core/maybe-promise.ts'
import type { Params, Reader, Tx } from '../database/query.ts'
import { insertInto, pickParams, queryOne, selectFrom, statement, updateTable } from '../database/query.ts'
import type { RowOf, SnakeCase, TableName, tables } from '../database/tables.ts'

type TableWith<Column extends string> = {
  [Table in TableName]: Column extends keyof (typeof tables)[Table] ? SnakeCase<Table> : never
}[TableName]

export type NumberedList = Exclude<
  TableWith<'sequence'>,
  'deposits' | 'payout_events' | 'pooled_addresses' | 'events' | 'webhook_deliveries' | 'webhook_attempts'
>

type OwnerNumberedList = TableWith<'ownerSequence'>

/** The name of an owner's sequence ends with the owner's id. */
export type SequenceName =
  | 'deposits'
  | 'events'
  | `${OwnerNumberedList}:${string}`
  | `addresses:${string}`
  | `pooled_addresses:${string}`

type SequenceKey = { merchantId: string; name: string }

type NumberingContext = { readonly merchantId: string; readonly now: () => number; readonly newId: () => string }

export type NewRowFields = {
  readonly merchantId: string
  readonly id: string
  readonly sequence: number
  readonly createdAt: string
  readonly updatedAt: string
}

/** A rollback releases the number. */
export async function takeSequenceNumber(tx: Tx, merchantId: string, name: SequenceName): Promise<number> {
  const { latest } = await advanceSequence(tx, { merchantId, name }, (end) => ({ ...end, latest: end.latest + 1 }))
  return latest
}

/**
 * Assigns a number and a time together, so that an order by time and id equals the order of the numbers (ruling 17). If
 * a process's clock is behind, the row gets the latest time of the list.
 */
export function newRowFields(
  tx: Tx,
  { merchantId, now, newId }: NumberingContext,
  name: NumberedList,
  id = newId(),
): MaybePromise<NewRowFields> {
  const time = BigInt(now())
  const end = advanceSequence(tx, { merchantId, name }, (end) => advanceState(end, { id, time }))
  return mapMaybe(end, ({ latest, latestTime }) => {
    const createdAt = timestamp(Number(latestTime))
    return { merchantId, id, sequence: latest, createdAt, updatedAt: createdAt }
  })
}

/**
 * Takes one number from the merchant's sequence and one from the owner's sequence. The numbers are taken concurrently,
 * because each is a round trip on PostgreSQL.
 */
export async function newRowFieldsOfOwner(
  tx: Tx,
  numbering: NumberingContext,
  { ownerId, name }: { ownerId: string; name: OwnerNumberedList },
): Promise<NewRowFields & { readonly ownerSequence: number }> {
  // Locks the merchant's sequence first, so that an owner's rows have the same order in both sequences.
  const [row, ownerSequence] = await allOrFirstError([
    newRowFields(tx, numbering, name),
    takeSequenceNumber(tx, numbering.merchantId, `${name}:${ownerId}`),
  ])
  return { ...row, ownerSequence }
}

export type ImportedRow = { readonly id: string; readonly createdAt: string; readonly updatedAt: string }

/**
 * An imported row keeps its original times (an exception of ruling 17). Rows that are created after the import are
 * never older than the imported row.
 */
export async function numberImportedRow(
  tx: Tx,
  merchantId: string,
  { row: { id, createdAt, updatedAt }, name }: { readonly row: ImportedRow; readonly name: NumberedList },
): Promise<NewRowFields> {
  const time = BigInt(Date.parse(createdAt))
  const { latest } = await advanceSequence(tx, { merchantId, name }, (end) => ({
    latest: end.latest + 1,
    latestTime: end.latestTime < time ? time : end.latestTime,
    latestId: end.latestTime > time || (end.latestTime === time && (end.latestId ?? '') > id) ? end.latestId : id,
    isSorted: end.latestTime > time ? 0 : end.isSorted,
  }))
  return { merchantId, id, sequence: latest, createdAt, updatedAt }
}

export async function numberImportedRowOfOwner(
  tx: Tx,
  merchantId: string,
  { row, ownerId, name }: { readonly row: ImportedRow; readonly ownerId: string; readonly name: OwnerNumberedList },
): Promise<NewRowFields & { readonly ownerSequence: number }> {
  const fields = await numberImportedRow(tx, merchantId, { row, name })
  return { ...fields, ownerSequence: await takeSequenceNumber(tx, merchantId, `${name}:${ownerId}`) }
}

/**
 * Returns false if a row of the list is older than the previous row. Only imported rows can be older.
 *
 * @param name `undefined` for a list whose rows are never imported
 */
export function isListSorted(db: Reader, merchantId: string, name: NumberedList | undefined): MaybePromise<boolean> {
  if (name === undefined) return true
  // A client token for one customer cannot read the sequence, so a customer's list counts as unsorted. Customers' lists
  // are short.
  return mapMaybe(sortedSequence(db, { merchantId, name }), (sequence) => sequence?.isSorted === 1)
}

/** `latestTime` is 0 and `latestId` is null if rows have no times. */
type SequenceState = Pick<RowOf<'sequences'>, (typeof stateColumns)[number]>

const stateColumns = ['latest', 'latestTime', 'latestId', 'isSorted'] as const

const initialState: SequenceState = { latest: 0, latestTime: 0n, latestId: null, isSorted: 1 }

/**
 * If a row's time is not after the latest time, the row gets the latest time. If the row's id would then sort before
 * the latest id, the row's time is 1 ms later.
 */
function advanceState(
  { latest, latestTime, latestId, isSorted }: SequenceState,
  { id, time }: { id: string; time: bigint },
): SequenceState {
  const isAfter = latestId === null || latestId < id
  return {
    latest: latest + 1,
    latestTime: latestTime < time ? time : isAfter ? latestTime : latestTime + 1n,
    latestId: id,
    isSorted,
  }
}

/**
 * Call `stampSequence` for payouts when a deposit is created, because one list merges payouts and deposits. Locks the
 * sequence, and ensures that the next payout is not older than `time`.
 */
export function stampSequence(
  tx: Tx,
  { merchantId, name, time }: { merchantId: string; name: NumberedList; time: bigint },
): MaybePromise<Pick<SequenceState, 'latest' | 'latestTime'>> {
  return advanceSequence(tx, { merchantId, name }, (end) => ({
    ...end,
    latestTime: end.latestTime < time ? time : end.latestTime,
  }))
}

/**
 * Call `lockSequence` before the transaction takes other locks. A transaction that waits for a sequence must hold no
 * other lock, so that deadlocks are impossible.
 */
export function lockSequence(tx: Tx, merchantId: string, name: NumberedList): void {
  const sequence = { merchantId, name }
  tx.deferred.lock(deferredWriteName(sequence), () => readState(tx, sequence))
}

/** Locks the sequence until the transaction ends. */
function advanceSequence(
  tx: Tx,
  sequence: SequenceKey,
  next: (end: SequenceState) => SequenceState,
): MaybePromise<SequenceState> {
  return tx.deferred.update<SequenceState>(deferredWriteName(sequence), {
    read: () => readState(tx, sequence),
    next,
    store: (tx, end) => storeState(tx, { ...sequence, ...end }),
  })
}

function deferredWriteName({ merchantId, name }: SequenceKey): string {
  return `sequence ${merchantId} ${name}`
}

function readState(tx: Tx, sequence: SequenceKey): MaybePromise<SequenceState> {
  return mapMaybe(lockState(tx, sequence), (end) => end ?? insertAndLockState(tx, sequence))
}

async function insertAndLockState(tx: Tx, sequence: SequenceKey): Promise<SequenceState> {
  await insertSequence(tx, { ...sequence, ...initialState })
  return (await lockState(tx, sequence)) ?? initialState
}

export async function createSequence(tx: Tx, merchantId: string, name: NumberedList): Promise<void> {
  await insertSequence(tx, { merchantId, name, ...initialState })
}

const lockState = queryOne((p: Params<SequenceKey>) =>
  selectFrom('sequences')
    .select(stateColumns)
    .where('merchantId', '=', p.merchantId)
    .where('name', '=', p.name)
    .forNoKeyUpdate(),
)

const insertSequence = statement((p: Params<SequenceKey & SequenceState>) =>
  insertInto('sequences')
    .values(pickParams(p, ['merchantId', 'name', ...stateColumns]))
    .onConflict((conflict) => conflict.columns(['merchantId', 'name']).doNothing()),
)

const storeState = statement((p: Params<SequenceKey & SequenceState>) =>
  updateTable('sequences')
    .set(pickParams(p, stateColumns))
    .where('merchantId', '=', p.merchantId)
    .where('name', '=', p.name),
)

/** Returns `null` for an empty list. If rows are never deleted, the latest number is the list's total. */
export const latestSequenceNumber = queryOne((p: Params<SequenceKey>) =>
  selectFrom('sequences').select('latest').where('merchantId', '=', p.merchantId).where('name', '=', p.name),
)

const sortedSequence = queryOne((p: Params<SequenceKey>) =>
  selectFrom('sequences').select('isSorted').where('merchantId', '=', p.merchantId).where('name', '=', p.name),
)
