import type { RowOf } from '../database/tables.ts'

/**
 * The account of a wallet, which has the wallet's id and carries its balance.
 *
 * What stands for everything outside the wallets has no row: money that came in (`deposits`), payouts that the bank has not
 * answered yet (`payouts_in_transit`), payouts that it has paid (`payouts_settled`), and what the service earned (`fees`), each
 * for each asset, such as `fees:USDC`. The kind of a transfer says which of them it moves, and the view `entries` shows it.
 */
export type Account = RowOf<'accounts'>
