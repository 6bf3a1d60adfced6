import type { Params } from '../database/query.ts'
import { from, insertRow, queryOne } from '../database/query.ts'

export const insertRate = insertRow('rates')

/** The rate in force at `at`, the latest that is effective by then, with the places of the currency that it leads to. */
export const rateInForce = queryOne((p: Params<{ fromCode: string; toCode: string; at: string }>) =>
  from('rates')
    .innerJoin('assetCodes', 'assetCodes.code', 'rates.toCode')
    .selectAll('rates')
    .select('assetCodes.minorUnitPlaces')
    .where('fromCode', '=', p.fromCode)
    .where('toCode', '=', p.toCode)
    .where('effectiveAt', '<=', p.at)
    .orderBy('effectiveAt', 'desc')
    .limit(1),
)
