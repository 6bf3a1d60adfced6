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

/** What a payout can become. */
export const settledStatuses = defineEnum({
  COMPLETED: 'The bank pays a payout that is processing.',
  FAILED: 'The bank does not pay a payout that is processing; the money comes back.',
  RETURNED: 'The bank sends back a payout that was completed; the money comes back.',
})
export type SettledStatus = (typeof settledStatuses)[number]

/** The only edges there are, each by where it leads (ruling 46). */
const requiredStatus = { COMPLETED: 'PROCESSING', FAILED: 'PROCESSING', RETURNED: 'COMPLETED' } as const

/** The event that tells of it, with its number among the payout's. */
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
 * Records what the bank did with a payout, with the transfer that belongs to it (ruling 46), for an operator who knows.
 *
 * `FAILED` (from `PROCESSING`) and `RETURNED` (from `COMPLETED`) put amount and fee back into the wallet in the same
 * commit: what the merchant did not get is not charged, and no limit refuses money that comes back (ruling 53). A payout that
 * is in the status already is answered as it is: whoever did not hear the answer asks again.
 *
 * @param input `override` settles one whose rail is still at work, too: what the bank reports of it later is not followed
 * @throws Refusal, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND, PAYOUT_STATUS_CONFLICT
 */
export async function settlePayout(context: Context, input: z.input<typeof SettlePayoutInput>): Promise<Payout> {
  const { override, ...settlement } = parseInput(SettlePayoutInput, input)
  return context.db.write((tx) =>
    settleManually(tx, context, settlement, override === true ? allowSettlement : overrideRequired),
  )
}

const allowSettlement = () => null

function overrideRequired({ rail, state }: RailOrder): DomainError {
  const message = `must be given, because the payout is on the rail ${rail}, where it is ${state}: what its bank reports afterwards moves no money any more`
  const fields = [{ field: 'override', code: 'MISSING_REQUIRED_FIELD', message }] as const
  return new DomainError('PAYOUT_STATUS_CONFLICT', `override ${message}.`, { fields })
}

/**
 * The same as part of a transaction.
 *
 * @param whyNot why it is not settled while its rail is at work; `null` where it is all the same
 */
export async function settleManually(
  tx: Tx,
  context: Context,
  settlement: Settlement,
  whyNot: (transfer: RailOrder) => DomainError | null,
): Promise<Payout> {
  const payout = await findPayout(tx, context, settlement.payoutId)
  const { merchantId, referenceId: orderId } = payout
  const transfer = await lockRailOrder(tx, { merchantId, orderId })
  // Whoever says again what it is already is answered; what a person had to look at is decided by it, where that is meant.
  const isSame = payout.status === settlement.status
  if (!transfer || (isSame && transfer.state !== 'ATTENTION')) return settleInTransaction(tx, context, settlement)
  const refusal = isOpenState(transfer.state) ? whyNot(transfer) : null
  if (refusal && isSame) return settleInTransaction(tx, context, settlement)
  if (refusal) throw refusal
  const settled = await settleInTransaction(tx, context, settlement)
  const state = stateBySettledStatus[settlement.status]
  await transitionRailOrder(tx, context, transfer, { state, cause: settlement.cause, dueAt: null, cancelAskedAt: null })
  return settled
}

/** What is recorded: `reference` is the bank's own name for the payment. */
type Settlement = {
  readonly payoutId: string
  readonly status: SettledStatus
  readonly cause: string | null
  readonly reference?: string | null
}

/** What a transfer, or a payout that has none, comes to where its payout is settled by hand. */
export const stateBySettledStatus = { COMPLETED: 'COMPLETED', FAILED: 'REJECTED', RETURNED: 'RETURNED' } as const

/** Records what became of a payout, whoever says so: everything that settles one goes through here. */
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
  // The status first: of those who settle a payout at once all but one find out here, before they move its money too.
  const settled = await updatePayoutStatus(tx, {
    ...{ merchantId, id, from, to: status, updatedAt: createdAt },
    // Of what was completed it was told already what the bank calls it.
    fiatReferenceId: from === 'PROCESSING' ? reference : null,
  })
  if (!settled) throw new ConflictError('another request settled the payout')
  const transferId = await postSettlement(tx, context, payout, status)
  await insertPayoutEvent(tx, { merchantId, payoutId: id, status, cause, transferId, createdAt, sequence: null })
  await recordEvent(tx, context, { ...settlementEvents[status], objectId: id, at: createdAt })
  return settled
}

/** Posts the transfer of a settlement and returns its id. */
async function postSettlement(tx: Tx, context: Context, payout: Payout, status: SettledStatus): Promise<string> {
  const transfer = settlementTransfer(payout, status)
  if (transfer.kind === 'payout_completed') return postClearingTransfer(tx, context, transfer)
  return (await postTransfer(tx, context, { ...transfer, walletId: payout.walletId })).id
}

/** What a settlement moves: what is in transit has arrived, or amount and fee come back into the wallet. */
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
