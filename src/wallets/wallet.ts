import type { RowOf } from '../database/tables.ts'
import { describedValues } from '../doors/described-values.ts'
import type { Amount } from '../money/amount.ts'

/** Where a stablecoin or fiat balance is held (contract 2.3); `addresses` is empty for fiat, oldest first. */
export type Wallet = RowOf<'wallets'> & {
  readonly balance: Amount
  readonly addresses: readonly WalletAddress[]
}

/** A wallet without its addresses, which not every reader asks for. */
export type WalletRow = Omit<Wallet, 'addresses'>

export const walletStatuses = describedValues({
  active: 'It takes deposits and pays out.',
})

/** Where deposits to a stablecoin wallet are sent. */
export type WalletAddress = RowOf<'walletAddresses'>
