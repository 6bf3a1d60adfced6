import { z } from 'zod'
import type { Context } from '../context.ts'
import { latestInSequence } from '../database/sequence.ts'
import { limit, page, parse } from '../input.ts'
import type { Page } from '../page.ts'
import { offsetOf } from '../page.ts'
import type { Payout } from './payout.ts'
import { payoutsDownFrom } from './repository.ts'

export const ListPayoutsInput = z.object({ page: page(), limit: limit(20) })

/**
 * A page of the merchant's payouts, newest first.
 *
 * Payouts are never deleted, so their numbers are dense: the total is the latest, and any page starts at a known one.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listPayouts(
  { db, merchantId }: Context,
  input: z.input<typeof ListPayoutsInput>,
): Promise<Page<Payout>> {
  const asked = parse(ListPayoutsInput, input)
  const total = (await latestInSequence(db, { merchantId, name: 'payouts' }))?.latest ?? 0
  const fromSequence = total - offsetOf(asked)
  const items = fromSequence > 0 ? await payoutsDownFrom(db, { merchantId, fromSequence, limit: asked.limit }) : []
  return { ...asked, items, total }
}
