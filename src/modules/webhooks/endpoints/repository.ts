import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { DueTime } from '../../../core/ids-and-clock.ts'
import type { Params } from '../../../database/query.ts'
import {
  acrossMerchants,
  deleteFrom,
  insertInto,
  insertRow,
  listParam,
  merchantIdQuery,
  pickParams,
  query,
  queryOne,
  queryWithFilters,
  selectFrom,
  statement,
  statementOne,
  updateTable,
} from '../../../database/query.ts'
import type { NewRowOf } from '../../../database/tables.ts'
import { tables } from '../../../database/tables.ts'
import type { StoredWebhookEndpoint } from './webhook-endpoint.ts'

type EndpointKey = { merchantId: string; id: string }
type DeliveriesKey = { merchantId: string; endpointId: string }

export const insertWebhookEndpoint = insertRow('webhookEndpoints')

export const lockWebhookEndpointById = statementOne((p: Params<EndpointKey>) =>
  selectFrom('webhookEndpoints').selectAll().where('merchantId', '=', p.merchantId).where('id', '=', p.id).forUpdate(),
)

export const countEndpoints = queryOne((p: Params<{ merchantId: string }>) =>
  selectFrom('webhookEndpoints').select(sql<number>`count(*)`.as('count')).where('merchantId', '=', p.merchantId),
)

const { merchantId, id, sequence, createdAt, ...mutableColumnTypes } = tables.webhookEndpoints
const mutableColumns = Object.keys(mutableColumnTypes) as (keyof typeof mutableColumnTypes)[]

export const storeWebhookEndpoint = statementOne((p: Params<StoredWebhookEndpoint>) =>
  updateTable('webhookEndpoints')
    .set(pickParams(p, mutableColumns))
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .returning('id'),
)

export const deleteWebhookEndpointRow = statementOne((p: Params<EndpointKey>) =>
  deleteFrom('webhookEndpoints').where('merchantId', '=', p.merchantId).where('id', '=', p.id).returning('id'),
)

export const allSigningKeys = query(() =>
  acrossMerchants(selectFrom('webhookEndpoints').select('signingKeys').where('publicKey', 'is not', null)),
)

export const merchantOfWebhookEndpoint = merchantIdQuery('webhookEndpoints')

export const unhealthyEndpoints = query((p: Params<{ limit: number }>) =>
  acrossMerchants(
    selectFrom('webhookEndpoints')
      .select(['merchantId', 'id', 'url', 'status', 'disabledReason', 'failures', 'failingSince'])
      .where((eb) =>
        eb.or([
          eb('failingSince', 'is not', null),
          eb.and([eb('status', '=', sql.lit('disabled')), eb('disabledReason', '<>', sql.lit('by_request'))]),
        ]),
      )
      .orderBy('failingSince')
      .orderBy('id')
      .limit(p.limit),
  ),
)

export const eventAtOrBefore = queryOne((p: Params<{ merchantId: string; fromSequence: number }>) =>
  selectFrom('events')
    .select(['sequence', 'time'])
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '<=', p.fromSequence)
    .orderBy('sequence', 'desc')
    .limit(1),
)

type RequeuedDelivery = Pick<
  NewRowOf<'webhookDeliveries'>,
  'merchantId' | 'endpointId' | 'sequence' | 'objectId' | 'nextAttemptAt' | 'createdAt'
>

/** Schedules a delivery in any status, and restarts the delivery's retry schedule. */
export const requeueDelivery = statement((p: Params<RequeuedDelivery>) =>
  insertInto('webhookDeliveries')
    .values({
      ...pickParams(p, ['merchantId', 'endpointId', 'sequence', 'objectId', 'nextAttemptAt', 'createdAt']),
      status: 'pending',
      attempts: 0,
      attemptsBefore: 0,
    })
    .onConflict((conflict) =>
      conflict.columns(['merchantId', 'endpointId', 'sequence']).doUpdateSet({
        status: 'pending',
        nextAttemptAt: p.nextAttemptAt,
        attemptsBefore: sql<number>`webhook_deliveries.attempts`,
      }),
    ),
)

/** Deliveries that wait for an earlier event of their object keep waiting. */
export const retryDeliveriesNow = statement((p: Params<DeliveriesKey & { nextAttemptAt: DueTime }>) =>
  updateTable('webhookDeliveries')
    .set({ nextAttemptAt: p.nextAttemptAt })
    .where('merchantId', '=', p.merchantId)
    .where('endpointId', '=', p.endpointId)
    .where('status', '=', sql.lit('pending'))
    .where('nextAttemptAt', 'is not', null),
)

export const dropDeliveries = statement((p: Params<DeliveriesKey>) =>
  updateTable('webhookDeliveries')
    .set({ status: 'exhausted', nextAttemptAt: null })
    .where('merchantId', '=', p.merchantId)
    .where('endpointId', '=', p.endpointId)
    .where('status', '=', sql.lit('pending')),
)

