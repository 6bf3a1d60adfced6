import type { Context } from '../../operations/context.ts'
import { addressesOfWallets, walletAddressesByIds } from './repository.ts'
import type { WalletAddress } from './wallet.ts'

type WalletReadContext = Pick<Context, 'db' | 'merchantId'>

/** All addresses of the merchant's wallets among `walletIds`, oldest first for each wallet. */
export async function findWalletAddresses(
  { db, merchantId }: WalletReadContext,
  walletIds: readonly string[],
): Promise<WalletAddress[]> {
  return addressesOfWallets(db, { merchantId, walletIds })
}

/** The addresses of the merchant's wallets among `ids`, which are their own, in any order. */
export async function findWalletAddressesByIds(
  { db, merchantId }: WalletReadContext,
  ids: readonly string[],
): Promise<WalletAddress[]> {
  return walletAddressesByIds(db, { merchantId, ids })
}
