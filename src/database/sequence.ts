import { sql } from 'kysely'
import { allInOrder } from '../errors.ts'
import type { Page } from '../page.ts'
import { offsetOf } from '../page.ts'
import type { Database } from './database.ts'
import type { Params, Reader, Tx } from './query.ts'
import { from, into, queryOne, statementOne } from './query.ts'

/** The merchant's dense sequences; those of an owner end in its id. */
export type SequenceName =
  | 'customers'
  | 'wallets'
  | 'payout_methods'
  | 'payouts'
  | 'payout_events'
  | `${'wallets' | 'payout_methods'}:${string}`
  | `addresses:${string}`
  | `pooled_addresses:${string}`

type Sequence = { merchantId: string; name: string }

/** The next number of a sequence that has no gaps: a transaction that rolls back gives its number back. */
export async function nextInSequence(tx: Tx, merchantId: string, name: SequenceName): Promise<number> {
  const row = await advance(tx, { merchantId, name })
  if (!row) throw new Error(`the sequence ${name} did not advance`)
  return row.latest
}

/** The next number among the merchant's and among the owner's, asked for at once: on a server each wait is a round trip. */
export async function nextOfOwner(
  tx: Tx,
  { merchantId, ownerId, name }: { merchantId: string; ownerId: string; name: 'wallets' | 'payout_methods' },
): Promise<{ sequence: number; ownerSequence: number }> {
  const [sequence, ownerSequence] = await allInOrder([
    nextInSequence(tx, merchantId, name),
    nextInSequence(tx, merchantId, `${name}:${ownerId}`),
  ])
  return { sequence, ownerSequence }
}

/**
 * A page of rows that are numbered densely and never deleted, newest first: the total is the latest number, and any page
 * starts at a known one. `rows` fetches up to `limit` rows at or below a number,
 * from the reader that it is given.
 */
export async function pageOfSequence<Item>(
  db: Pick<Database, 'snapshot'>,
  { merchantId, name, page, limit }: { merchantId: string; name: SequenceName; page: number; limit: number },
  rows: (start: { fromSequence: number; limit: number }, db: Reader) => Promise<Item[]>,
): Promise<Page<Item>> {
  return db.snapshot(async (read) => {
    const total = (await latestInSequence(read, { merchantId, name }))?.latest ?? 0
    const fromSequence = total - offsetOf({ page, limit })
    return { items: fromSequence > 0 ? await rows({ fromSequence, limit }, read) : [], total, page, limit }
  })
}

const advance = statementOne((p: Params<Sequence>) =>
  into('sequences')
    .values({ merchantId: p.merchantId, name: p.name, latest: 1 })
    .onConflict((conflict) =>
      conflict.columns(['merchantId', 'name']).doUpdateSet({ latest: sql`sequences.latest + 1` }),
    )
    .returning('latest'),
)

/** The latest number given, or `null` before the first; for rows that are never deleted it is how many there are. */
export const latestInSequence = queryOne((p: Params<Sequence>) =>
  from('sequences').select('latest').where('merchantId', '=', p.merchantId).where('name', '=', p.name),
)
