import { z } from 'zod'
import type { Context } from '../context.ts'
import { ownerFilter } from '../customers/owner.ts'
import { pageOfRange } from '../database/created-range.ts'
import { pageOfSequence } from '../database/sequence.ts'
import { createdFields, limit, oneOf, optional, optionalText, page, parse } from '../input.ts'
import type { Page } from '../page.ts'
import { filterOf } from './browse-payouts.ts'
import type { Payout } from './payout.ts'
import { payoutStatuses } from './payout.ts'
import { browsedPayoutNumber, browsedPayouts, countBrowsedPayouts, payoutMark, payoutsDownFrom } from './repository.ts'

export const ListPayoutsInput = z.object({
  owner: ownerFilter(),
  status: optional(oneOf(payoutStatuses)),
  assetCode: optionalText(),
  ...createdFields,
  page: page(),
  limit: limit(20),
})

/**
 * A page of the merchant's and its customers' payouts, newest first. With a filter the list has the newest 10,000 that match:
 * numbers are dense in the list of all alone, any other must be counted.
 *
 * @param input `createdFrom` inclusive and `createdBefore` exclusive, in ISO 8601; an unknown customer or asset matches nothing
 * @throws Refusal INVALID_INPUT
 */
export async function listPayouts(
  { db, merchantId }: Context,
  input: z.input<typeof ListPayoutsInput>,
): Promise<Page<Payout>> {
  const { createdFrom, createdBefore, page, limit, ...asked } = parse(ListPayoutsInput, input)
  const narrowed = filterOf({ ...asked, walletId: null, recipientCurrency: null })
  if (
    [createdFrom, createdBefore, ...Object.values(narrowed)].every((value) => value === null || value === undefined)
  ) {
    return pageOfSequence(db, { merchantId, name: 'payouts', page, limit }, (start, read) =>
      payoutsDownFrom(read, { merchantId, ...start }),
    )
  }
  const filter = { merchantId, ...narrowed }
  return db.snapshot((read) =>
    pageOfRange<Payout>(
      {
        created: { createdFrom, createdBefore },
        markAt: (fromSequence) => payoutMark(read, { merchantId, fromSequence }),
        rows: (range) => browsedPayouts(read, { ...filter, ...range }),
        count: (range) => countBrowsedPayouts(read, { ...filter, ...range }),
        numberAfter: async (range, skip) =>
          (await browsedPayoutNumber(read, { ...filter, ...range, skip }))[0]?.sequence ?? null,
      },
      { page, limit },
    ),
  )
}
