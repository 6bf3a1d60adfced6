import type { RowOf } from '../database/tables.ts'
import type { Amount } from '../money/amount.ts'

/** Where a stablecoin or fiat balance is held (contract 2.3); `addresses` is empty for fiat, oldest first. */
export type Wallet = RowOf<'wallets'> & {
  readonly balance: Amount
  readonly addresses: readonly WalletAddress[]
}

/** Where deposits to a stablecoin wallet are sent. */
export type WalletAddress = RowOf<'walletAddresses'>
