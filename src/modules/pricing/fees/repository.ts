import { insertRow, sharedQuery } from '../../../database/query.ts'
import { effectiveDatedQueries, queryInForceAt } from '../repository.ts'

const { inForceWithin, ...queries } = effectiveDatedQueries('fees', 'assetCode', 'recipientCurrency')

/** A pair's fees from a time on, all that were ever set, and what cancels one. */
export const { rowsFrom: feesEffectiveFrom, allRows: allFees, setCancelled: setFeeCancelled } = queries

export const insertFee = insertRow('fees')

/** The fee in force at `at`; `null` where none was ever set. */
export const feeInForce = queryInForceAt(sharedQuery(inForceWithin))
