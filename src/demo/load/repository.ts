import type { Amount } from '../../core/money/amount.ts'
import type { Params } from '../../database/query.ts'
import { change, into, sameNames, statement } from '../../database/query.ts'
import type { NewRowOf } from '../../database/tables.ts'

/** What a wallet account holds, and where its statement ends. */
export type Standing = { balance: Amount; reachableBalance: Amount; entryCount: number; latestTime: bigint }

/** Sets a wallet account to what the entries just written add up to. */
export const setAccount = statement((p: Params<{ merchantId: string; id: string } & Standing>) =>
  change('accounts')
    .set(sameNames(p, ['balance', 'reachableBalance', 'entryCount', 'latestTime']))
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id),
)

const latest = ['latest', 'latestTime', 'latestId'] as const

/** Moves a sequence to the last row numbered. */
export const setSequence = statement((p: Params<NewRowOf<'sequences'>>) =>
  into('sequences')
    .values(sameNames(p, ['merchantId', 'name', ...latest]))
    .onConflict((conflict) => conflict.columns(['merchantId', 'name']).doUpdateSet(sameNames(p, latest))),
)
