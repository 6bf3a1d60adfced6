import { createPayout } from '../../../../src/modules/payouts/create-payout.ts'
import { getPayout } from '../../../../src/modules/payouts/get-payout.ts'
import type { BankReport, RailOrder } from '../../../../src/modules/rail-orders/rail-order.ts'
import { railOrdersByIds } from '../../../../src/modules/rail-orders/repository.ts'
import { beginCall } from '../../../../src/modules/rails/orders/claim-order.ts'
import type { RailCallResult } from '../../../../src/modules/rails/orders/record-answer.ts'
import { recordAnswer } from '../../../../src/modules/rails/orders/record-answer.ts'
import type { Context } from '../../../../src/operations/context.ts'
import { perform } from '../../../support/perform.ts'
import { dueTime } from '../../../support/times.ts'
import { nigerian } from '../../payouts/payout-places.ts'

/** A payout that the sandbox's bank would carry, where it was at work: here a test is the bank. */
export async function createRailPayout(context: Context, amount = '10') {
  const recipient = { ...nigerian, accountNumber: '9999999900' }
  return perform(createPayout, context, { assetCode: 'USDC', amount, ...recipient })
}

/** Has the bank asked what is due of a payout, and answer so; the call that was made of it, `null` where nothing was due. */
export async function answer(
  context: Context,
  payoutId: string,
  answer: RailCallResult,
  { idempotentForMs = Number.MAX_SAFE_INTEGER } = {},
) {
  const { orderId } = await railOrderOf(context, payoutId)
  const begun = await beginCall(context, { orderId, rail: { callMs: 1_000, idempotentForMs } })
  if (begun === null) return null
  await recordAnswer(context, { orderId, dueAt: begun.dueAt, answer, idempotentForMs })
  return begun.call
}

/** Has the bank say something that it was not asked for, or was asked for by somebody else. */
export async function report(context: Context, payoutId: string, reported: RailCallResult): Promise<void> {
  const { orderId } = await railOrderOf(context, payoutId)
  await recordAnswer(context, { orderId, dueAt: dueTime(0), answer: reported, idempotentForMs: 0 })
}

/** A payout of which the bank has said first one thing and then another. */
export async function createContradictedPayout(
  context: Context,
  ...said: readonly BankReport['state'][]
): Promise<string> {
  const { id } = await createRailPayout(context)
  const [first = 'REJECTED', ...others] = said
  await answer(context, id, { state: first, reference: 'BANK-1' })
  for (const state of others) await report(context, id, { state, reference: 'BANK-1' })
  return id
}

/** How far a payout is on its rail. */
export async function railOrderOf(context: Context, payoutId: string): Promise<RailOrder> {
  const { db, merchantId } = context
  const { referenceId } = await getPayout(context, { payoutId })
  const [transfer] = await railOrdersByIds(db, { merchantId, orderIds: [referenceId] })
  if (!transfer) throw new Error('no rail carries the payout')
  return transfer
}
