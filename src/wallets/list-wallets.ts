import { z } from 'zod'
import type { AssetType } from '../asset-codes/asset-code.ts'
import { assetCodeByCode } from '../asset-codes/repository.ts'
import type { Context } from '../context.ts'
import { findCustomer } from '../customers/get-customer.ts'
import { pageOfList } from '../database/counted-list.ts'
import { limit, optionalText, page, parse } from '../input.ts'
import type { Page } from '../page.ts'
import { addressesOfWallets, walletsDownFrom } from './repository.ts'
import type { Wallet, WalletRow } from './wallet.ts'

// The contract's samples show pages of ten.
export const ListMerchantWalletsInput = z.object({
  status: optionalText(),
  assetType: optionalText(),
  currency: optionalText(),
  page: page(),
  limit: limit(10),
})

export const ListCustomerWalletsInput = ListMerchantWalletsInput.extend({ customerId: z.string() })

type Asked = z.output<typeof ListMerchantWalletsInput>
type Filters = Pick<Asked, 'status' | 'assetType' | 'currency'>

/**
 * A page of the merchant's own wallets, newest first; its customers' are not among them. A filter's unknown value matches
 * nothing (ruling 19).
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listMerchantWallets(
  context: Context,
  input: z.input<typeof ListMerchantWalletsInput>,
): Promise<Page<Wallet>> {
  return pageOfOwner(context, context.merchantId, parse(ListMerchantWalletsInput, input))
}

/**
 * A page of one customer's wallets, newest first (contract 4.10). A filter's unknown value matches nothing (ruling 19).
 *
 * @throws Refusal INVALID_INPUT, RESOURCE_NOT_FOUND (customer)
 */
export async function listCustomerWallets(
  context: Context,
  input: z.input<typeof ListCustomerWalletsInput>,
): Promise<Page<Wallet>> {
  const asked = parse(ListCustomerWalletsInput, input)
  const { id: ownerId } = await findCustomer(context.db, context, asked.customerId)
  return pageOfOwner(context, ownerId, asked)
}

async function pageOfOwner(context: Context, ownerId: string, asked: Asked): Promise<Page<Wallet>> {
  const { db, merchantId } = context
  if (!(await canMatch(context, asked))) return { items: [], total: 0, page: asked.page, limit: asked.limit }

  // A currency implies its type of asset, so the narrower of the two decides.
  const filter = asked.currency !== null ? { currency: asked.currency } : { assetType: asked.assetType }
  const found = await pageOfList(db, { merchantId, list: listName(ownerId, filter), ...asked }, (start, read) =>
    walletsDownFrom(read, {
      merchantId,
      ownerId,
      ...start,
      currency: filter.currency,
      assetType: (filter.assetType as AssetType | null) ?? undefined,
    }),
  )
  return { ...found, items: await withAddresses(context, found.items) }
}

/** The lists that a wallet is counted in: its owner's, and those by type of asset and by currency. */
export function listsOfWallet({ ownerId, assetType, currency }: Pick<Wallet, 'ownerId' | 'assetType' | 'currency'>) {
  return [listName(ownerId, {}), listName(ownerId, { assetType }), listName(ownerId, { currency })]
}

/** Adds the addresses of each wallet, with one query for all. */
async function withAddresses({ db, merchantId }: Context, wallets: readonly WalletRow[]): Promise<Wallet[]> {
  const addresses = await addressesOfWallets(db, { merchantId, walletIds: wallets.map(({ id }) => id) })
  return wallets.map((wallet) => ({
    ...wallet,
    addresses: addresses.filter(({ walletId }) => walletId === wallet.id),
  }))
}

/** Whether any wallet can be what these filters say together. */
export async function canMatch({ db }: Context, { status, assetType, currency }: Filters): Promise<boolean> {
  // Every wallet is active: the contract knows no other status.
  if (status !== null && status !== 'active') return false
  if (assetType === null || currency === null) return true
  return (await assetCodeByCode(db, { code: currency }))?.assetType === assetType
}

/** The name of an owner's list that is counted; a currency implies a type of asset. */
export function listName(
  ownerId: string,
  { assetType, currency }: { assetType?: string | null | undefined; currency?: string | undefined },
): string {
  const narrowed = currency !== undefined ? `/currency:${currency}` : assetType ? `/type:${assetType}` : ''
  return `wallets/owner:${ownerId}${narrowed}`
}
