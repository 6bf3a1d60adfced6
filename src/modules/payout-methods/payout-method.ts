import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Network } from '../networks/network.ts'

export const payoutMethodTypes = defineEnum({
  BANK: 'A bank account.',
  WALLET: 'A crypto address.',
})
export type PayoutMethodType = (typeof payoutMethodTypes)[number]

type PayoutMethodTableRow = RowOf<'payoutMethods'>

/** A bank account or crypto address that payouts can go to (contract 2.2), with what its checks found (ruling 23). */
export type PayoutMethod = { BANK: BankPayoutMethod; WALLET: WalletPayoutMethod }[PayoutMethodType]

export type BankPayoutMethod = PayoutMethodTableRow & {
  readonly type: 'BANK'
  readonly accountName: string
  readonly accountNumber: string
  readonly bankName: string
  readonly bankCode: string
}

export type WalletPayoutMethod = PayoutMethodTableRow & {
  readonly type: 'WALLET'
  readonly walletAddress: string
  readonly network: Network
}

/** What a page tells of a method. */
export const listedColumns = [
  ...(['id', 'type', 'currency', 'createdAt', 'updatedAt', 'customerId'] as const),
  ...(['accountName', 'accountNumber', 'bankName', 'bankCode'] as const),
  ...(['sortCode', 'swiftCode', 'routingNumber', 'iban'] as const),
  ...(['label', 'walletAddress', 'network'] as const),
]
type ListedColumn = (typeof listedColumns)[number]

/** What a page tells of a method: reading what its checks found would take it half as long again. */
export type ListedPayoutMethod = {
  BANK: ListedMethod<BankPayoutMethod>
  WALLET: ListedMethod<WalletPayoutMethod>
}[PayoutMethodType]

export type ListedMethod<Method extends PayoutMethod> = Pick<Method, ListedColumn>

/** The method of a row; the table's own check holds that the columns of its type are there. */
export function toPayoutMethod(row: PayoutMethodTableRow): PayoutMethod {
  return row as PayoutMethod
}

/** The country of the banks that hold accounts in a currency, for the currencies of the contract (ruling 39). */
export const countryOfCurrency = { NGN: 'Nigeria', ZAR: 'South Africa' } as const

export const bankCountries = defineEnum<(typeof countryOfCurrency)[keyof typeof countryOfCurrency]>({
  Nigeria: 'Banks in Nigeria.',
  'South Africa': 'Banks in South Africa.',
})
export type BankCountry = (typeof bankCountries)[number]

/** The same for any currency: `null` where the contract names none. */
export function bankCountryOf(currency: string): BankCountry | null {
  return Object.hasOwn(countryOfCurrency, currency)
    ? countryOfCurrency[currency as keyof typeof countryOfCurrency]
    : null
}
