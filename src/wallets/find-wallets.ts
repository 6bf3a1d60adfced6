import type { Context } from '../context.ts'
import { uuidsAmong } from '../ids.ts'
import { addressesOfWallets, walletAddressesByIds, walletsByIds } from './repository.ts'
import type { WalletAddress, WalletRow } from './wallet.ts'

type Asking = Pick<Context, 'db' | 'merchantId'>

/** The merchant's and its customers' wallets among `ids`, in any order; what is not there or not theirs is left out. */
export function findWallets({ db, merchantId }: Asking, ids: readonly string[]): Promise<WalletRow[]> {
  return walletsByIds(db, { merchantId, ids: uuidsAmong(ids) })
}

/** All addresses of the merchant's wallets among `walletIds`, oldest first for each wallet. */
export function findWalletAddresses(
  { db, merchantId }: Asking,
  walletIds: readonly string[],
): Promise<WalletAddress[]> {
  return addressesOfWallets(db, { merchantId, walletIds: uuidsAmong(walletIds) })
}

/** The addresses of the merchant's wallets among `ids`, which are their own, in any order. */
export function findWalletAddressesByIds({ db, merchantId }: Asking, ids: readonly string[]): Promise<WalletAddress[]> {
  return walletAddressesByIds(db, { merchantId, ids: uuidsAmong(ids) })
}
