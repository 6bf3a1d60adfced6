import { z } from 'zod'
import type { Context } from '../context.ts'
import type { Reader } from '../database/query.ts'
import type { FieldFault } from '../errors.ts'
import { invalidInput, notFound } from '../errors.ts'
import { readIdempotencyKey } from '../input.ts'
import { payouts } from './list.ts'
import type { Payout } from './payout.ts'
import { payoutByIdempotencyKey } from './repository.ts'

export const GetPayoutInput = z.object({ payoutId: z.string() })

/**
 * One of the merchant's or its customers' payouts.
 *
 * @throws Refusal RESOURCE_NOT_FOUND, also for an id that is none (ruling 5)
 */
export function getPayout(context: Context, { payoutId }: z.input<typeof GetPayoutInput>): Promise<Payout> {
  return payouts.get(context, payoutId)
}

/** How a caller names a payout: by its id, or by the idempotency key that it was made with. Exactly one of the two. */
export type PayoutName = {
  readonly payoutId?: string | null | undefined
  readonly payoutKey?: string | null | undefined
}

/**
 * The payout of that name: whoever never got the answer to a payout has its key, and may look what became of it.
 *
 * @throws Refusal, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND
 */
export async function getNamedPayout(context: Context, name: PayoutName): Promise<Payout> {
  const faults = payoutNameFaults(name)
  if (faults.length > 0) throw invalidInput(faults)
  return findNamedPayout(context.db, context, name)
}

/** What is wrong with a name, if anything. */
export function payoutNameFaults({ payoutId = null, payoutKey = null }: PayoutName): FieldFault[] {
  const field = 'payoutId'
  if (payoutId === null && payoutKey === null) {
    return [{ field, code: 'MISSING_REQUIRED_FIELD', message: 'is required where the payout is not named by its key' }]
  }
  if (payoutKey === null) return []
  if (payoutId === null) return readIdempotencyKey('payoutKey', payoutKey).faults
  return [{ field, code: 'INVALID_PARAMETER', message: 'must be absent where the payout is named by its key' }]
}

/** @throws Refusal RESOURCE_NOT_FOUND */
export async function findNamedPayout(
  db: Reader,
  context: Context,
  { payoutId, payoutKey = null }: PayoutName,
): Promise<Payout> {
  if (payoutKey === null) return findPayout(db, context, payoutId ?? '')
  const { key } = readIdempotencyKey('payoutKey', payoutKey)
  const payout = key && (await payoutByIdempotencyKey(db, { merchantId: context.merchantId, idempotencyKey: key }))
  if (!payout) throw notFound('Payout')
  return payout
}

/** @throws Refusal RESOURCE_NOT_FOUND */
export function findPayout(db: Reader, { merchantId }: Context, payoutId: string): Promise<Payout> {
  return payouts.get({ db, merchantId }, payoutId)
}
