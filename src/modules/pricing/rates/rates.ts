import { datedPrices } from '../effective-dated.ts'
import { allRates, ratesFrom, setRateCancelled } from './repository.ts'

/** What is done with rates as with fees. */
export const rates = datedPrices({
  name: 'rates',
  noun: 'Rate',
  pair: ['fromCode', 'toCode'],
  rowsFrom: ratesFrom,
  allRows: allRates,
  setCancelled: setRateCancelled,
})
