import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { RowOf } from '../../database/tables.ts'
import { countryOfCurrency } from '../payout-methods/payout-method.ts'
import { bankDescriptions } from '../payout-methods/payout-method-fields.ts'

/** Ruling 37. */
export const payoutAssetCodes = defineEnum({
  USDC: 'USDC, worth one US dollar.',
  USDT: 'USDT, worth one US dollar.',
})

/**
 * Every payout uses its corridor's local transfer type, regardless of the requested `transferType` (rulings 39 and 41).
 */
export const corridors = [
  { recipientCurrency: 'NGN', recipientCountry: countryOfCurrency.NGN, localTransferType: 'nip' },
  { recipientCurrency: 'ZAR', recipientCountry: countryOfCurrency.ZAR, localTransferType: 'eft' },
] as const
export const recipientCurrencies = defineEnum<(typeof corridors)[number]['recipientCurrency']>({
  NGN: 'The naira, at banks in Nigeria.',
  ZAR: 'The rand, at banks in South Africa.',
})
export const recipientCountries = corridors.map(({ recipientCountry }) => recipientCountry)

export function corridorTo(recipientCurrency: unknown): (typeof corridors)[number] | undefined {
  return corridors.find((corridor) => corridor.recipientCurrency === recipientCurrency)
}

export function localTransferTypeFor(recipientCurrency: string): string {
  return corridorTo(recipientCurrency)?.localTransferType ?? ''
}

/** The transfer type in the contract's sample (ruling 41). */
export const defaultTransferType = 'ach'

export const transferTypes = defineEnum({
  ach: 'The Automated Clearing House (ACH) of the United States.',
  fed_wire: 'A Fedwire transfer of the Federal Reserve.',
  swift: 'An international transfer through SWIFT.',
})

/** Contract 4.8. */
export const paymentPurposes = defineEnum({
  CAPITAL_CONTRIBUTIONS: 'Money that an owner puts into a company.',
  CHARITABLE_CONTRIBUTIONS: 'A donation to a charity.',
  CONSULTING_FEES: 'Pay for advice or professional services.',
  CORPORATE_TAX_PAYMENTS: 'Taxes that a company owes.',
  DOWN_PAYMENTS_FOR_REAL_ESTATE: 'A down payment for land or a building.',
  EDUCATION_FEES: 'Fees of a school or a university.',
  EMPLOYEE_SALARIES_OR_WAGES: 'Pay for employees.',
  EXPENSES_REIMBURSEMENT: 'A refund of expenses.',
  GIFTS: 'A gift to a person or an organization.',
  GOVERNMENT_GRANTS: 'A government grant.',
  INCOME_TAX_PAYMENTS: 'Taxes that a person owes.',
  INHERITANCE_PAYMENTS: 'The payment of an inheritance.',
  INSURANCE_CLAIM_PAYOUTS: 'A payment of an insurer for a claim.',
  INSURANCE_PREMIUM_PAYMENTS: 'A premium for an insurance.',
  INVESTMENTS: 'An investment, such as shares.',
  LOAN_ADVANCES: 'A loan to the recipient.',
  MORTGAGE_PAYMENTS: 'An instalment of a loan on land or a building.',
  OTHER: 'Any other purpose.',
  PAYMENT_FOR_GOODS_AND_SERVICES: 'The price of goods or services.',
  PERSONAL_TRANSFERS: 'Money between private persons, or to an own account.',
  REAL_ESTATE_PURCHASES: 'The price of land or a building.',
  REMITTANCES: 'Money sent home from abroad.',
  RENT: 'Rent, of a home or office for example.',
  REPAYMENT_OF_LOANS: 'The repayment of a loan.',
  ROYALTIES: 'Pay for the use of a work, a patent or a brand.',
  TRUST_FUND_DISTRIBUTIONS: 'A payment of a trust to its beneficiaries.',
  UTILITY_BILLS: 'Bills for utilities such as electricity, water or telephone.',
  WELFARE_OR_BENEFITS: 'Social support, such as a pension.',
  WINNINGS_AND_PRIZES: 'A prize, or the winnings of a game.',
})

export const payoutStatuses = defineEnum({
  PROCESSING: 'The money has left the wallet and is on its way to the bank account.',
  COMPLETED: 'The bank has paid.',
  FAILED: 'The bank did not pay; amount and fee are back in the wallet.',
  RETURNED: 'The bank paid, and the money came back; amount and fee are back in the wallet.',
})
export type PayoutStatus = (typeof payoutStatuses)[number]

/**
 * Contract 2.5. `feeDeductedFrom` is the source of the fee: the amount or the wallet's balance. `fee` is `null` if the
 * corridor had no fee. `balanceAfter` is the wallet's balance after the debit of amount and fee. `amountFiat` is a
 * decimal string with eight decimal places.
 */
export type Payout = Omit<RowOf<'payouts'>, 'checksum'>

export const payoutDescriptions = {
  status: 'The status, initially `PROCESSING`.',
  amount: 'The requested amount.',
  exchangeRate: 'The price of one unit of the stablecoin in the recipient’s currency.',
  transactionId: 'A short reference for people: ten capital letters and digits, or twelve in the oldest payouts.',
  referenceId: 'The reference of the payout at the bank.',
  assetCode: 'The stablecoin to pay from.',
  recipientName: 'The name of the recipient.',
  recipientCurrency: 'The currency that the recipient gets.',
  recipientCountry: 'The country of the recipient’s bank.',
  bankName: bankDescriptions.bankName,
  bankCode: bankDescriptions.bankCode,
  accountNumber: bankDescriptions.accountNumber,
  balance: 'The balance of the paying wallet after amount and fee.',
  transferType:
    'The requested transfer type, or `ach`. The bank always uses the local rail, whose name older payouts have here.',
  transferTypeInput:
    'The transfer type for payouts in USD. Payouts to Nigeria and South Africa use the local rail whatever it is.',
  paymentPurpose: 'The purpose of the payout.',
  paymentPurposeInput: 'The purpose of the payout; `OTHER` if absent.',
  narration: 'A text for the recipient.',
  reason: 'A generated description of the payout.',
  wallet: 'The wallet that paid.',
  customer: 'The customer whose wallet paid; null if the merchant’s own wallet did.',
  createdAt: 'When the payout was created.',
  updatedAt: 'When the status last changed.',
} as const

/** A new payout has these values in its mutable columns. */
export const initialPayoutState = {
  status: 'PROCESSING',
  receiverWalletId: null,
  cryptoTransactionId: null,
  network: null,
  address: null,
  fiatReferenceId: null,
} as const

export type PayoutEvent = RowOf<'payoutEvents'>

/** The original provider's responses contain this text (ruling 45). */
export function payoutReason({ accountNumber, bankCode }: Pick<Payout, 'accountNumber' | 'bankCode'>): string {
  return `Withdraw to ${accountNumber}/${bankCode}`
}

/** Returns the payout in its initial state, for the response to a repeated idempotency key. */
export function payoutAsCreated(payout: Payout): Payout {
  return { ...payout, ...initialPayoutState, updatedAt: payout.createdAt }
}
