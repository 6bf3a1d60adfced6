import { z } from 'zod'
import type { FieldError } from '../../../core/errors.ts'
import { oneOf, optional, parseInput, rejectField, text } from '../../../core/input.ts'
import { parseAmount } from '../../../core/money/amount.ts'
import { parsePercent } from '../../../core/money/pricing.ts'
import type { Service } from '../../../operations/context.ts'
import { assetCodesWithNetworks } from '../../asset-codes/list-asset-codes.ts'
import type { Fee } from './fee.ts'
import { feeSources } from './fee.ts'
import { fees } from './fees.ts'
import { feeInForce, insertFee } from './repository.ts'

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
