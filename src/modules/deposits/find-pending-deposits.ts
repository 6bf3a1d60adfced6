import type { Context } from '../../operations/context.ts'
import type { ChainDeposit } from './chain-deposit.ts'
import { pendingDepositsOfWallets } from './repository.ts'

/** How many are shown of a wallet: anyone can send dust to an address. */
export const maxPendingDeposits = 20

/** A deposit that was seen on a chain and is not credited yet. */
export type PendingDeposit = Pick<
  ChainDeposit,
  'walletId' | 'network' | 'txHash' | 'logIndex' | 'amount' | 'confirmations' | 'detectedAt'
>

/** What the merchant's wallets among `walletIds` wait for, the latest first for each. */
export async function findPendingDeposits(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  walletIds: readonly string[],
): Promise<PendingDeposit[]> {
  const found = await pendingDepositsOfWallets(db, { merchantId, walletIds, most: BigInt(maxPendingDeposits) })
  return found.toSorted((one, other) => Number(one.place - other.place))
}
