import { z } from 'zod'
import { defineEnum } from '../../core/api/enum-descriptions.ts'
import type { FieldError } from '../../core/errors.ts'
import { oneOf, optional, parseInput, rejectField, text } from '../../core/input.ts'
import type { Amount } from '../../core/money/amount.ts'
import { parseAmount } from '../../core/money/amount.ts'
import { parsePercent } from '../../core/money/pricing.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Service } from '../../operations/context.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { effectiveDatedPrices } from './effective-dated.ts'
import { allFees, feeInForce, feesEffectiveFrom, insertFee, setFeeCancelled } from './repository.ts'

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

/** What is done with fees as with rates. */
export const fees = effectiveDatedPrices({
  name: 'fees',
  noun: 'Fee',
  pair: ['assetCode', 'recipientCurrency'],
  rowsFrom: feesEffectiveFrom,
  allRows: allFees,
  setCancelled: setFeeCancelled,
})

export const SetFeeInput = z.object({
  assetCode: text(),
  recipientCurrency: text(),
  flat: z
    .string()
    .default('0')
    .transform(
      (value, context) =>
        parseAmount(value) ?? rejectField(context, 'INVALID_FORMAT', 'must be a decimal of at most eight places'),
    ),
  percent: z
    .string()
    .default('0')
    .transform(
      (value, context) =>
        parsePercent(value) ??
        rejectField(context, 'INVALID_FORMAT', 'must be a decimal from 0 to 100 of at most nine places'),
    ),
  deductedFrom: optional(oneOf(feeSources)),
  effectiveAt: optional(z.iso.datetime()),
})

/**
 * Sets what payouts of a stablecoin to a currency cost, from now or from `effectiveAt` on.
 *
 * @param input `flat` in units of `assetCode`; `percent` of the amount, `0.5` meaning half a per cent; one may be left out.
 *   Without `deductedFrom` the pair keeps the source of the fee that this one takes over from; the first is `BALANCE`
 * @returns the fee, with `later` the pair's fees that will take over from it
 * @throws Refusal INVALID_INPUT
 */
export async function setFee(
  service: Service,
  input: z.input<typeof SetFeeInput>,
): Promise<Fee & { readonly later: readonly Fee[] }> {
  return service.db.write(async (tx) => {
    const faults = fees.pairErrors(await assetCodesWithNetworks(tx), input)
    const {
      effectiveAt: asked,
      deductedFrom: source,
      ...fee
    } = parseInput(SetFeeInput, input, [...faults, ...missingPriceErrors(input)])
    const { place, later } = await fees.nextRevision(tx, service, { ...fee, asked })
    const before = await feeInForce(tx, { ...fee, at: place.effectiveAt })
    const row = { ...fee, deductedFrom: source ?? before?.deductedFrom ?? 'BALANCE', ...place }
    await insertFee(tx, row)
    return { ...row, later }
  })
}

/** That payouts cost nothing must be said: silence is a forgotten flag. */
function missingPriceErrors({ flat, percent }: z.input<typeof SetFeeInput>): FieldError[] {
  if (flat !== undefined || percent !== undefined) return []
  const message = 'is required where no percent is given; 0 means that payouts cost nothing'
  return [{ field: 'flat', code: 'MISSING_REQUIRED_FIELD', message }]
}
