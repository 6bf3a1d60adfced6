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

/** @throws DomainError RESOURCE_NOT_FOUND, also for a malformed id (ruling 5) */
export function getPayout(context: Context, { payoutId }: z.input<typeof GetPayoutInput>): Promise<Payout> {
  return payouts.get(context, payoutId)
}

/** Exactly one field is set. */
export type PayoutLookup = {
  readonly payoutId?: string | null | undefined
  readonly payoutKey?: string | null | undefined
  readonly transactionId?: string | null | undefined
  readonly referenceId?: string | null | undefined
}

/** @throws DomainError, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND */
export async function getPayoutByLookup(context: Context, lookup: PayoutLookup): Promise<Payout> {
  const errors = payoutLookupErrors(lookup)
  if (errors.length > 0) throw invalidInput(errors)
  return findPayoutByLookup(context.db, context, lookup)
}

export function payoutLookupErrors(lookup: PayoutLookup): FieldError[] {
  const field = 'payoutId'
  const identifiers = payoutLookupFields.filter((each) => (lookup[each] ?? null) !== null)
  if (identifiers.length === 0) {
    return [{ field, code: 'MISSING_REQUIRED_FIELD', message: 'is required if no other identifier is given' }]
  }
  if (identifiers.length > 1) {
    return [{ field, code: 'INVALID_PARAMETER', message: 'must be absent if another identifier is given' }]
  }
  return lookup.payoutKey == null ? [] : parseIdempotencyKey('payoutKey', lookup.payoutKey).faults
}

const payoutLookupFields = ['payoutId', 'payoutKey', 'transactionId', 'referenceId'] as const

/** @throws DomainError RESOURCE_NOT_FOUND */
export async function findPayoutByLookup(db: Reader, context: Context, lookup: PayoutLookup): Promise<Payout> {
  if (lookup.payoutId != null) return findPayout(db, context, lookup.payoutId)
  const payout = await findByAlternateId(db, context, lookup)
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

export async function findPayoutByTransactionId(
  db: Reader,
  { merchantId, transactionId }: { readonly merchantId: string; readonly transactionId: string },
): Promise<Payout | null> {
  const normalizedId = transactionId.trim().toUpperCase()
  const sequence = sequenceOfTransactionId(merchantId, normalizedId)
  const payout = sequence === null ? null : await payoutBySequence(db, { merchantId, sequence })
  return payout?.transactionId === normalizedId ? payout : null
}

/** A payout's reference id is created at most this long after the payout's id. */
const maxReferenceDelayMs = 60_000

export function referenceIdRange(referenceId: string): ReferenceIdRange {
  return { referenceId, idFrom: minIdAt(timeOfId(referenceId) - maxReferenceDelayMs), idTo: referenceId }
}

/** @throws DomainError RESOURCE_NOT_FOUND */
export function findPayout(db: Reader, { merchantId }: Context, payoutId: string): Promise<Payout> {
  return payouts.get({ db, merchantId }, payoutId)
}
