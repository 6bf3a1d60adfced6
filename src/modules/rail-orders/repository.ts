import type { Params } from '../../database/query.ts'
import {
  change,
  from,
  insertRow,
  into,
  list,
  query,
  remove,
  sameNames,
  sharedQuery,
  statement,
  statementOne,
} from '../../database/query.ts'
import type { NewRowOf } from '../../database/tables.ts'

type OrderKey = { merchantId: string; orderId: string }

/** Puts a payout on its way; only beside the payout itself. */
export const insertTransfer = insertRow('payoutTransfers')

/** The transfers among those of some orders. */
export const transfersOfOrders = query((p: Params<{ merchantId: string; orderIds: readonly string[] }>) =>
  from('payoutTransfers').selectAll().where('orderId', 'in', list(p.orderIds)).where('merchantId', '=', p.merchantId),
)

/** The transfer of an order, which nobody else changes until the transaction ends. */
export const lockTransfer = statementOne((p: Params<OrderKey>) =>
  from('payoutTransfers')
    .selectAll()
    .where('orderId', '=', p.orderId)
    .where('merchantId', '=', p.merchantId)
    .forUpdate(),
)

const changing = [
  'state',
  'dueAt',
  'asked',
  'attempts',
  'submittedAt',
  'reference',
  'cancelAskedAt',
  'history',
  'updatedAt',
] as const

/** Writes what a transfer has become. */
export const storeTransfer = statement((p: Params<NewRowOf<'payoutTransfers'>>) =>
  change('payoutTransfers')
    .set(sameNames(p, changing))
    .where('orderId', '=', p.orderId)
    .where('merchantId', '=', p.merchantId),
)

/** Which rail carries what, as an operator has said. */
export const railRoutes = sharedQuery(() => from('railRoutes').selectAll())

/** The same as it is in the database now. */
export const transferRoutes = query(() =>
  from('railRoutes').selectAll().orderBy('assetCode').orderBy('currency').orderBy('country'),
)

const routeKey = ['assetCode', 'currency', 'country'] as const

export const storeRoute = statement((p: Params<NewRowOf<'railRoutes'>>) =>
  into('railRoutes')
    .values(sameNames(p, [...routeKey, 'rail']))
    .onConflict((conflict) => conflict.columns([...routeKey]).doUpdateSet({ rail: p.rail })),
)

export const removeRoute = statementOne((p: Params<Omit<NewRowOf<'railRoutes'>, 'rail'>>) =>
  remove('railRoutes')
    .where('assetCode', '=', p.assetCode)
    .where('currency', '=', p.currency)
    .where('country', '=', p.country)
    .returningAll(),
)

/** Rails to which nothing is submitted. */
export const pausedRails = query(() => from('pausedRails').selectAll().orderBy('rail'))

export const pauseRail = statement((p: Params<{ rail: string; pausedAt: string }>) =>
  into('pausedRails')
    .values(sameNames(p, ['rail', 'pausedAt']))
    .onConflict((conflict) => conflict.column('rail').doNothing()),
)

export const resumeRail = statementOne((p: Params<{ rail: string }>) =>
  remove('pausedRails').where('rail', '=', p.rail).returningAll(),
)
