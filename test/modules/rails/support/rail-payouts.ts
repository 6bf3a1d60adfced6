import { createPayout } from '../../../../src/modules/payouts/create-payout.ts'
import { getPayout } from '../../../../src/modules/payouts/get-payout.ts'
import type { BankReport, RailOrder } from '../../../../src/modules/rail-orders/rail-order.ts'
import { railOrdersByIds } from '../../../../src/modules/rail-orders/repository.ts'
import { beginCall } from '../../../../src/modules/rails/orders/claim-order.ts'
import type { RailCallResult } from '../../../../src/modules/rails/orders/record-response.ts'
import { recordResponse } from '../../../../src/modules/rails/orders/record-response.ts'
import type { Context } from '../../../../src/operations/context.ts'
import { perform } from '../../../support/perform.ts'
import { dueTime } from '../../../support/times.ts'
import { nigerian } from '../../payouts/payout-places.ts'

/** Creates a payout with an order on the sandbox rail, which no worker processes. */
export async function createRailPayout(context: Context, amount = '10') {
  const recipient = { ...nigerian, accountNumber: '9999999900' }
  return perform(createPayout, context, { assetCode: 'USDC', amount, ...recipient })
}

/**
 * Makes the call to the bank that is due for a payout, and records the given result. Resolves to the call's name, or to
 * `null` if no call was due.
 */
export async function makeDueCall(
  context: Context,
  payoutId: string,
  result: RailCallResult,
  { idempotentForMs = Number.MAX_SAFE_INTEGER } = {},
) {
  const { orderId } = await railOrderOf(context, payoutId)
  const call = await beginCall(context, { orderId, rail: { callMs: 1_000, idempotentForMs } })
  if (call === null) return null
  await recordResponse(context, { orderId, dueAt: call.dueAt, response: result, idempotentForMs })
  return call.call
}

/** Records a result without a call, like a report of the bank. */
export async function recordReport(context: Context, payoutId: string, reported: RailCallResult): Promise<void> {
  const { orderId } = await railOrderOf(context, payoutId)
  await recordResponse(context, { orderId, dueAt: dueTime(0), response: reported, idempotentForMs: 0 })
}

/** Creates a payout whose bank reports one state and then a contradicting one. */
export async function createContradictedPayout(
  context: Context,
  ...states: readonly BankReport['state'][]
): Promise<string> {
  const { id } = await createRailPayout(context)
  const [first = 'REJECTED', ...others] = states
  await makeDueCall(context, id, { state: first, reference: 'BANK-1' })
  for (const state of others) await recordReport(context, id, { state, reference: 'BANK-1' })
  return id
}

export async function railOrderOf(context: Context, payoutId: string): Promise<RailOrder> {
  const { db, merchantId } = context
  const { referenceId } = await getPayout(context, { payoutId })
  const [transfer] = await railOrdersByIds(db, { merchantId, orderIds: [referenceId] })
  if (!transfer) throw new Error('no rail carries the payout')
  return transfer
}
