import { z } from 'zod'
import { assetCodeByCode } from '../asset-codes/repository.ts'
import type { Context } from '../context.ts'
import { ownerFilter, ownerIdOf } from '../customers/owner.ts'
import { pageOfList } from '../database/counted-list.ts'
import type { Reader } from '../database/query.ts'
import { limit, oneOf, optional, optionalText, page, parse } from '../input.ts'
import type { Page } from '../page.ts'
import type { ListedPayoutMethod, PayoutMethodType } from './payout-method.ts'
import { listedPayoutMethodOf, payoutMethodTypes } from './payout-method.ts'
import { payoutMethodsDownFrom } from './repository.ts'

export const ListPayoutMethodsInput = z.object({
  owner: ownerFilter(),
  type: optional(oneOf(payoutMethodTypes)),
  currency: optionalText(),
  page: page(),
  limit: limit(20),
})

/** Which methods a list has; everyone's without `ownerId`. */
export type PayoutMethodFilter = {
  ownerId?: string | undefined
  type?: PayoutMethodType | undefined
  currency?: string | undefined
}

/**
 * A page of the merchant's payout methods, of both types mixed, newest first (contract 4.3).
 *
 * @param input `owner` absent for all; an unknown customer or currency matches nothing (rulings 18 and 19)
 * @throws Refusal INVALID_INPUT
 */
export async function listPayoutMethods(
  { db, merchantId }: Context,
  input: z.input<typeof ListPayoutMethodsInput>,
): Promise<Page<ListedPayoutMethod>> {
  const { owner, type, currency, page, limit } = parse(ListPayoutMethodsInput, input)
  const filter = await filterOf(db, merchantId, { owner, type, currency })
  if (filter === null) return { items: [], total: 0, page, limit }

  const found = await pageOfList(db, { merchantId, list: listName(filter), page, limit }, (start, read) =>
    payoutMethodsDownFrom(read, { merchantId, ...start, ...filter }),
  )
  return { ...found, items: found.items.map(listedPayoutMethodOf) }
}

/** The filter of a list of methods; `null` where no method can match. A currency implies its type, so it decides. */
export async function filterOf(
  db: Reader,
  merchantId: string,
  { owner, type, currency }: Pick<z.output<typeof ListPayoutMethodsInput>, 'owner' | 'type' | 'currency'>,
): Promise<PayoutMethodFilter | null> {
  const ownerId = ownerIdOf(owner, { merchantId })
  if (currency === null) return { ownerId, type: type ?? undefined }
  const impliedType = typeOfCurrency(await assetCodeByCode(db, { code: currency }))
  return type === null || impliedType === type ? { ownerId, currency } : null
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

/** The name of a list that is counted. */
export function listName({ ownerId, type, currency }: PayoutMethodFilter): string {
  const owner = ownerId === undefined ? '' : `/owner:${ownerId}`
  return `payout_methods${owner}${currency !== undefined ? `/currency:${currency}` : type ? `/type:${type}` : ''}`
}
