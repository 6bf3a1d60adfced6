import type { Params } from '../database/query.ts'
import { change, into, statement } from '../database/query.ts'
import type { Amount } from '../money/amount.ts'

/** Sets a wallet account to what the entries just written add up to. */
export const setAccount = statement(
  (p: Params<{ merchantId: string; id: string; balance: Amount; entryCount: number }>) =>
    change('accounts')
      .set({ balance: p.balance, entryCount: p.entryCount })
      .where('merchantId', '=', p.merchantId)
      .where('id', '=', p.id),
)

/** Moves a sequence to the last number given. */
export const setSequence = statement((p: Params<{ merchantId: string; name: string; latest: number }>) =>
  into('sequences')
    .values({ merchantId: p.merchantId, name: p.name, latest: p.latest })
    .onConflict((conflict) => conflict.columns(['merchantId', 'name']).doUpdateSet({ latest: p.latest })),
)
