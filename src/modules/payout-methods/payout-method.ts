import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../database/tables.ts'
import type { AssetType } from '../asset-codes/asset-code.ts'
import type { Network } from '../networks/network.ts'

export const payoutMethodTypes = defineEnum({
  BANK: 'A bank account.',
  WALLET: 'A crypto address.',
})
export type PayoutMethodType = (typeof payoutMethodTypes)[number]

export const assetTypeOfMethod: Record<PayoutMethodType, AssetType> = { BANK: 'FIAT', WALLET: 'STABLECOIN' }

type PayoutMethodTableRow = RowOf<'payoutMethods'>

/** Contract 2.2, ruling 23. */
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

export const listedColumns = [
  ...(['id', 'type', 'currency', 'createdAt', 'updatedAt', 'customerId'] as const),
  ...(['accountName', 'accountNumber', 'bankName', 'bankCode'] as const),
  ...(['sortCode', 'swiftCode', 'routingNumber', 'iban'] as const),
  ...(['label', 'walletAddress', 'network'] as const),
]
type ListedColumn = (typeof listedColumns)[number]

/**
 * A listed payout method omits `checks`, because reading the check results would make a page take 1.5 times as long.
 */
export type ListedPayoutMethod = {
  BANK: ListedMethod<BankPayoutMethod>
  WALLET: ListedMethod<WalletPayoutMethod>
}[PayoutMethodType]

export type ListedMethod<Method extends PayoutMethod> = Pick<Method, ListedColumn>

/** A CHECK constraint for each type of payout method makes the cast safe. */
export function toPayoutMethod(row: PayoutMethodTableRow): PayoutMethod {
  return row as PayoutMethod
}

/** The country of the bank for each fiat currency in the contract (ruling 39). */
export const countryOfCurrency = { NGN: 'Nigeria', ZAR: 'South Africa' } as const

export const bankCountries = defineEnum<(typeof countryOfCurrency)[keyof typeof countryOfCurrency]>({
  Nigeria: 'Banks in Nigeria.',
  'South Africa': 'Banks in South Africa.',
})
export type BankCountry = (typeof bankCountries)[number]

export function bankCountryOf(currency: string): BankCountry | null {
  return Object.hasOwn(countryOfCurrency, currency)
    ? countryOfCurrency[currency as keyof typeof countryOfCurrency]
    : null
}
