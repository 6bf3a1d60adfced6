import type { Tx } from '../database/query.ts'
import { clearingAccountId, clearingAccountKinds } from './account.ts'
import { insertClearingAccount, insertWalletAccount } from './repository.ts'

/** Opens a wallet's account at zero, and with the first in an asset the merchant's clearing accounts for that asset. */
export async function openWalletAccount(
  tx: Tx,
  { merchantId, walletId, assetCode }: { merchantId: string; walletId: string; assetCode: string },
): Promise<void> {
  for (const kind of clearingAccountKinds) {
    await insertClearingAccount(tx, { merchantId, id: clearingAccountId(kind, assetCode), kind, assetCode })
  }
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
