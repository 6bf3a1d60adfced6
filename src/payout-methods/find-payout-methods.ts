import type { Context } from '../context.ts'
import { uuidsAmong } from '../ids.ts'
import type { PayoutMethod } from './payout-method.ts'
import { payoutMethodOf } from './payout-method.ts'
import { payoutMethodsByIds } from './repository.ts'

/** The merchant's and its customers' payout methods among `ids`, in any order; what is not there is left out. */
export async function findPayoutMethods(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  ids: readonly string[],
): Promise<PayoutMethod[]> {
  return (await payoutMethodsByIds(db, { merchantId, ids: uuidsAmong(ids) })).map(payoutMethodOf)
}