type DeliveryRange = DeliveriesKey & {
  above: number
  below: number
  limit: number
  status: NewRowOf<'webhookDeliveries'>['status']
  /**
   * `isUndelivered` must be set if `status` is set and is not `delivered`, so that the database can use a partial
   * index.
   */
  isUndelivered: true
  fromTime: bigint
  beforeTime: bigint
  isAscending: true
}

const deliveryFilterNames = ['status', 'isUndelivered', 'fromTime', 'beforeTime'] as const

export const deliveriesInRange = queryWithFilters(
  [...deliveryFilterNames, 'isAscending'],
  (p: Params<DeliveryRange>, has) =>
    filterDeliveries(p, has)
      .selectAll('deliveries')
      .select(['events.type as eventType', 'events.time as eventTime'])
      .orderBy('deliveries.sequence', has('isAscending') ? 'asc' : 'desc')
      .limit(p.limit),
)

export const countDeliveries = queryWithFilters(
  deliveryFilterNames,
  (p: Params<Omit<DeliveryRange, 'isAscending'>>, has) =>
    selectFrom(filterDeliveries(p, has).select('deliveries.sequence').limit(p.limit).as('counted')).select(
      sql<number>`count(*)`.as('count'),
    ),
)

function filterDeliveries(
  p: Params<Omit<DeliveryRange, 'isAscending'>>,
  has: (filter: (typeof deliveryFilterNames)[number]) => boolean,
) {
  // A cross join fixes the join order in SQLite. With an ordinary join, SQLite scans all events of the merchant to
  // count a few deliveries.
  let rows = selectFrom('webhookDeliveries as deliveries')
    .crossJoin('events')
    .whereRef('events.merchantId', '=', 'deliveries.merchantId')
    .whereRef('events.sequence', '=', 'deliveries.sequence')
    .where('deliveries.merchantId', '=', p.merchantId)
    .where('deliveries.endpointId', '=', p.endpointId)
    .where('deliveries.sequence', '>', p.above)
    .where('deliveries.sequence', '<', p.below)
  if (has('status')) rows = rows.where('deliveries.status', '=', p.status)
  if (has('isUndelivered')) rows = rows.where('deliveries.status', '<>', sql.lit('delivered'))
  if (has('fromTime')) rows = rows.where('events.time', '>=', p.fromTime)
  return has('beforeTime') ? rows.where('events.time', '<', p.beforeTime) : rows
}

export const attemptsOfDeliveries = query(
  (p: Params<DeliveriesKey & { sequences: readonly number[]; limitEach: number }>) =>
    selectFrom('webhookAttempts as attempts')
      .innerJoin('webhookDeliveries as deliveries', (join) =>
        join
          .onRef('deliveries.merchantId', '=', 'attempts.merchantId')
          .onRef('deliveries.endpointId', '=', 'attempts.endpointId')
          .onRef('deliveries.sequence', '=', 'attempts.sequence'),
      )
      .selectAll('attempts')
      .where('deliveries.merchantId', '=', p.merchantId)
      .where('deliveries.endpointId', '=', p.endpointId)
      .where('deliveries.sequence', 'in', listParam(p.sequences))
      .where('attempts.attempt', '>', sql<number>`deliveries.attempts - ${p.limitEach}`)
      .orderBy('attempts.sequence')
      .orderBy('attempts.attempt'),
)

type RecentDeliveriesQuery = { endpoints: number; deliveries: number }

export const recentDeliveryCounts = query((p: Params<RecentDeliveriesQuery>) => {
  const newestDeliveries = (condition: RawBuilder<boolean>) =>
    selectFrom((eb) =>
      eb
        .selectFrom('webhookDeliveries')
        .select(['status', 'attempts'])
        .where('webhookDeliveries.merchantId', '=', sql<string>`endpoints.merchant_id`)
        .where('webhookDeliveries.endpointId', '=', sql<string>`endpoints.id`)
        .orderBy('sequence', 'desc')
        .limit(p.deliveries)
        .as('newest'),
    )
      .select(sql<number>`count(*)`.as('rowCount'))
      .where(condition)
  return acrossMerchants(
    selectFrom((eb) =>
      eb
        .selectFrom('webhookEndpoints')
        .select(['merchantId', 'id'])
        .where('status', '=', sql.lit('enabled'))
        .orderBy('id', 'desc')
        .limit(p.endpoints)
        .as('endpoints'),
    ).select([
      newestDeliveries(sql`true`).as('total'),
      newestDeliveries(sql`status = 'delivered'`).as('delivered'),
      newestDeliveries(sql`status = 'delivered' and attempts > 1`).as('retried'),
    ]),
  )
})
