import { timestamp } from '../core/ids-and-clock.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { allOrFirstError, mapMaybe } from '../core/maybe-promise.ts'
import type { Params, Tx } from '../database/query.ts'
import { insertInto, pickParams, queryOne, selectFrom, statement, updateTable } from '../database/query.ts'
import type { RowOf, SnakeCase, TableName, tables } from '../database/tables.ts'

/** The tables that have a column, as the database spells them. */
type TableWith<Column extends string> = {
  [Table in TableName]: Column extends keyof (typeof tables)[Table] ? SnakeCase<Table> : never
}[TableName]

/** The merchant's lists, whose rows are numbered in the order of their creation. */
export type NumberedList = Exclude<
  TableWith<'sequence'>,
  'payout_events' | 'pooled_addresses' | 'events' | 'webhook_deliveries' | 'webhook_attempts'
>

/** Those among them whose rows are numbered for each owner too. */
type OwnerNumberedList = TableWith<'ownerSequence'>

/** The merchant's other dense sequences; those of an owner end in its id. */
export type SequenceName =
  | 'events'
  | `${OwnerNumberedList}:${string}`
  | `addresses:${string}`
  | `pooled_addresses:${string}`

type SequenceKey = { merchantId: string; name: string }

/** What numbers rows: the merchant, and the sources of time and ids. */
type NumberingContext = { readonly merchantId: string; readonly now: () => number; readonly newId: () => string }

/** What every new row of a merchant starts with. */
export type NewRowFields = {
  readonly merchantId: string
  readonly id: string
  readonly sequence: number
  readonly createdAt: string
  readonly updatedAt: string
}

/** The next number of a sequence that has no gaps: an operation that fails gives its number back. */
export async function takeSequenceNumber(tx: Tx, merchantId: string, name: SequenceName): Promise<number> {
  const { latest } = await advanceSequence(tx, { merchantId, name }, (end) => ({ ...end, latest: end.latest + 1 }))
  return latest
}

/**
 * What the next row of a list starts with, its number and its time given together: so by time, and by id at the same time,
 * rows stand in the order of their numbers (ruling 17), whatever the clocks of several processes or of a machine that was put
 * right say. A clock that is behind makes rows of the list's latest time.
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

/** The same with its number among the owner's, asked for at once: on a server each wait is a round trip. */
export async function newRowFieldsOfOwner(
  tx: Tx,
  numbering: NumberingContext,
  { ownerId, name }: { ownerId: string; name: OwnerNumberedList },
): Promise<NewRowFields & { readonly ownerSequence: number }> {
  // The merchant's first: whoever has that is alone, so the owner's rows stand in the same order as the merchant's.
  const [row, ownerSequence] = await allOrFirstError([
    newRowFields(tx, numbering, name),
    takeSequenceNumber(tx, numbering.merchantId, `${name}:${ownerId}`),
  ])
  return { ...row, ownerSequence }
}

/** Where a sequence ends: its latest number, and the time and id of the row that has it, where rows have times. */
type SequenceState = Pick<RowOf<'sequences'>, 'latest' | 'latestTime' | 'latestId'>

const initialState: SequenceState = { latest: 0, latestTime: 0n, latestId: null }

/** A millisecond is borrowed from the future only where an id of another process would not be after the latest. */
function advanceState(
  { latest, latestTime, latestId }: SequenceState,
  { id, time }: { id: string; time: bigint },
): SequenceState {
  const isAfter = latestId !== null && latestId < id
  return {
    latest: latest + 1,
    latestTime: latestTime < time ? time : isAfter ? latestTime : latestTime + 1n,
    latestId: id,
  }
}

/**
 * Holds the end of a list, for what will put a row there once it knows that it is not refused: whoever waits for it holds nothing
 * that another might need who has it.
 */
export function lockSequence(tx: Tx, merchantId: string, name: NumberedList): void {
  const sequence = { merchantId, name }
  tx.deferred.lock(deferredWriteName(sequence), () => readState(tx, sequence))
}

/** Takes the next place of a sequence; the transaction holds it until it ends. */
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

/** A sequence that nobody had used: its row is there from now on, and held like any other's. */
async function insertAndLockState(tx: Tx, sequence: SequenceKey): Promise<SequenceState> {
  await insertSequence(tx, { ...sequence, ...initialState })
  return (await lockState(tx, sequence)) ?? initialState
}

/**
 * Begins the sequence of a new merchant's list before anything is in it: a row that is there can be held before anything else
 * is.
 */
export async function createSequence(tx: Tx, merchantId: string, name: NumberedList): Promise<void> {
  await insertSequence(tx, { merchantId, name, ...initialState })
}

const lockState = queryOne((p: Params<SequenceKey>) =>
  selectFrom('sequences')
    .select(['latest', 'latestTime', 'latestId'])
    .where('merchantId', '=', p.merchantId)
    .where('name', '=', p.name)
    .forNoKeyUpdate(),
)

const insertSequence = statement((p: Params<SequenceKey & SequenceState>) =>
  insertInto('sequences')
    .values(pickParams(p, ['merchantId', 'name', 'latest', 'latestTime', 'latestId']))
    .onConflict((conflict) => conflict.columns(['merchantId', 'name']).doNothing()),
)

const storeState = statement((p: Params<SequenceKey & SequenceState>) =>
  updateTable('sequences')
    .set(pickParams(p, ['latest', 'latestTime', 'latestId']))
    .where('merchantId', '=', p.merchantId)
    .where('name', '=', p.name),
)

/** The latest number given, or `null` before the first; for rows that are never deleted it is how many there are. */
export const latestSequenceNumber = queryOne((p: Params<SequenceKey>) =>
  selectFrom('sequences').select('latest').where('merchantId', '=', p.merchantId).where('name', '=', p.name),
)
