import { effectiveDatedPrices } from '../effective-dated.ts'
import { allRates, ratesEffectiveFrom, setRateCancelled } from './repository.ts'

/** What is done with rates as with fees. */
export const rates = effectiveDatedPrices({
  name: 'rates',
  noun: 'Rate',
  pair: ['fromCode', 'toCode'],
  rowsFrom: ratesEffectiveFrom,
  allRows: allRates,
  setCancelled: setRateCancelled,
})
