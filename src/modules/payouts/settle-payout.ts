import { z } from 'zod'
import { defineEnum } from '../../core/api/enum-descriptions.ts'
import { DomainError } from '../../core/errors.ts'
import { oneOf, optional, optionalText, parseInput } from '../../core/input.ts'
import { ConflictError } from '../../database/database.ts'
import type { Tx } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import { newUpdatedAt } from '../../operations/context.ts'
import type { NewTransfer } from '../ledger/post-transfer.ts'
import { postClearingTransfer, postTransfer } from '../ledger/post-transfer.ts'
import { recordEvent } from '../outbox/record-event.ts'
import { computeFeeSums } from '../pricing/fees.ts'
import type { RailOrder } from '../rail-orders/rail-order.ts'
import { isOpenState } from '../rail-orders/rail-order.ts'
import { lockRailOrder } from '../rail-orders/repository.ts'
import { transitionRailOrder } from '../rail-orders/transition-order.ts'
import { findPayout } from './get-payout.ts'
import type { Payout } from './payout.ts'
import { insertPayoutEvent, updatePayoutStatus } from './repository.ts'

export const settledStatuses = defineEnum({
  COMPLETED: 'The bank paid a payout that was processing.',
  FAILED: 'The bank did not pay a payout that was processing; the wallet is credited.',
  RETURNED: 'The bank returned a completed payout; the wallet is credited.',
})
export type SettledStatus = (typeof settledStatuses)[number]

/** For each new status of a payout, the status that the payout must have before (ruling 46). */
const requiredStatus = { COMPLETED: 'PROCESSING', FAILED: 'PROCESSING', RETURNED: 'COMPLETED' } as const

export const settlementEvents = {
  COMPLETED: { type: 'payout.completed', version: 2 },
  FAILED: { type: 'payout.failed', version: 2 },
  RETURNED: { type: 'payout.returned', version: 3 },
} as const

export const SettlePayoutInput = z.object({
  payoutId: z.string(),
  status: oneOf(settledStatuses),
  cause: optionalText(),
  override: optional(z.boolean()),
})

/**
 * Settles a payout by an operator's decision (ruling 46). `FAILED` and `RETURNED` credit amount and fee to the wallet,
 * regardless of the wallet's limit (ruling 53). If the payout already has the requested status, returns the payout
 * unchanged, so that a retry is safe.
 *
 * @param input `override` settles a payout even if its rail order is open; later reports of the bank then move no money
 * @throws DomainError, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND, PAYOUT_STATUS_CONFLICT
 */
export async function settlePayout(context: Context, input: z.input<typeof SettlePayoutInput>): Promise<Payout> {
  const { override, ...settlement } = parseInput(SettlePayoutInput, input)
  return context.db.write((tx) =>
    settleManually(tx, context, settlement, override === true ? allowSettlement : overrideRequired),
  )
}

const allowSettlement = () => null

function overrideRequired({ rail, state }: RailOrder): DomainError {
  const message = `must be given, because the payout is on the rail ${rail}, where it is ${state}: later reports of its bank will move no money`
  const fields = [{ field: 'override', code: 'MISSING_REQUIRED_FIELD', message }] as const
  return new DomainError('PAYOUT_STATUS_CONFLICT', `override ${message}.`, { fields })
}

/** @param findObjection returns an error if a payout with this open rail order must not be settled */
export async function settleManually(
  tx: Tx,
  context: Context,
  settlement: Settlement,
  findObjection: (order: RailOrder) => DomainError | null,
): Promise<Payout> {
  const payout = await findPayout(tx, context, settlement.payoutId)
  const { merchantId, referenceId: orderId } = payout
  const order = await lockRailOrder(tx, { merchantId, orderId })
  // A payout that already has the requested status stays unchanged, but its rail order can leave the attention queue.
  const isSame = payout.status === settlement.status
  if (!order || (isSame && order.state !== 'ATTENTION')) return settleInTransaction(tx, context, settlement)
  const objection = isOpenState(order.state) ? findObjection(order) : null
  if (objection && isSame) return settleInTransaction(tx, context, settlement)
  if (objection) throw objection
  const settled = await settleInTransaction(tx, context, settlement)
  const state = stateBySettledStatus[settlement.status]
  await transitionRailOrder(tx, context, order, { state, cause: settlement.cause, dueAt: null, cancelAskedAt: null })
  return settled
}

type Settlement = {
  readonly payoutId: string
  readonly status: SettledStatus
  readonly cause: string | null
  readonly reference?: string | null
}

export const stateBySettledStatus = { COMPLETED: 'COMPLETED', FAILED: 'REJECTED', RETURNED: 'RETURNED' } as const

export async function settleInTransaction(
  tx: Tx,
  context: Context,
  { payoutId, status, cause, reference = null }: Settlement,
): Promise<Payout> {
  const payout = await findPayout(tx, context, payoutId)
  const { merchantId, id } = payout
  if (payout.status === status) return payout
  const from = requiredStatus[status]
  if (payout.status !== from) throw statusConflict(payout.status, status)

  const createdAt = newUpdatedAt(context, payout)
  // The payout's status is updated first, so that a concurrent settlement fails before it moves money.
  const settled = await updatePayoutStatus(tx, {
    ...{ merchantId, id, from, to: status, updatedAt: createdAt },
    // A completed payout already has the bank's reference.
    fiatReferenceId: from === 'PROCESSING' ? reference : null,
  })
  if (!settled) throw new ConflictError('another request settled the payout')
  const transferId = await postSettlement(tx, context, payout, status)
  await insertPayoutEvent(tx, { merchantId, payoutId: id, status, cause, transferId, createdAt, sequence: null })
  await recordEvent(tx, context, { ...settlementEvents[status], objectId: id, at: createdAt })
  return settled
}

async function postSettlement(tx: Tx, context: Context, payout: Payout, status: SettledStatus): Promise<string> {
  const transfer = settlementTransfer(payout, status)
  if (transfer.kind === 'payout_completed') return postClearingTransfer(tx, context, transfer)
  return (await postTransfer(tx, context, { ...transfer, walletId: payout.walletId })).id
}

export function settlementTransfer(payout: Payout, status: SettledStatus): SettlementTransfer {
  const { id, assetCode } = payout
  const movement = { assetCode, amount: computeFeeSums(payout).netAmount, cause: { payoutId: id } }
  const kind = ({ COMPLETED: 'payout_completed', FAILED: 'payout_failed', RETURNED: 'payout_returned' } as const)[
    status
  ]
  if (kind === 'payout_completed') return { ...movement, kind, fee: 0n }
  return { ...movement, kind, fee: payout.fee ?? 0n }
}

type SettlementTransfer = NewTransfer<'payout_completed'> | NewTransfer<'payout_failed' | 'payout_returned'>

function statusConflict(from: string, to: SettledStatus): DomainError {
  const message = `A payout that is ${from} can't become ${to}: only one that is ${requiredStatus[to]} can.`
  return new DomainError('PAYOUT_STATUS_CONFLICT', message)
}
