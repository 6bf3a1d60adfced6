import { z } from 'zod'
import type { Context } from '../context.ts'
import { timeOfChange } from '../context.ts'
import { Conflict } from '../database/database.ts'
import type { Tx } from '../database/query.ts'
import { describedValues } from '../doors/described-values.ts'
import { Refusal } from '../errors.ts'
import { oneOf, optionalText, parse } from '../input.ts'
import type { Movement } from '../ledger/post-transfer.ts'
import { postClearingTransfer, postTransfer } from '../ledger/post-transfer.ts'
import { nextInSequence } from '../lists/sequence.ts'
import { findPayout } from './get-payout.ts'
import type { Payout } from './payout.ts'
import { changePayoutStatus, insertPayoutEvent } from './repository.ts'

/** What a payout can become. */
export const settledStatuses = describedValues({
  COMPLETED: 'The bank pays a payout that is processing.',
  FAILED: 'The bank does not pay a payout that is processing; the money comes back.',
  RETURNED: 'The bank sends back a payout that was completed; the money comes back.',
})
type SettledStatus = (typeof settledStatuses)[number]

/** The only edges there are, each by where it leads (ruling 46). */
const statusBefore = { COMPLETED: 'PROCESSING', FAILED: 'PROCESSING', RETURNED: 'COMPLETED' } as const

export const SettlePayoutInput = z.object({
  payoutId: z.string(),
  status: oneOf(settledStatuses),
  cause: optionalText(),
})

/**
 * Records what the bank did with a payout, with the transfer that belongs to it (ruling 46).
 *
 * `FAILED` (from `PROCESSING`) and `RETURNED` (from `COMPLETED`) put amount and fee back into the wallet in the same
 * commit: what the merchant did not get is not charged, and no limit refuses money that comes back (ruling 53). A payout that
 * is in the status already is answered as it is: whoever did not hear the answer asks again.
 *
 * @throws Refusal, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND, PAYOUT_STATUS_CONFLICT
 */
export async function settlePayout(context: Context, input: z.input<typeof SettlePayoutInput>): Promise<Payout> {
  const request = parse(SettlePayoutInput, input)
  return context.db.write((tx) => settleWithin(tx, context, request))
}

/** The same as part of a transaction. */
export async function settleWithin(
  tx: Tx,
  context: Context,
  { payoutId, status, cause }: z.output<typeof SettlePayoutInput>,
): Promise<Payout> {
  const payout = await findPayout(tx, context, payoutId)
  const { merchantId, id } = payout
  if (payout.status === status) return payout
  const from = statusBefore[status]
  if (payout.status !== from) throw statusConflict(payout.status, status)

  const createdAt = timeOfChange(context, payout)
  // The status first: of those who settle a payout at once all but one find out here, before they move its money too.
  const settled = await changePayoutStatus(tx, { merchantId, id, from, to: status, updatedAt: createdAt })
  if (!settled) throw new Conflict('another request settled the payout')
  const transferId = await moveMoney(tx, context, payout, status)
  // The number last of all: whoever settles one payout waits for nobody any more when it has it, and all others for it no longer
  // than it takes to commit. Only where several are settled in one transaction (the sandbox's) two can wait for each other.
  const sequence = await nextInSequence(tx, merchantId, 'payout_events')
  await insertPayoutEvent(tx, { merchantId, payoutId: id, status, cause, transferId, createdAt, sequence })
  return settled
}

/** Posts the transfer of a settlement and returns its id. */
async function moveMoney(tx: Tx, context: Context, payout: Payout, status: SettledStatus): Promise<string> {
  const transfer = settlementTransfer(payout, status)
  if (transfer.kind === 'payout_completed') return postClearingTransfer(tx, context, transfer)
  return (await postTransfer(tx, context, { ...transfer, walletId: payout.walletId })).id
}

/** What a settlement moves: what is in transit has arrived, or amount and fee come back into the wallet. */
export function settlementTransfer(payout: Payout, status: SettledStatus): SettlementTransfer {
  const { id, assetCode, amount } = payout
  const movement = { assetCode, amount, cause: { payoutId: id } }
  if (status === 'COMPLETED') return { ...movement, kind: 'payout_completed', fee: 0n }
  return { ...movement, kind: status === 'FAILED' ? 'payout_failed' : 'payout_returned', fee: payout.fee ?? 0n }
}

type SettlementTransfer = Movement<'payout_completed'> | Movement<'payout_failed' | 'payout_returned'>

function statusConflict(from: string, to: SettledStatus): Refusal {
  const message = `A payout that is ${from} can't become ${to}: only one that is ${statusBefore[to]} can.`
  return new Refusal('PAYOUT_STATUS_CONFLICT', message)
}
