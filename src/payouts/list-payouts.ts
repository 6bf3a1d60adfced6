import { z } from 'zod'
import type { Context } from '../context.ts'
import { pageOfSequence } from '../database/sequence.ts'
import { limit, page, parse } from '../input.ts'
import type { Page } from '../page.ts'
import type { Payout } from './payout.ts'
import { payoutsDownFrom } from './repository.ts'

export const ListPayoutsInput = z.object({ page: page(), limit: limit(20) })

/**
 * A page of the merchant's payouts, newest first.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listPayouts(
  { db, merchantId }: Context,
  input: z.input<typeof ListPayoutsInput>,
): Promise<Page<Payout>> {
  const asked = parse(ListPayoutsInput, input)
  return pageOfSequence(db, { merchantId, name: 'payouts', ...asked }, (start, read) =>
    payoutsDownFrom(read, { merchantId, ...start }),
  )
}
