import { z } from 'zod'
import type { Service } from '../context.ts'
import { timestamp } from '../ids.ts'
import { oneOf, optional, optionalText, parse } from '../input.ts'
import type { Slice } from '../lists/slice.ts'
import { listInMemory, sliceFields, sliceOf } from '../lists/slice.ts'
import type { PriceState } from '../rates/effective-time.ts'
import { priceStates, withStates } from '../rates/effective-time.ts'
import type { Fee } from './fee.ts'
import { allFees } from './repository.ts'

export const ListFeesInput = z.object({
  assetCode: optionalText(),
  recipientCurrency: optionalText(),
  state: optional(oneOf(priceStates)),
  ...sliceFields,
})

/**
 * A slice of all fees that were ever set, by pair, newest first; what each is now. An unknown asset matches nothing.
 *
 * Reads them all: only operators list them, and there are as many as were set.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listFees(
  { db, now }: Service,
  input: z.input<typeof ListFeesInput>,
): Promise<Slice<Fee & { readonly state: PriceState }>> {
  const { assetCode, recipientCurrency, state, ...slice } = parse(ListFeesInput, input)
  const pairOf = (fee: Fee) => `${fee.assetCode} ${fee.recipientCurrency}`
  const found = withStates(await allFees(db, {}), { pairOf, now: timestamp(now()) }).filter(
    (fee) =>
      (assetCode === null || fee.assetCode === assetCode) &&
      (recipientCurrency === null || fee.recipientCurrency === recipientCurrency) &&
      (state === null || fee.state === state),
  )
  return sliceOf(listInMemory(['fees', { assetCode, recipientCurrency, state }], found), slice)
}
