import type { RowOf } from '../database/tables.ts'
import type { Network } from '../networks/network.ts'
import type { ListedColumn } from './repository.ts'

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

/** What a list tells of a method: reading what its checks found would take it half as long again. */
export type ListedPayoutMethod = Listed<BankPayoutMethod> | Listed<WalletPayoutMethod>

export type Listed<Method extends PayoutMethod> = Pick<Method, ListedColumn>

/** The method of a row; the table's own check holds that the columns of its type are there. */
export function payoutMethodOf(row: Row): PayoutMethod {
  return row as PayoutMethod
}

/** The same of what a list reads of a row. */
export function listedPayoutMethodOf(row: Pick<Row, ListedColumn>): ListedPayoutMethod {
  return row as ListedPayoutMethod
}
