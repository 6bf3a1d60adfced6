import type { Params } from '../database/query.ts'
import { insertRow, queryOne } from '../database/query.ts'
import { datedQueries } from '../lists/dated-rows.ts'

const { inForce, ...queries } = datedQueries('rates', 'fromCode', 'toCode')

/** A pair's rates from a time on, all that were ever set, and what cancels one. */
export const { rowsFrom: ratesFrom, allRows: allRates, setCancelled: setRateCancelled } = queries

export const insertRate = insertRow('rates')

/** The rate in force at `at`, with the places of the currency that it leads to. */
export const rateInForce = queryOne((p: Params<{ fromCode: string; toCode: string; at: string }>) =>
  inForce(p).innerJoin('assetCodes', 'assetCodes.code', 'rates.toCode').select('assetCodes.minorUnitPlaces'),
)
