import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../database/tables.ts'
import { countryOfCurrency } from '../payout-methods/payout-method.ts'

/** Stablecoins that payouts are made from (ruling 37). */
export const payoutAssetCodes = defineEnum({
  USDC: 'USDC, worth one US dollar.',
  USDT: 'USDT, worth one US dollar.',
})

/** Where payouts go, and the local rail that carries them there, whatever the caller names (rulings 39 and 41). */
export const corridors = [
  { recipientCurrency: 'NGN', recipientCountry: countryOfCurrency.NGN, localTransferType: 'nip' },
  { recipientCurrency: 'ZAR', recipientCountry: countryOfCurrency.ZAR, localTransferType: 'eft' },
] as const
export const recipientCurrencies = defineEnum<(typeof corridors)[number]['recipientCurrency']>({
  NGN: 'The naira, at banks in Nigeria.',
  ZAR: 'The rand, at banks in South Africa.',
})
export const recipientCountries = corridors.map(({ recipientCountry }) => recipientCountry)

/** The corridor that pays out in a currency, if there is one. */
export function corridorTo(recipientCurrency: unknown): (typeof corridors)[number] | undefined {
  return corridors.find((corridor) => corridor.recipientCurrency === recipientCurrency)
}

/** What a bank is told of how to carry a payout: the local rail of its corridor (ruling 41). */
export function localTransferTypeFor(recipientCurrency: string): string {
  return corridorTo(recipientCurrency)?.localTransferType ?? ''
}

/** What a payout answers as its `transfer_type` where none was asked for, as the contract's own sample does (ruling 41). */
export const defaultTransferType = 'ach'

export const transferTypes = defineEnum({
  ach: 'The American clearing house.',
  fed_wire: 'A wire of the Federal Reserve.',
  swift: 'A transfer between banks of any two countries, through SWIFT.',
})

/** What a payout may be for (contract 4.8). */
export const paymentPurposes = defineEnum({
  CAPITAL_CONTRIBUTIONS: 'Money that an owner puts into a company.',
  CHARITABLE_CONTRIBUTIONS: 'A donation to a charity.',
  CONSULTING_FEES: 'Pay for advice or professional services.',
  CORPORATE_TAX_PAYMENTS: 'Taxes that a company owes.',
  DOWN_PAYMENTS_FOR_REAL_ESTATE: 'The first part of the price of land or a building.',
  EDUCATION_FEES: 'Fees of a school or a university.',
  EMPLOYEE_SALARIES_OR_WAGES: 'Pay for people who are employed.',
  EXPENSES_REIMBURSEMENT: 'Costs that somebody paid for another and gets back.',
  GIFTS: 'A gift, for which nothing is owed.',
  GOVERNMENT_GRANTS: 'Support that a state gives.',
  INCOME_TAX_PAYMENTS: 'Taxes that a person owes.',
  INHERITANCE_PAYMENTS: 'What somebody inherits.',
  INSURANCE_CLAIM_PAYOUTS: 'What an insurer pays for a damage.',
  INSURANCE_PREMIUM_PAYMENTS: 'What an insured person pays to the insurer.',
  INVESTMENTS: 'Money to be invested, in shares for example.',
  LOAN_ADVANCES: 'Money that is lent.',
  MORTGAGE_PAYMENTS: 'An instalment of a loan on land or a building.',
  OTHER: 'Anything that no other value says.',
  PAYMENT_FOR_GOODS_AND_SERVICES: 'The price of something bought.',
  PERSONAL_TRANSFERS: 'Money between people who know one another, or to an account of one’s own.',
  REAL_ESTATE_PURCHASES: 'The price of land or a building.',
  REMITTANCES: 'Money that somebody abroad sends home.',
  RENT: 'Rent for a home, an office or anything else.',
  REPAYMENT_OF_LOANS: 'Money that was borrowed and is paid back.',
  ROYALTIES: 'Pay for the use of a work, a patent or a brand.',
  TRUST_FUND_DISTRIBUTIONS: 'What a trust pays to those it is for.',
  UTILITY_BILLS: 'Bills for electricity, water, telephone and the like.',
  WELFARE_OR_BENEFITS: 'Social support, such as a pension.',
  WINNINGS_AND_PRIZES: 'What somebody has won.',
})

export const payoutStatuses = defineEnum({
  PROCESSING: 'The money has left the wallet and is on its way.',
  COMPLETED: 'The bank has paid.',
  FAILED: 'The bank has not paid; amount and fee are back in the wallet.',
  RETURNED: 'The bank has paid and then sent it back; amount and fee are back in the wallet.',
})
export type PayoutStatus = (typeof payoutStatuses)[number]

/**
 * A withdrawal from a stablecoin wallet to a bank account (contract 2.5).
 *
 * `amount` is what the caller asked for; `fee`, where one was in force, was deducted from it or from the wallet's balance
 * (`feeDeductedFrom`), and `balanceAfter` is the paying wallet's after both.
 * `amountFiat` is a decimal string of eight places.
 */
export type Payout = Omit<RowOf<'payouts'>, 'checksum'>

/** What a payout begins with, before anything has become of it; all else in its row stays as it was written. */
export const initialPayoutState = {
  status: 'PROCESSING',
  receiverWalletId: null,
  cryptoTransactionId: null,
  network: null,
  address: null,
  fiatReferenceId: null,
} as const

/** What became of a payout after its creation: a status, its time, its cause and the transfer that moved the money. */
export type PayoutEvent = RowOf<'payoutEvents'>

/** The system's own text about where a payout goes, in the provider's words (ruling 45). */
export function payoutReason({ accountNumber, bankCode }: Pick<Payout, 'accountNumber' | 'bankCode'>): string {
  return `Withdraw to ${accountNumber}/${bankCode}`
}

/** The payout as its creation answered it, whatever has become of it since: a replay gives the same answer. */
export function payoutAsCreated(payout: Payout): Payout {
  return { ...payout, ...initialPayoutState, updatedAt: payout.createdAt }
}
