import type { RowOf } from '../../../database/tables.ts'

/** How much of `toCode` one unit of `fromCode` is worth from `effectiveAt` on, until a later row takes over. */
export type Rate = RowOf<'rates'>

/** A rate with the places of the minor unit of `toCode`, which a conversion is rounded to. */
export type RateInForce = Rate & { readonly minorUnitPlaces: number }
