import { sql } from 'kysely'
import type { Params, Tx } from './query.ts'
import { from, into, queryOne, statementOne } from './query.ts'

/** The merchant's dense sequences; those of an owner end in its id. */
export type SequenceName =
  | 'customers'
  | 'wallets'
  | 'payout_methods'
  | 'payouts'
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
