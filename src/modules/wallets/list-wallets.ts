import { z } from 'zod'
import { parseInput } from '../../core/input.ts'
import type { Page } from '../../lists/list-pages.ts'
import type { Context } from '../../operations/context.ts'
import { findCustomer } from '../customers/get-customer.ts'
import { wallets } from './list.ts'
import { addressesOfWallets } from './repository.ts'
import type { Wallet } from './wallet.ts'

type WalletPageInput = z.input<typeof wallets.PageInput>

/** @throws DomainError INVALID_INPUT */
export async function listWallets(context: Context, input: WalletPageInput): Promise<Page<Wallet>> {
  const page = await wallets.page(context, input)
  const { db, merchantId } = context
  const addresses = await addressesOfWallets(db, { merchantId, walletIds: page.items.map(({ id }) => id) })
  const byWallet = Map.groupBy(addresses, ({ walletId }) => walletId)
  return { ...page, items: page.items.map((wallet) => ({ ...wallet, addresses: byWallet.get(wallet.id) ?? [] })) }
}

export const ListCustomerWalletsInput = wallets.PageInput.extend({ customerId: z.string() })

/**
 * Contract 4.10.
 *
 * @throws DomainError, the first that applies: INVALID_INPUT, RESOURCE_NOT_FOUND
 */
export async function listCustomerWallets(
  context: Context,
  input: z.input<typeof ListCustomerWalletsInput>,
): Promise<Page<Wallet>> {
  const { customerId, ...page } = input
  parseInput(ListCustomerWalletsInput, input)
  const { id } = await findCustomer(context.db, context, customerId)
  return listWallets(context, { ...page, owner: { customerId: id } })
}
