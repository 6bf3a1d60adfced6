import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { Amount } from '../../core/money/amount.ts'
import type { RowOf } from '../../database/tables.ts'

/** Where a stablecoin or fiat balance is held (contract 2.3); `addresses` is empty for fiat, oldest first. */
export type Wallet = RowOf<'wallets'> & {
  readonly balance: Amount
  readonly addresses: readonly WalletAddress[]
}

/** A wallet without its addresses, which not every reader asks for. */
export type WalletRow = Omit<Wallet, 'addresses'>

export const walletStatuses = defineEnum({
  active: 'It takes deposits and pays out.',
})

/** Where deposits to a stablecoin wallet are sent. */
export type WalletAddress = RowOf<'walletAddresses'>
