import { z } from 'zod'
import { notFound } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { allOrFirstError } from '../../core/maybe-promise.ts'
import type { Context } from '../../operations/context.ts'
import { wallets } from './list.ts'
import { addressesOfWallet, addressesOfWallets, walletAddressesByIds } from './repository.ts'
import type { Wallet, WalletAddress } from './wallet.ts'

export const GetWalletInput = z.object({ walletId: z.string() })

/** Contract 4.11. @throws DomainError RESOURCE_NOT_FOUND, also for a malformed id (ruling 5) */
export async function getWallet({ db, merchantId }: Context, input: z.input<typeof GetWalletInput>): Promise<Wallet> {
  const id = parseUuid(input.walletId)
  if (id === null) throw notFound('Wallet')
  const [wallet, addresses] = await db.snapshot((read) =>
    allOrFirstError([wallets.byId(read, { merchantId, id }), addressesOfWallet(read, { merchantId, walletId: id })]),
  )
  if (wallet === null) throw notFound('Wallet')
  return { ...wallet, addresses }
}

type WalletReadContext = Pick<Context, 'db' | 'merchantId'>

export async function findWalletAddresses(
  { db, merchantId }: WalletReadContext,
  walletIds: readonly string[],
): Promise<WalletAddress[]> {
  return addressesOfWallets(db, { merchantId, walletIds })
}

export async function findWalletAddressesByIds(
  { db, merchantId }: WalletReadContext,
  ids: readonly string[],
): Promise<WalletAddress[]> {
  return walletAddressesByIds(db, { merchantId, ids })
}
