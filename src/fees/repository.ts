import type { Params } from '../database/query.ts'
import { from, insertRow, queryOne } from '../database/query.ts'

export const insertFee = insertRow('fees')

/** The fee in force at `at`: the latest that is effective by then; `null` where none was ever set. */
export const feeInForce = queryOne((p: Params<{ assetCode: string; recipientCurrency: string; at: string }>) =>
  from('fees')
    .selectAll()
    .where('assetCode', '=', p.assetCode)
    .where('recipientCurrency', '=', p.recipientCurrency)
    .where('effectiveAt', '<=', p.at)
    .orderBy('effectiveAt', 'desc')
    .limit(1),
)
