import { parseUuid } from '../../core/ids-and-clock.ts'
import type { Tx } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import type { PayoutMethod } from './payout-method.ts'
import { toPayoutMethod } from './payout-method.ts'
import { lockPayoutMethodById } from './repository.ts'

/**
 * The method that a request changes, `null` where there is none. A customer's is named together with its customer, a merchant's
 * without; any mismatch is not found, so that a wrong `customerId` never acts on another owner's method (ruling 27).
 */
export async function lockOwnedPayoutMethod(
  tx: Tx,
  { merchantId }: Context,
  { payoutMethodId, customerId }: { payoutMethodId: string; customerId: string | null },
): Promise<PayoutMethod | null> {
  const id = parseUuid(payoutMethodId)
  const row = id && (await lockPayoutMethodById(tx, { merchantId, id }))
  return row && row.customerId === customerId ? toPayoutMethod(row) : null
}
