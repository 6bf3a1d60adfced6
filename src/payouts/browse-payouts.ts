import { z } from 'zod'
import type { Context } from '../context.ts'
import type { OwnerFilter } from '../customers/owner.ts'
import { ownerFilter } from '../customers/owner.ts'
import { sequencedList } from '../database/created-range.ts'
import { latestInSequence } from '../database/sequence.ts'
import { createdFields, oneOf, optional, optionalText, parse, uuid } from '../input.ts'
import type { Slice } from '../slice.ts'
import { sliceFields, sliceOf } from '../slice.ts'
import type { Payout } from './payout.ts'
import { payoutStatuses } from './payout.ts'
import { browsedPayouts, countBrowsedPayouts, payoutMark } from './repository.ts'

export const BrowsePayoutsInput = z.object({
  owner: ownerFilter(),
  walletId: optional(uuid()),
  status: optional(oneOf(payoutStatuses)),
  assetCode: optionalText(),
  recipientCurrency: optionalText(),
  ...createdFields,
  ...sliceFields,
})

/**
 * A slice of the merchant's and its customers' payouts, newest first.
 *
 * @param input `createdFrom` inclusive and `createdBefore` exclusive, in ISO 8601; an unknown customer, wallet, asset or
 *   currency matches nothing
 * @throws Refusal INVALID_INPUT
 */
export async function browsePayouts(
  { db, merchantId }: Context,
  input: z.input<typeof BrowsePayoutsInput>,
): Promise<Slice<Payout>> {
  const { createdFrom, createdBefore, first, after, last, before, ...asked } = parse(BrowsePayoutsInput, input)
  const filter = { merchantId, ...filterOf(asked) }
  const isFiltered = Object.values(filterOf(asked)).some((value) => value !== undefined)
  const list = sequencedList<Payout>({
    name: ['payouts', filter],
    created: { createdFrom, createdBefore },
    sequenceOf: ({ sequence }) => sequence,
    markAt: (fromSequence) => payoutMark(db, { merchantId, fromSequence }),
    rows: (range) => browsedPayouts(db, { ...filter, ...range }),
    count: (range) => countBrowsedPayouts(db, { ...filter, ...range }),
    keptTotal: isFiltered
      ? null
      : async () => (await latestInSequence(db, { merchantId, name: 'payouts' }))?.latest ?? 0,
  })
  return sliceOf(list, { first, after, last, before })
}

type Asked = Pick<
  z.output<typeof BrowsePayoutsInput>,
  'owner' | 'walletId' | 'status' | 'assetCode' | 'recipientCurrency'
>

function filterOf({ owner, walletId, status, assetCode, recipientCurrency }: Asked) {
  return {
    ...ownerColumns(owner),
    walletId: walletId ?? undefined,
    status: status ?? undefined,
    assetCode: assetCode ?? undefined,
    recipientCurrency: recipientCurrency ?? undefined,
  }
}

/** A payout has no `ownerId`: the merchant's own are those of no customer. */
function ownerColumns(owner: OwnerFilter): { customerId?: string; isMerchantOwned?: true } {
  if (owner === 'any') return {}
  return owner === 'merchant' ? { isMerchantOwned: true } : { customerId: owner.customerId }
}
