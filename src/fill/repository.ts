import type { Params } from '../database/query.ts'
import { change, into, statement } from '../database/query.ts'
import type { Amount } from '../money/amount.ts'

type Standing = { balance: Amount; reachableBalance: Amount; entryCount: number; latestTime: bigint }

/** Sets a wallet account to what the entries just written add up to. */
export const setAccount = statement((p: Params<{ merchantId: string; id: string } & Standing>) =>
  change('accounts')
    .set({
      balance: p.balance,
      reachableBalance: p.reachableBalance,
      entryCount: p.entryCount,
      latestTime: p.latestTime,
    })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id),
)

type Latest = { latest: number; latestTime: bigint; latestId: string }

/** Moves a sequence to the last row numbered. */
export const setSequence = statement((p: Params<{ merchantId: string; name: string } & Latest>) =>
  into('sequences')
    .values({
      merchantId: p.merchantId,
      name: p.name,
      latest: p.latest,
      latestTime: p.latestTime,
      latestId: p.latestId,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['merchantId', 'name'])
        .doUpdateSet({ latest: p.latest, latestTime: p.latestTime, latestId: p.latestId }),
    ),
)
