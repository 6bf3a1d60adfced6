import { z } from 'zod'
import { invalidInput } from '../../core/errors.ts'
import { optional, parseInput, rejectField, text } from '../../core/input.ts'
import { parseRate, percentChange } from '../../core/money/pricing.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Service } from '../../operations/context.ts'
import { assetCodesWithNetworks } from '../asset-codes/list-asset-codes.ts'
import { effectiveDatedPrices } from './effective-dated.ts'
import { allRates, insertRate, rateInForce, ratesEffectiveFrom, setRateCancelled } from './repository.ts'

/** How much of `toCode` one unit of `fromCode` is worth from `effectiveAt` on, until a later row takes over. */
export type Rate = RowOf<'rates'>

/** A rate with the places of the minor unit of `toCode`, which a conversion is rounded to. */
export type RateInForce = Rate & { readonly minorUnitPlaces: number }

/** What is done with rates as with fees. */
export const rates = effectiveDatedPrices({
  name: 'rates',
  noun: 'Rate',
  pair: ['fromCode', 'toCode'],
  rowsFrom: ratesEffectiveFrom,
  allRows: allRates,
  setCancelled: setRateCancelled,
})

/** A rate that differs by more from the one that it takes over from is taken for a slip of the finger. */
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
 * Sets what one unit of a stablecoin is worth in a fiat currency, from now or from `effectiveAt` on.
 *
 * @param input `rate` a plain decimal; `effectiveAt` ISO 8601 in UTC; `isForced` takes a rate that differs by more than 20 %
 *   from the one in force when it takes over, if any is
 * @returns the rate, with `later` the pair's rates that will take over from it
 * @throws Refusal INVALID_INPUT
 */
export async function setRate(
  service: Service,
  input: z.input<typeof SetRateInput>,
): Promise<Rate & { readonly later: readonly Rate[] }> {
  return service.db.write(async (tx) => {
    const faults = rates.pairErrors(await assetCodesWithNetworks(tx), input)
    const { isForced, effectiveAt: asked, ...pairAndRate } = parseInput(SetRateInput, input, faults)
    const { place, later } = await rates.nextRevision(tx, service, { ...pairAndRate, asked })
    if (!isForced)
      rejectLargeDifference(pairAndRate.rate, await rateInForce(tx, { ...pairAndRate, at: place.effectiveAt }))
    const row = { ...pairAndRate, ...place }
    await insertRate(tx, row)
    return { ...row, later }
  })
}

/** Only operators set rates, and only by the command that has this flag. */
function rejectLargeDifference(rate: string, before: Rate | null): void {
  if (before === null) return
  const { percent, isOver } = percentChange(before.rate, rate, maxDifferencePercent)
  if (!isOver) return
  const message = `of ${rate} differs by ${percent} % from ${before.rate}, which is in force until then: more than ${maxDifferencePercent} % needs --force`
  throw invalidInput([{ field: 'rate', code: 'INVALID_PARAMETER', message }])
}
