import { z } from 'zod'
import type { Context } from '../context.ts'
import type { Reader } from '../database/query.ts'
import { notFound } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import type { Payout } from './payout.ts'
import { payoutById } from './repository.ts'

export const GetPayoutInput = z.object({ payoutId: z.string() })

/**
 * One of the merchant's or its customers' payouts.
 *
 * @throws Refusal RESOURCE_NOT_FOUND, also for an id that is none (ruling 5)
 */
export function getPayout(context: Context, { payoutId }: z.input<typeof GetPayoutInput>): Promise<Payout> {
  return findPayout(context.db, context, payoutId)
}

/** @throws Refusal RESOURCE_NOT_FOUND */
export async function findPayout(db: Reader, { merchantId }: Context, payoutId: string): Promise<Payout> {
  const id = parseUuid(payoutId)
  const payout = id && (await payoutById(db, { merchantId, id }))
  if (!payout) throw notFound('Payout')
  return payout
}
