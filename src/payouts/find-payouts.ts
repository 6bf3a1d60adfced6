import type { Context } from '../context.ts'
import { uuidsAmong } from '../ids.ts'
import type { Payout, PayoutEvent } from './payout.ts'
import { eventsOfPayouts, payoutsByIds } from './repository.ts'

type Asking = Pick<Context, 'db' | 'merchantId'>

/** The merchant's and its customers' payouts among `ids`, in any order; what is not there or not theirs is left out. */
export function findPayouts({ db, merchantId }: Asking, ids: readonly string[]): Promise<Payout[]> {
  return payoutsByIds(db, { merchantId, ids: uuidsAmong(ids) })
}

/** What became of the payouts among `payoutIds`, oldest first for each payout. */
export function findPayoutEvents({ db, merchantId }: Asking, payoutIds: readonly string[]): Promise<PayoutEvent[]> {
  return eventsOfPayouts(db, { merchantId, payoutIds: uuidsAmong(payoutIds) })
}
