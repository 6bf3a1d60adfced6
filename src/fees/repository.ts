import type { Params } from '../database/query.ts'
import { change, from, insertRow, query, queryOne, statementOne } from '../database/query.ts'

type Pair = { assetCode: string; recipientCurrency: string }

export const insertFee = insertRow('fees')

/** The fee in force at `at`: the latest that is effective by then; `null` where none was ever set. */
export const feeInForce = queryOne((p: Params<Pair & { at: string }>) =>
  from('fees')
    .selectAll()
    .where('assetCode', '=', p.assetCode)
    .where('recipientCurrency', '=', p.recipientCurrency)
    .where('effectiveAt', '<=', p.at)
    .where('cancelledAt', 'is', null)
    .orderBy('effectiveAt', 'desc')
    .limit(1),
)

/** The pair's fees from `at` on, cancelled ones too, the next first. */
export const feesFrom = query((p: Params<Pair & { at: string }>) =>
  from('fees')
    .selectAll()
    .where('assetCode', '=', p.assetCode)
    .where('recipientCurrency', '=', p.recipientCurrency)
    .where('effectiveAt', '>=', p.at)
    .orderBy('effectiveAt')
    .orderBy('revision'),
)

/** Every fee that was ever set, newest first within each pair; an operator's view. */
export const allFees = query(() =>
  from('fees')
    .selectAll()
    .orderBy('assetCode')
    .orderBy('recipientCurrency')
    .orderBy('effectiveAt', 'desc')
    .orderBy('revision', 'desc'),
)

/** Cancels a fee; `null` when it is cancelled already. */
export const setFeeCancelled = statementOne(
  (p: Params<Pair & { effectiveAt: string; revision: number; cancelledAt: string }>) =>
    change('fees')
      .set({ cancelledAt: p.cancelledAt })
      .where('assetCode', '=', p.assetCode)
      .where('recipientCurrency', '=', p.recipientCurrency)
      .where('effectiveAt', '=', p.effectiveAt)
      .where('revision', '=', p.revision)
      .where('cancelledAt', 'is', null)
      .returningAll(),
)
