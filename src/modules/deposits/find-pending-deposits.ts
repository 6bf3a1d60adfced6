import type { Context } from '../../operations/context.ts'
import type { ChainDeposit } from './chain-deposit.ts'
import { pendingDepositsOfWallets } from './repository.ts'

/**
 * The maximum number of pending deposits per wallet in a response. Anyone can send many tiny deposits to an address.
 */
export const maxPendingDeposits = 20

export type PendingDeposit = Pick<
  ChainDeposit,
  'walletId' | 'network' | 'txHash' | 'logIndex' | 'amount' | 'confirmations' | 'detectedAt'
>

export async function findPendingDeposits(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  walletIds: readonly string[],
): Promise<PendingDeposit[]> {
  const deposits = await pendingDepositsOfWallets(db, {
    merchantId,
    walletIds,
    maxPerWallet: BigInt(maxPendingDeposits),
  })
  return deposits.toSorted((a, b) => Number(a.rank - b.rank))
}
