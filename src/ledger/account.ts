import type { RowOf } from '../database/tables.ts'

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
