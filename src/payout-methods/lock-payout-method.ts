import type { Context } from '../context.ts'
import type { Tx } from '../database/query.ts'
import { notFound } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import type { PayoutMethod } from './payout-method.ts'
import { payoutMethodOf } from './payout-method.ts'
import { lockPayoutMethodById } from './repository.ts'

/**
 * The method that a request changes. A customer's is named together with its customer, a merchant's without; any
 * mismatch is not found, so that a wrong `customerId` never acts on another owner's method (ruling 27).
 *
 * @throws Refusal RESOURCE_NOT_FOUND
 */
export async function lockOwnedPayoutMethod(
  tx: Tx,
  { merchantId }: Context,
  { payoutMethodId, customerId }: { payoutMethodId: string; customerId: string | null },
): Promise<PayoutMethod> {
  const id = parseUuid(payoutMethodId)
  const row = id && (await lockPayoutMethodById(tx, { merchantId, id }))
  if (!row || row.customerId !== customerId) throw notFound('Payout method')
  return payoutMethodOf(row)
}
