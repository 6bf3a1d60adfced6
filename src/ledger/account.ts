import type { Tx } from '../database/query.ts'
import type { RowOf } from '../database/tables.ts'
import { insertClearingAccount, insertWalletAccount } from './repository.ts'

/** An account of the ledger. A wallet's carries its balance; the others' is the sum of their entries. */
export type Account = RowOf<'accounts'>

/**
 * The accounts that stand for everything outside the wallets: money that came in (`deposits`), payouts that the bank has
 * not answered yet (`payouts_in_transit`), payouts that it has paid (`payouts_settled`), and what the service earned
 * (`fees`). None has a balance column, so no row is shared by all of a merchant's wallets.
 */
export const clearingAccountKinds = ['deposits', 'payouts_in_transit', 'payouts_settled', 'fees'] as const
export type ClearingAccountKind = (typeof clearingAccountKinds)[number]

/** The id of a clearing account: `fees:USDC`. A wallet's account has the wallet's own id. */
export function clearingAccountId(kind: ClearingAccountKind, assetCode: string): string {
  return `${kind}:${assetCode}`
}

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
