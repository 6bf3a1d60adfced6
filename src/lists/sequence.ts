import { allInOrder } from '../core/errors.ts'
import { timestamp } from '../core/ids.ts'
import type { Answer, Params, Tx } from '../database/query.ts'
import { answerOf, change, from, into, queryOne, sameNames, statement } from '../database/query.ts'
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
type OwnedList = TableWith<'ownerSequence'>

/** The merchant's other dense sequences; those of an owner end in its id. */
export type SequenceName = 'events' | `${OwnedList}:${string}` | `addresses:${string}` | `pooled_addresses:${string}`

type Sequence = { merchantId: string; name: string }

/** What numbers rows: the merchant, and the sources of time and ids. */
type Numbering = { readonly merchantId: string; readonly now: () => number; readonly newId: () => string }

/** What every new row of a merchant starts with. */
export type NewRow = {
  readonly merchantId: string
  readonly id: string
  readonly sequence: number
  readonly createdAt: string
  readonly updatedAt: string
}

/** The next number of a sequence that has no gaps: an operation that fails gives its number back. */
export async function nextInSequence(tx: Tx, merchantId: string, name: SequenceName): Promise<number> {
  const { latest } = await advance(tx, { merchantId, name }, (end) => ({ ...end, latest: end.latest + 1 }))
  return latest
}

/**
 * What the next row of a list starts with, its number and its time given together: so by time, and by id at the same time,
 * rows stand in the order of their numbers (ruling 17), whatever the clocks of several processes or of a machine that was put
 * right say. A clock that is behind makes rows of the list's latest time.
 */
export function newRow(
  tx: Tx,
  { merchantId, now, newId }: Numbering,
  name: NumberedList,
  id = newId(),
): Answer<NewRow> {
  const time = BigInt(now())
  const end = advance(tx, { merchantId, name }, (end) => endAfter(end, { id, time }))
  return answerOf(end, ({ latest, latestTime }) => {
    const createdAt = timestamp(Number(latestTime))
    return { merchantId, id, sequence: latest, createdAt, updatedAt: createdAt }
  })
}

/** The same with its number among the owner's, asked for at once: on a server each wait is a round trip. */
export async function newRowOfOwner(
  tx: Tx,
  numbering: Numbering,
  { ownerId, name }: { ownerId: string; name: OwnedList },
): Promise<NewRow & { readonly ownerSequence: number }> {
  // The merchant's first: whoever has that is alone, so the owner's rows stand in the same order as the merchant's.
  const [row, ownerSequence] = await allInOrder([
    newRow(tx, numbering, name),
    nextInSequence(tx, numbering.merchantId, `${name}:${ownerId}`),
  ])
  return { ...row, ownerSequence }
}

/** Where a sequence ends: its latest number, and the time and id of the row that has it, where rows have times. */
type End = Pick<RowOf<'sequences'>, 'latest' | 'latestTime' | 'latestId'>

const start: End = { latest: 0, latestTime: 0n, latestId: null }

/** A millisecond is borrowed from the future only where an id of another process would not be after the latest. */
function endAfter({ latest, latestTime, latestId }: End, { id, time }: { id: string; time: bigint }): End {
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
export function holdList(tx: Tx, merchantId: string, name: NumberedList): void {
  const sequence = { merchantId, name }
  tx.pending.hold(pendingName(sequence), () => readEnd(tx, sequence))
}

/** Takes the next place of a sequence; the transaction holds it until it ends. */
function advance(tx: Tx, sequence: Sequence, next: (end: End) => End): Answer<End> {
  return tx.pending.change<End>(pendingName(sequence), {
    read: () => readEnd(tx, sequence),
    next,
    store: (tx, end) => storeEnd(tx, { ...sequence, ...end }),
  })
}

function pendingName({ merchantId, name }: Sequence): string {
  return `sequence ${merchantId} ${name}`
}

function readEnd(tx: Tx, sequence: Sequence): Answer<End> {
  return answerOf(lockedEnd(tx, sequence), (end) => end ?? begun(tx, sequence))
}

/** A sequence that nobody had used: its row is there from now on, and held like any other's. */
async function begun(tx: Tx, sequence: Sequence): Promise<End> {
  await insertSequence(tx, { ...sequence, ...start })
  return (await lockedEnd(tx, sequence)) ?? start
}

/**
 * Begins the sequence of a new merchant's list before anything is in it: a row that is there can be held before anything else
 * is.
 */
export async function beginSequence(tx: Tx, merchantId: string, name: NumberedList): Promise<void> {
  await insertSequence(tx, { merchantId, name, ...start })
}

const lockedEnd = queryOne((p: Params<Sequence>) =>
  from('sequences')
    .select(['latest', 'latestTime', 'latestId'])
    .where('merchantId', '=', p.merchantId)
    .where('name', '=', p.name)
    .forNoKeyUpdate(),
)

const insertSequence = statement((p: Params<Sequence & End>) =>
  into('sequences')
    .values(sameNames(p, ['merchantId', 'name', 'latest', 'latestTime', 'latestId']))
    .onConflict((conflict) => conflict.columns(['merchantId', 'name']).doNothing()),
)

const storeEnd = statement((p: Params<Sequence & End>) =>
  change('sequences')
    .set(sameNames(p, ['latest', 'latestTime', 'latestId']))
    .where('merchantId', '=', p.merchantId)
    .where('name', '=', p.name),
)

/** The latest number given, or `null` before the first; for rows that are never deleted it is how many there are. */
export const latestInSequence = queryOne((p: Params<Sequence>) =>
  from('sequences').select('latest').where('merchantId', '=', p.merchantId).where('name', '=', p.name),
)
