import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import type { Amount } from '../../../core/money/amount.ts'
import type { RowOf } from '../../../database/tables.ts'

/** What a payout of `assetCode` to `recipientCurrency` costs from `effectiveAt` on: `flat` plus `percent` per cent of the amount. */
export type Fee = RowOf<'fees'>

/** What a fee is deducted from (ruling 110). */
export const feeSources = defineEnum({
  AMOUNT: 'The amount: the wallet pays the amount, and the fee less is converted.',
  BALANCE: 'The balance of the wallet: it pays the fee on top, and the whole amount is converted.',
})
export type FeeSource = (typeof feeSources)[number]

/** The two sums of a payout: `netAmount` is converted for the recipient, `total` leaves the wallet; they differ by the fee. */
export type FeeSums = { readonly netAmount: Amount; readonly total: Amount }

const sumsBySource: Readonly<Record<FeeSource, (amount: Amount, fee: Amount) => FeeSums>> = {
  AMOUNT: (amount, fee) => ({ netAmount: amount - fee, total: amount }),
  BALANCE: (amount, fee) => ({ netAmount: amount, total: amount + fee }),
}

/** What a payout says of its amount and fee. */
export type PayoutCharge = {
  readonly amount: Amount
  /** `null` where no fee was in force. */
  readonly fee: Amount | null
  /** `null` where there is no fee, and for fees of versions that took every fee from the balance. */
  readonly feeDeductedFrom: FeeSource | null
}

/** Computes what is converted and what leaves the wallet; `netAmount` is zero or less for an amount that does not cover its fee. */
export function computeFeeSums({ amount, fee, feeDeductedFrom }: PayoutCharge): FeeSums {
  return sumsBySource[feeDeductedFrom ?? 'BALANCE'](amount, fee ?? 0n)
}
