import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { Amount } from '../../core/money/amount.ts'
import type { RowOf } from '../../database/tables.ts'

/** Contract 2.3. `addresses` are sorted oldest first. Fiat wallets have no addresses. */
export type Wallet = RowOf<'wallets'> & {
  readonly balance: Amount
  readonly addresses: readonly WalletAddress[]
}

export type WalletRow = Omit<Wallet, 'addresses'>

export const walletStatuses = defineEnum({
  active: 'The wallet accepts deposits and payouts.',
  suspended:
    'No payout leaves the wallet until an operator activates it. Deposits and returned payouts are still credited.',
})
export type WalletStatus = (typeof walletStatuses)[number]

export type WalletAddress = RowOf<'walletAddresses'>

export const addressCustodies = defineEnum({
  own: 'The merchant holds the key of the address.',
  external: 'The original provider holds the key of the address, from which the wallet was imported.',
})

export const walletDescriptions = {
  wallet: 'A balance in one stablecoin or fiat currency, owned by the merchant or by a customer.',
  assetType: "The type of the wallet's asset.",
  currency: "The code of the wallet's asset, such as `USDC`.",
  description: 'The name that the owner gave the wallet.',
  balance: 'The current balance.',
  status: 'Whether payouts can leave the wallet.',
  customer: 'The customer that owns the wallet; null if the merchant owns it.',
  createdAt: 'When the wallet was opened.',
  updatedAt: 'When the wallet last changed. Balance changes do not count.',
  address: 'The deposit address as written on its network.',
  network: 'The network of the address.',
  addressCustody: 'The holder of the key of the address.',
  addressCreatedAt: 'When the address was assigned to the wallet.',
} as const

export const newWalletDescriptions = {
  operation:
    'Opens a wallet with a balance of zero, for the merchant or for one of its customers. A stablecoin wallet gets a deposit address on `network`. An owner may have several wallets of one currency.',
  currency: 'The code of the asset, one of the supported asset codes, such as `USDC` or `NGN`.',
  description: 'The name of the wallet, at most 255 characters.',
  customerId: 'The customer that owns the wallet; absent for the merchant.',
  network: 'The network of the deposit address: required for a stablecoin, absent for fiat.',
} as const
