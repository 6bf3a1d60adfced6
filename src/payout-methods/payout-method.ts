import type { RowOf } from '../database/tables.ts'
import type { Network } from '../networks/network.ts'

export const payoutMethodTypes = ['BANK', 'WALLET'] as const
export type PayoutMethodType = (typeof payoutMethodTypes)[number]

type Row = RowOf<'payoutMethods'>

/** A bank account or crypto address that payouts can go to (contract 2.2), with what its checks found (ruling 23). */
export type PayoutMethod = BankPayoutMethod | WalletPayoutMethod

export type BankPayoutMethod = Row & {
  readonly type: 'BANK'
  readonly accountName: string
  readonly accountNumber: string
  readonly bankName: string
  readonly bankCode: string
}

export type WalletPayoutMethod = Row & {
  readonly type: 'WALLET'
  readonly walletAddress: string
  readonly network: Network
}

/** The method of a row; the table's own check holds that the columns of its type are there. */
export function payoutMethodOf(row: Row): PayoutMethod {
  return row as PayoutMethod
}
