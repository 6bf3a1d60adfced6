import { z } from 'zod'
import { invalidInput } from '../../core/errors.ts'
import { optional, parseInput, rejectField, text } from '../../core/input.ts'
import { parseRate, percentChange } from '../../core/money/pricing.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Service } from '../../operations/context.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { effectiveDatedPrices } from './effective-dated.ts'
import { allRates, insertRate, rateInForce, ratesEffectiveFrom, setRateCancelled } from './repository.ts'

/** A rate is the price of one unit of the currency `fromCode` in the currency `toCode`. */
export type Rate = RowOf<'rates'>

/** Conversions are rounded to the decimal places of the target currency. */
export type RateInForce = Rate & { readonly minorUnitPlaces: number }

export const rates = effectiveDatedPrices({
  name: 'rates',
  noun: 'Rate',
  pair: ['fromCode', 'toCode'],
  rowsFrom: ratesEffectiveFrom,
  allRows: allRates,
  setCancelled: setRateCancelled,
})

/** A change of more than 20 % from the previous rate is probably a typing error. */
const maxDifferencePercent = 20

export const SetRateInput = z.object({
  fromCode: text(),
  toCode: text(),
  rate: z
    .string()
    .transform(
      (value, context) =>
        parseRate(value) ?? rejectField(context, 'INVALID_FORMAT', 'must be a positive decimal of at most nine places'),
    ),
  effectiveAt: optional(z.iso.datetime()),
  isForced: z.boolean().default(false),
})

/**
 * The rate takes effect now or at `effectiveAt`.
 *
 * @param input `effectiveAt` is in ISO 8601 and UTC; `isForced` allows a rate that differs by more than 20 % from the
 *   previous rate
 * @returns the rate; `later` lists the pair's rates with a later start
 * @throws DomainError INVALID_INPUT
 */
export async function setRate(
  service: Service,
  input: z.input<typeof SetRateInput>,
): Promise<Rate & { readonly later: readonly Rate[] }> {
  return service.db.write(async (tx) => {
    const errors = rates.pairErrors(await assetCodesWithNetworks(tx), input)
    const { isForced, effectiveAt: requestedAt, ...pairAndRate } = parseInput(SetRateInput, input, errors)
    const { revisionFields, later } = await rates.nextRevision(tx, service, { ...pairAndRate, requestedAt })
    if (!isForced)
      rejectLargeDifference(pairAndRate.rate, await rateInForce(tx, { ...pairAndRate, at: revisionFields.effectiveAt }))
    const row = { ...pairAndRate, ...revisionFields }
    await insertRate(tx, row)
    return { ...row, later }
  })
}

/** Only one command sets rates, so the error message can mention the command's flag `--force`. */
function rejectLargeDifference(rate: string, previous: Rate | null): void {
  if (previous === null) return
  const { percent, isOver } = percentChange(previous.rate, rate, maxDifferencePercent)
  if (!isOver) return
  const message = `of ${rate} differs by ${percent} % from ${previous.rate}, the rate until then: more than ${maxDifferencePercent} % requires --force`
  throw invalidInput([{ field: 'rate', code: 'INVALID_PARAMETER', message }])
}
