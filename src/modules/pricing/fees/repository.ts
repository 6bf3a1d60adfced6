import { insertRow, sharedQuery } from '../../../database/query.ts'
import { datedQueries, inForceAt } from '../repository.ts'

const { inForceWithin, ...queries } = datedQueries('fees', 'assetCode', 'recipientCurrency')

/** A pair's fees from a time on, all that were ever set, and what cancels one. */
export const { rowsFrom: feesFrom, allRows: allFees, setCancelled: setFeeCancelled } = queries

export const insertFee = insertRow('fees')

/** The fee in force at `at`; `null` where none was ever set. */
export const feeInForce = inForceAt(sharedQuery(inForceWithin))
