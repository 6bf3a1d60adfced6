import type { Params } from '../database/query.ts'
import { change, from, insertRow, query, queryOne, statementOne } from '../database/query.ts'

type Pair = { fromCode: string; toCode: string }

export const insertRate = insertRow('rates')

/** The rate in force at `at`, the latest that is effective by then, with the places of the currency that it leads to. */
export const rateInForce = queryOne((p: Params<Pair & { at: string }>) =>
  from('rates')
    .innerJoin('assetCodes', 'assetCodes.code', 'rates.toCode')
    .selectAll('rates')
    .select('assetCodes.minorUnitPlaces')
    .where('fromCode', '=', p.fromCode)
    .where('toCode', '=', p.toCode)
    .where('effectiveAt', '<=', p.at)
    .where('cancelledAt', 'is', null)
    .orderBy('effectiveAt', 'desc')
    .limit(1),
)

/** The pair's rates from `at` on, cancelled ones too, the next first. */
export const ratesFrom = query((p: Params<Pair & { at: string }>) =>
  from('rates')
    .selectAll()
    .where('fromCode', '=', p.fromCode)
    .where('toCode', '=', p.toCode)
    .where('effectiveAt', '>=', p.at)
    .orderBy('effectiveAt')
    .orderBy('revision'),
)

/** Every rate that was ever set, newest first within each pair; an operator's view. */
export const allRates = query(() =>
  from('rates')
    .selectAll()
    .orderBy('fromCode')
    .orderBy('toCode')
    .orderBy('effectiveAt', 'desc')
    .orderBy('revision', 'desc'),
)

/** Cancels a rate; `null` when it is cancelled already. */
export const setRateCancelled = statementOne(
  (p: Params<Pair & { effectiveAt: string; revision: number; cancelledAt: string }>) =>
    change('rates')
      .set({ cancelledAt: p.cancelledAt })
      .where('fromCode', '=', p.fromCode)
      .where('toCode', '=', p.toCode)
      .where('effectiveAt', '=', p.effectiveAt)
      .where('revision', '=', p.revision)
      .where('cancelledAt', 'is', null)
      .returningAll(),
)
