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

/** The fee is `flat` plus `percent` per cent of the amount. */
export type Fee = RowOf<'fees'>

/** See ruling 110. */
export const feeSources = defineEnum({
  AMOUNT: 'From the amount. The wallet pays the amount, and the amount less the fee is converted.',
  BALANCE: "From the wallet's balance. The wallet pays the fee on top, and the whole amount is converted.",
})
export type FeeSource = (typeof feeSources)[number]

/** The service converts `netAmount` for the recipient, and debits `total` from the wallet. */
export type FeeSums = { readonly netAmount: Amount; readonly total: Amount }

const sumsBySource: Readonly<Record<FeeSource, (amount: Amount, fee: Amount) => FeeSums>> = {
  AMOUNT: (amount, fee) => ({ netAmount: amount - fee, total: amount }),
  BALANCE: (amount, fee) => ({ netAmount: amount, total: amount + fee }),
}

export type PayoutCharge = {
  readonly amount: Amount
  readonly fee: Amount | null
  /**
   * `feeDeductedFrom` is `null` in payouts without a fee and in old payouts. Old payouts deducted all fees from the
   * balance.
   */
  readonly feeDeductedFrom: FeeSource | null
}

/** `netAmount` is zero or negative if the amount does not cover the fee. */
export function computeFeeSums({ amount, fee, feeDeductedFrom }: PayoutCharge): FeeSums {
  return sumsBySource[feeDeductedFrom ?? 'BALANCE'](amount, fee ?? 0n)
}

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
 * The fee takes effect now or at `effectiveAt`.
 *
 * @param input `flat` is in units of `assetCode`; `percent: '0.5'` means 0.5 %; `deductedFrom` defaults to the pair's
 *   previous value, or to `BALANCE`
 * @returns the fee; `later` lists the pair's fees with a later start
 * @throws DomainError INVALID_INPUT, also if both `flat` and `percent` are absent
 */
export async function setFee(
  service: Service,
  input: z.input<typeof SetFeeInput>,
): Promise<Fee & { readonly later: readonly Fee[] }> {
  return service.db.write(async (tx) => {
    const errors = fees.pairErrors(await assetCodesWithNetworks(tx), input)
    const {
      effectiveAt: requestedAt,
      deductedFrom,
      ...fee
    } = parseInput(SetFeeInput, input, [...errors, ...missingPriceErrors(input)])
    const { revisionFields, later } = await fees.nextRevision(tx, service, { ...fee, requestedAt })
    const previous = await feeInForce(tx, { ...fee, at: revisionFields.effectiveAt })
    const row = { ...fee, deductedFrom: deductedFrom ?? previous?.deductedFrom ?? 'BALANCE', ...revisionFields }
    await insertFee(tx, row)
    return { ...row, later }
  })
}

/** An input without `flat` and `percent` is probably a mistake, so a fee of zero must be explicit. */
function missingPriceErrors({ flat, percent }: z.input<typeof SetFeeInput>): FieldError[] {
  if (flat !== undefined || percent !== undefined) return []
  const message = 'is required if no percent is given; set 0 for payouts without a fee'
  return [{ field: 'flat', code: 'MISSING_REQUIRED_FIELD', message }]
}
