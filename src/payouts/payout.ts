import type { RowOf } from '../database/tables.ts'
import { countryOfCurrency } from '../payout-methods/bank-countries.ts'

/** Stablecoins that payouts are made from (ruling 37). */
export const payoutAssetCodes = ['USDC', 'USDT'] as const

/** Where payouts go, and the local rail that carries one when the caller names none (rulings 39 and 41). */
export const corridors = [
  { recipientCurrency: 'NGN', recipientCountry: countryOfCurrency.NGN, localTransferType: 'nip' },
  { recipientCurrency: 'ZAR', recipientCountry: countryOfCurrency.ZAR, localTransferType: 'eft' },
] as const
export const recipientCurrencies = corridors.map(({ recipientCurrency }) => recipientCurrency)
export const recipientCountries = corridors.map(({ recipientCountry }) => recipientCountry)

/** The corridor that pays out in a currency, if there is one. */
export function corridorTo(recipientCurrency: unknown): (typeof corridors)[number] | undefined {
  return corridors.find((corridor) => corridor.recipientCurrency === recipientCurrency)
}

/** The rail that carries a payout: the one asked for, or else the local one of its corridor (ruling 41). */
export function railOf({
  transferType,
  recipientCurrency,
}: {
  transferType: string | null
  recipientCurrency: string
}): string {
  return transferType ?? corridorTo(recipientCurrency)?.localTransferType ?? ''
}

export const transferTypes = ['ach', 'fed_wire', 'swift'] as const

/** What a payout may be for (contract 4.8). */
export const paymentPurposes = [
  'CAPITAL_CONTRIBUTIONS',
  'CHARITABLE_CONTRIBUTIONS',
  'CONSULTING_FEES',
  'CORPORATE_TAX_PAYMENTS',
  'DOWN_PAYMENTS_FOR_REAL_ESTATE',
  'EDUCATION_FEES',
  'EMPLOYEE_SALARIES_OR_WAGES',
  'EXPENSES_REIMBURSEMENT',
  'GIFTS',
  'GOVERNMENT_GRANTS',
  'INCOME_TAX_PAYMENTS',
  'INHERITANCE_PAYMENTS',
  'INSURANCE_CLAIM_PAYOUTS',
  'INSURANCE_PREMIUM_PAYMENTS',
  'INVESTMENTS',
  'LOAN_ADVANCES',
  'MORTGAGE_PAYMENTS',
  'OTHER',
  'PAYMENT_FOR_GOODS_AND_SERVICES',
  'PERSONAL_TRANSFERS',
  'REAL_ESTATE_PURCHASES',
  'REMITTANCES',
  'RENT',
  'REPAYMENT_OF_LOANS',
  'ROYALTIES',
  'TRUST_FUND_DISTRIBUTIONS',
  'UTILITY_BILLS',
  'WELFARE_OR_BENEFITS',
  'WINNINGS_AND_PRIZES',
] as const

export const payoutStatuses = ['PROCESSING', 'COMPLETED', 'FAILED', 'RETURNED'] as const
export type PayoutStatus = (typeof payoutStatuses)[number]

/**
 * A withdrawal from a stablecoin wallet to a bank account (contract 2.5).
 *
 * `amount` is net, `fee` (where one was in force) came on top, `balanceAfter` is the paying wallet's after both.
 * `amountFiat` is a decimal string of eight places.
 */
export type Payout = Omit<RowOf<'payouts'>, 'checksum'>

/** What became of a payout after its creation: a status, its time, its cause and the transfer that moved the money. */
export type PayoutEvent = RowOf<'payoutEvents'>

/** The system's own text about where a payout goes, in the provider's words (ruling 45). */
export function payoutReason({ accountNumber, bankCode }: Payout): string {
  return `Withdraw to ${accountNumber}/${bankCode}`
}
