import { datedPrices } from '../effective-dated.ts'
import { allFees, feesFrom, setFeeCancelled } from './repository.ts'

/** What is done with fees as with rates. */
export const fees = datedPrices({
  name: 'fees',
  noun: 'Fee',
  pair: ['assetCode', 'recipientCurrency'],
  rowsFrom: feesFrom,
  allRows: allFees,
  setCancelled: setFeeCancelled,
})
