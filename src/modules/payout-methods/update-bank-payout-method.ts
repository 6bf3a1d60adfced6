import { z } from 'zod'
import { notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { lookupId, optionalUuidOrEmpty, parseInput, sentFields } from '../../core/input.ts'
import type { Tx } from '../../database/query.ts'
import type { Context, IdempotentResult } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import { defineOperation } from '../../operations/define-operation.ts'
import { runOnce } from '../../operations/idempotency/run-once.ts'
import { assetCodeErrors } from '../asset-codes/asset-code.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { lockActiveCustomer } from '../customers/get-customer.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { checkBankDetails } from './checks/check-bank-details.ts'
import { CreateBankPayoutMethodInput } from './create-payout-method.ts'
import { payoutMethods } from './list.ts'
import type { BankPayoutMethod, PayoutMethod } from './payout-method.ts'
import { toPayoutMethod } from './payout-method.ts'
import { lockPayoutMethodById, updateBankDetails } from './repository.ts'

const { customerId: _, ...fields } = CreateBankPayoutMethodInput.shape

// Fields that are absent from the request keep their value; an optional field that is null or empty is cleared.
const UpdateBankPayoutMethodInput = z.object({
  payoutMethodId: lookupId(),
  customerId: optionalUuidOrEmpty(),
  ...z.object(fields).partial().shape,
})

/**
 * Contract 4.5, ruling 26. Payout methods of the type WALLET are not found.
 *
 * @param input `customerId` identifies the owner; the owner of a payout method cannot change
 */
export const updateBankPayoutMethod = defineOperation(
  {
    name: 'updateBankPayoutMethod',
    input: UpdateBankPayoutMethodInput,
    scope: 'payout_methods',
    actsAsCustomer: true,
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'CUSTOMER_CLOSED'],
  },
  async (context, input): Promise<IdempotentResult<BankPayoutMethod>> => {
    const assets = await assetCodesWithNetworks(context.db)
    const request = parseInput(
      UpdateBankPayoutMethodInput,
      input,
      assetCodeErrors(assets, { field: 'currency', code: input.currency, assetType: 'FIAT' }),
    )
    const { payoutMethodId, customerId, type: _, ...parsed } = request
    const changes = sentFields(input, parsed) as Partial<BankPayoutMethod>
    return runOnce(context, 'updateBankPayoutMethod', { payoutMethodId, customerId, changes }, async (tx) => {
      const method = await lockOwnedPayoutMethod(tx, context, request)
      if (method?.type !== 'BANK') throw notFound('Payout method')
      await lockActiveCustomer(tx, context, method.customerId)

      const merged = { ...method, ...changes }
      if (JSON.stringify(merged) === JSON.stringify(method)) return method
      const updated = { ...merged, checks: checkBankDetails(merged), updatedAt: newUpdatedAt(context, method) }
      await updateBankDetails(tx, updated)
      await recordMethodChange(tx, context, { before: method, after: updated })
      return updated
    })
  },
)

export async function recordMethodChange(
  tx: Tx,
  context: Context,
  { before, after }: { before: PayoutMethod; after: PayoutMethod },
): Promise<void> {
  if (after.currency !== before.currency) {
    await payoutMethods.count(tx, before, -1)
    await payoutMethods.count(tx, after, 1)
  }
  await recordEvent(tx, context, {
    type: 'payout_method.updated',
    objectId: after.id,
    at: after.updatedAt,
    data: after,
  })
}

/**
 * Returns `null` if the owner has no payout method with this id. If `customerId` is `null`, the owner is the merchant
 * (ruling 27).
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
