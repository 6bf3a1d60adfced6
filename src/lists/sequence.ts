import { sql } from 'kysely'
import type { Params, Tx } from '../database/query.ts'
import { from, into, queryOne, statementOne } from '../database/query.ts'
import type { SnakeCase, TableName, tables } from '../database/tables.ts'
import { allInOrder } from '../errors.ts'
import { timestamp } from '../ids.ts'

/** The tables that have a column, as the database spells them. */
type TableWith<Column extends string> = {
  [Table in TableName]: Column extends keyof (typeof tables)[Table] ? SnakeCase<Table> : never
}[TableName]

/** The merchant's lists, whose rows are numbered in the order of their creation. */
export type NumberedList = Exclude<TableWith<'sequence'>, 'payout_events' | 'pooled_addresses'>

/** Those among them whose rows are numbered for each owner too. */
type OwnedList = TableWith<'ownerSequence'>

/** The merchant's other dense sequences; those of an owner end in its id. */
export type SequenceName =
  | 'payout_events'
  | `${OwnedList}:${string}`
  | `addresses:${string}`
  | `pooled_addresses:${string}`

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

/** The next number of a sequence that has no gaps: a transaction that rolls back gives its number back. */
export async function nextInSequence(tx: Tx, merchantId: string, name: SequenceName): Promise<number> {
  const row = await advance(tx, { merchantId, name })
  if (!row) throw new Error(`the sequence ${name} did not advance`)
  return row.latest
}

/**
 * What the next row of a list starts with, its number and its time given by one statement: so by time, and by id at the same
 * time, rows stand in the order of their numbers (ruling 17), whatever the clocks of several processes or of a machine that
 * was put right say. A clock that is behind makes rows of the list's latest time.
 */
export async function newRow(
  tx: Tx,
  { merchantId, now, newId }: Numbering,
  name: NumberedList,
  id = newId(),
): Promise<NewRow> {
  const row = await advanceInTime(tx, { merchantId, name, id, time: BigInt(now()) })
  if (!row) throw new Error(`the sequence ${name} did not advance`)
  const createdAt = timestamp(Number(row.latestTime))
  return { merchantId, id, sequence: row.latest, createdAt, updatedAt: createdAt }
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

const advance = statementOne((p: Params<Sequence>) =>
  into('sequences')
    .values({ merchantId: p.merchantId, name: p.name, latest: 1, latestTime: 0n, latestId: null })
    .onConflict((conflict) =>
      conflict.columns(['merchantId', 'name']).doUpdateSet({ latest: sql`sequences.latest + 1` }),
    )
    .returning('latest'),
)

/** A millisecond is borrowed from the future only where an id of another process would not be after the latest. */
const advanceInTime = statementOne((p: Params<Sequence & { id: string; time: bigint }>) =>
  into('sequences')
    .values({ merchantId: p.merchantId, name: p.name, latest: 1, latestTime: p.time, latestId: p.id })
    .onConflict((conflict) =>
      conflict.columns(['merchantId', 'name']).doUpdateSet({
        latest: sql`sequences.latest + 1`,
        latestTime: sql`case when sequences.latest_time < excluded.latest_time then excluded.latest_time
          when sequences.latest_id < excluded.latest_id then sequences.latest_time else sequences.latest_time + 1 end`,
        latestId: sql`excluded.latest_id`,
      }),
    )
    .returning(['latest', 'latestTime']),
)

/** The latest number given, or `null` before the first; for rows that are never deleted it is how many there are. */
export const latestInSequence = queryOne((p: Params<Sequence>) =>
  from('sequences').select('latest').where('merchantId', '=', p.merchantId).where('name', '=', p.name),
)
