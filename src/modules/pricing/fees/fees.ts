import { effectiveDatedPrices } from '../effective-dated.ts'
import { allFees, feesEffectiveFrom, setFeeCancelled } from './repository.ts'

/** What is done with fees as with rates. */
export const fees = effectiveDatedPrices({
  name: 'fees',
  noun: 'Fee',
  pair: ['assetCode', 'recipientCurrency'],
  rowsFrom: feesEffectiveFrom,
  allRows: allFees,
  setCancelled: setFeeCancelled,
})
