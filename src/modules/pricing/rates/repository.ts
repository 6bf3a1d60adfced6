import type { Params } from '../../../database/query.ts'
import { insertRow, sharedQuery } from '../../../database/query.ts'
import { buildEffectiveDatedQueries, buildInForceQuery } from '../repository.ts'

const { inForceWithin, ...queries } = buildEffectiveDatedQueries('rates', 'fromCode', 'toCode')

/** A pair's rates from a time on, all that were ever set, and what cancels one. */
export const { rowsFrom: ratesEffectiveFrom, allRows: allRates, setCancelled: setRateCancelled } = queries

export const insertRate = insertRow('rates')

/** The rate in force at `at`, with the places of the currency that it leads to; `null` where the pair has none. */
export const rateInForce = buildInForceQuery(
  sharedQuery((p: Params<{ fromCode: string; toCode: string; start: string; end: string }>) =>
    inForceWithin(p).innerJoin('assetCodes', 'assetCodes.code', 'rates.toCode').select('assetCodes.minorUnitPlaces'),
  ),
)
