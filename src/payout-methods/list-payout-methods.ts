import { z } from 'zod'
import { assetCodeByCode } from '../asset-codes/repository.ts'
import type { Context } from '../context.ts'
import { pageOfList } from '../database/counted-list.ts'
import { parseUuid } from '../ids.ts'
import { limit, oneOf, optional, optionalText, page, parse, refuse } from '../input.ts'
import type { Page } from '../page.ts'
import type { PayoutMethod, PayoutMethodType } from './payout-method.ts'
import { payoutMethodOf, payoutMethodTypes } from './payout-method.ts'
import { payoutMethodsDownFrom } from './repository.ts'

/** Whose methods: everyone's, the merchant's own, or one customer's (ruling 18). */
export type OwnerFilter = 'any' | 'merchant' | { readonly customerId: string }

export const ListPayoutMethodsInput = z.object({
  owner: z
    .unknown()
    .optional()
    .transform((value, context): OwnerFilter => {
      if (value === undefined || value === '') return 'any'
      if (value === null || value === 'null') return 'merchant'
      const customerId = parseUuid(value)
      return customerId ? { customerId } : refuse(context, 'INVALID_FORMAT', 'must be a UUID, or null for the merchant')
    }),
  type: optional(oneOf(payoutMethodTypes)),
  currency: optionalText(),
  page: page(),
  limit: limit(20),
})

type Filter = { ownerId?: string | undefined; type?: PayoutMethodType | undefined; currency?: string | undefined }

/**
 * A page of the merchant's payout methods, of both types mixed, newest first (contract 4.3).
 *
 * @param input `owner` absent or empty for all, `null` for the merchant's own, a customer's UUID for that customer's; an
 *   unknown customer or currency matches nothing (rulings 18 and 19)
 * @throws Refusal INVALID_INPUT
 */
export async function listPayoutMethods(
  { db, merchantId }: Context,
  input: z.input<typeof ListPayoutMethodsInput>,
): Promise<Page<PayoutMethod>> {
  const { owner, type, currency, page, limit } = parse(ListPayoutMethodsInput, input)
  const impliedType = currency === null ? type : typeOfCurrency(await assetCodeByCode(db, { code: currency }))
  if (type !== null && impliedType !== type) return { items: [], total: 0, page, limit }

  const filter: Filter = {
    ownerId: owner === 'any' ? undefined : owner === 'merchant' ? merchantId : owner.customerId,
    // A currency implies its type, so the narrower of the two decides.
    ...(currency === null ? { type: type ?? undefined } : { currency }),
  }
  const found = await pageOfList(db, { merchantId, list: listName(filter), page, limit }, (start, read) =>
    payoutMethodsDownFrom(read, { merchantId, ...start, ...filter }),
  )
  return { ...found, items: found.items.map(payoutMethodOf) }
}

/** The lists that a method is counted in: the merchant's, by its `sequence`, and its owner's, by its `ownerSequence`. */
export function listsOfPayoutMethod({
  ownerId,
  type,
  currency,
}: {
  merchantId: string
  ownerId: string
  type: PayoutMethodType
  currency: string
}) {
  const narrowed = [{}, { type }, { currency }]
  return {
    ofMerchant: narrowed.map((filter) => listName(filter)),
    ofOwner: narrowed.map((filter) => listName({ ...filter, ownerId })),
  }
}

function typeOfCurrency(asset: { assetType: 'FIAT' | 'STABLECOIN' } | null): PayoutMethodType | null {
  return asset && (asset.assetType === 'FIAT' ? 'BANK' : 'WALLET')
}

function listName({ ownerId, type, currency }: Filter): string {
  const owner = ownerId === undefined ? '' : `/owner:${ownerId}`
  return `payout_methods${owner}${currency !== undefined ? `/currency:${currency}` : type ? `/type:${type}` : ''}`
}
