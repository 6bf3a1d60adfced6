import { insertRow, sharedQuery } from '../../../database/query.ts'
import { buildEffectiveDatedQueries, buildInForceQuery } from '../repository.ts'

const { inForceWithin, ...queries } = buildEffectiveDatedQueries('fees', 'assetCode', 'recipientCurrency')

/** A pair's fees from a time on, all that were ever set, and what cancels one. */
export const { rowsFrom: feesEffectiveFrom, allRows: allFees, setCancelled: setFeeCancelled } = queries

export const insertFee = insertRow('fees')

/** The fee in force at `at`; `null` where none was ever set. */
export const feeInForce = buildInForceQuery(sharedQuery(inForceWithin))
