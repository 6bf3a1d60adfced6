import { z } from 'zod'
import type { Service } from '../context.ts'
import { timestamp } from '../ids.ts'
import { oneOf, optional, optionalText, parse } from '../input.ts'
import type { Slice } from '../lists/slice.ts'
import { listInMemory, sliceFields, sliceOf } from '../lists/slice.ts'
import type { PriceState } from './effective-time.ts'
import { priceStates, withStates } from './effective-time.ts'
import type { Rate } from './rate.ts'
import { allRates } from './repository.ts'

export const ListRatesInput = z.object({
  fromCode: optionalText(),
  toCode: optionalText(),
  state: optional(oneOf(priceStates)),
  ...sliceFields,
})

/**
 * A slice of all rates that were ever set, by pair, newest first; what each is now. An unknown asset matches nothing.
 *
 * Reads them all: only operators list them, and there are as many as were set.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listRates(
  { db, now }: Service,
  input: z.input<typeof ListRatesInput>,
): Promise<Slice<Rate & { readonly state: PriceState }>> {
  const { fromCode, toCode, state, ...slice } = parse(ListRatesInput, input)
  const pairOf = (rate: Rate) => `${rate.fromCode} ${rate.toCode}`
  const found = withStates(await allRates(db, {}), { pairOf, now: timestamp(now()) }).filter(
    (rate) =>
      (fromCode === null || rate.fromCode === fromCode) &&
      (toCode === null || rate.toCode === toCode) &&
      (state === null || rate.state === state),
  )
  return sliceOf(listInMemory(['rates', { fromCode, toCode, state }], found), slice)
}
