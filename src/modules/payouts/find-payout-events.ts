import type { Context } from '../../operations/context.ts'
import type { PayoutEvent } from './payout.ts'
import { eventsOfPayouts } from './repository.ts'

/** What became of the payouts among `payoutIds`, oldest first for each payout. */
export async function findPayoutEvents(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  payoutIds: readonly string[],
): Promise<PayoutEvent[]> {
  return eventsOfPayouts(db, { merchantId, payoutIds })
}
