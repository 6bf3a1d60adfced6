import { z } from 'zod'
import type { FieldError } from '../../core/errors.ts'
import { invalidInput, notFound } from '../../core/errors.ts'
import { minIdAt, parseUuid, timeOfId } from '../../core/ids-and-clock.ts'
import { parseIdempotencyKey } from '../../core/input.ts'
import type { Reader } from '../../database/query.ts'
import type { Context } from '../../operations/context.ts'
import { payouts } from './list.ts'
import type { Payout } from './payout.ts'
import type { ReferenceIdRange } from './repository.ts'
import { payoutByIdempotencyKey, payoutByReference, payoutBySequence } from './repository.ts'
import { sequenceOfTransactionId } from './transaction-id.ts'

export const GetPayoutInput = z.object({ payoutId: z.string() })

/**
 * One of the merchant's or its customers' payouts.
 *
 * @throws Refusal RESOURCE_NOT_FOUND, also for an id that is none (ruling 5)
 */
export function getPayout(context: Context, { payoutId }: z.input<typeof GetPayoutInput>): Promise<Payout> {
  return payouts.get(context, payoutId)
}

/**
 * How a caller names a payout: by its id, by the idempotency key that it was made with, by its transaction id, or by its reference
 * id. Exactly one of them.
 */
export type PayoutLookup = {
  readonly payoutId?: string | null | undefined
  readonly payoutKey?: string | null | undefined
  readonly transactionId?: string | null | undefined
  readonly referenceId?: string | null | undefined
}

/**
 * The payout of that name: a caller that never got the answer to a payout has its key, and a recipient reads out what a statement
 * shows.
 *
 * @throws Refusal, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND
 */
export async function getPayoutByLookup(context: Context, name: PayoutLookup): Promise<Payout> {
  const faults = payoutLookupErrors(name)
  if (faults.length > 0) throw invalidInput(faults)
  return findPayoutByLookup(context.db, context, name)
}

/** What is wrong with a name, if anything. */
export function payoutLookupErrors(name: PayoutLookup): FieldError[] {
  const field = 'payoutId'
  const given = payoutLookupFields.filter((each) => (name[each] ?? null) !== null)
  if (given.length === 0) {
    return [{ field, code: 'MISSING_REQUIRED_FIELD', message: 'is required where the payout is not named otherwise' }]
  }
  if (given.length > 1) {
    return [{ field, code: 'INVALID_PARAMETER', message: 'must be absent where the payout is named otherwise' }]
  }
  return name.payoutKey == null ? [] : parseIdempotencyKey('payoutKey', name.payoutKey).faults
}

const payoutLookupFields = ['payoutId', 'payoutKey', 'transactionId', 'referenceId'] as const

/** @throws Refusal RESOURCE_NOT_FOUND */
export async function findPayoutByLookup(db: Reader, context: Context, name: PayoutLookup): Promise<Payout> {
  if (name.payoutId != null) return findPayout(db, context, name.payoutId)
  const payout = await findByAlternateId(db, context, name)
  if (!payout) throw notFound('Payout')
  return payout
}

async function findByAlternateId(
  db: Reader,
  { merchantId }: Context,
  { payoutKey = null, transactionId = null, referenceId = null }: PayoutLookup,
): Promise<Payout | null> {
  if (payoutKey !== null) {
    const { key } = parseIdempotencyKey('payoutKey', payoutKey)
    return key ? payoutByIdempotencyKey(db, { merchantId, idempotencyKey: key }) : null
  }
  if (transactionId !== null) return findPayoutByTransactionId(db, { merchantId, transactionId })
  const id = parseUuid(referenceId?.trim())
  return id === null ? null : payoutByReference(db, { merchantId, ...referenceIdRange(id) })
}

/** The merchant's payout that has a transaction id, however that is spelt. */
export async function findPayoutByTransactionId(
  db: Reader,
  { merchantId, transactionId }: { readonly merchantId: string; readonly transactionId: string },
): Promise<Payout | null> {
  const given = transactionId.trim().toUpperCase()
  const sequence = sequenceOfTransactionId(merchantId, given)
  const payout = sequence === null ? null : await payoutBySequence(db, { merchantId, sequence })
  return payout?.transactionId === given ? payout : null
}

/** How long a payout may take between its id and its reference id, in milliseconds: longer than any request may. */
const maxReferenceDelayMs = 60_000

/** The ids among which that of the payout with a reference id is. */
export function referenceIdRange(referenceId: string): ReferenceIdRange {
  return { referenceId, idFrom: minIdAt(timeOfId(referenceId) - maxReferenceDelayMs), idTo: referenceId }
}

/** @throws Refusal RESOURCE_NOT_FOUND */
export function findPayout(db: Reader, { merchantId }: Context, payoutId: string): Promise<Payout> {
  return payouts.get({ db, merchantId }, payoutId)
}
