import type { Params } from '../../database/query.ts'
import {
  deleteFrom,
  insertInto,
  insertRow,
  listParam,
  pickParams,
  query,
  selectFrom,
  sharedQuery,
  statement,
  statementOne,
  updateTable,
} from '../../database/query.ts'
import type { NewRowOf } from '../../database/tables.ts'

type RailOrderKey = { merchantId: string; orderId: string }

/** The rail order must be inserted in the same transaction as the payout. */
export const insertRailOrder = insertRow('payoutTransfers')

export const railOrdersByIds = query((p: Params<{ merchantId: string; orderIds: readonly string[] }>) =>
  selectFrom('payoutTransfers')
    .selectAll()
    .where('orderId', 'in', listParam(p.orderIds))
    .where('merchantId', '=', p.merchantId),
)

export const lockRailOrder = statementOne((p: Params<RailOrderKey>) =>
  selectFrom('payoutTransfers')
    .selectAll()
    .where('orderId', '=', p.orderId)
    .where('merchantId', '=', p.merchantId)
    .forUpdate(),
)

const mutableColumns = [
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

export const saveRailOrder = statement((p: Params<NewRowOf<'payoutTransfers'>>) =>
  updateTable('payoutTransfers')
    .set(pickParams(p, mutableColumns))
    .where('orderId', '=', p.orderId)
    .where('merchantId', '=', p.merchantId),
)

export const cachedRailRoutes = sharedQuery(() => selectFrom('railRoutes').selectAll())

export const currentRailRoutes = query(() =>
  selectFrom('railRoutes').selectAll().orderBy('assetCode').orderBy('currency').orderBy('country'),
)

const routeKey = ['assetCode', 'currency', 'country'] as const

export const upsertRailRoute = statement((p: Params<NewRowOf<'railRoutes'>>) =>
  insertInto('railRoutes')
    .values(pickParams(p, [...routeKey, 'rail']))
    .onConflict((conflict) => conflict.columns([...routeKey]).doUpdateSet({ rail: p.rail })),
)

export const deleteRailRoute = statementOne((p: Params<Omit<NewRowOf<'railRoutes'>, 'rail'>>) =>
  deleteFrom('railRoutes')
    .where('assetCode', '=', p.assetCode)
    .where('currency', '=', p.currency)
    .where('country', '=', p.country)
    .returningAll(),
)

export const pausedRails = query(() => selectFrom('pausedRails').selectAll().orderBy('rail'))

export const insertPausedRail = statement((p: Params<{ rail: string; pausedAt: string }>) =>
  insertInto('pausedRails')
    .values(pickParams(p, ['rail', 'pausedAt']))
    .onConflict((conflict) => conflict.column('rail').doNothing()),
)

export const deletePausedRail = statementOne((p: Params<{ rail: string }>) =>
  deleteFrom('pausedRails').where('rail', '=', p.rail).returningAll(),
)
