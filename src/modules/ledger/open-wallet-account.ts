import type { Tx } from '../../database/query.ts'
import { insertWalletAccount } from './repository.ts'

/** Opens a wallet's account at zero. */
export async function openWalletAccount(
  tx: Tx,
  { merchantId, walletId, assetCode }: { merchantId: string; walletId: string; assetCode: string },
): Promise<void> {
  await insertWalletAccount(tx, {
    merchantId,
    id: walletId,
    kind: 'wallet',
    assetCode,
    balance: 0n,
    entryCount: 0,
    latestTime: 0n,
    reachableBalance: 0n,
  })
}
