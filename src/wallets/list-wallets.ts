import type { z } from 'zod'
import type { Context } from '../context.ts'
import type { Page } from '../lists/page.ts'
import { wallets } from './list.ts'
import { addressesOfWallets } from './repository.ts'
import type { Wallet } from './wallet.ts'

/** The list of wallets, whose pages tell each with its addresses (contract 4.10): one query for all of them. */
export const walletsWithAddresses = {
  ...wallets,
  page: async (context: Context, input: z.input<typeof wallets.PageInput>): Promise<Page<Wallet>> => {
    const page = await wallets.page(context, input)
    const { db, merchantId } = context
    const addresses = await addressesOfWallets(db, { merchantId, walletIds: page.items.map(({ id }) => id) })
    const ofWallet = Map.groupBy(addresses, ({ walletId }) => walletId)
    return { ...page, items: page.items.map((wallet) => ({ ...wallet, addresses: ofWallet.get(wallet.id) ?? [] })) }
  },
}
