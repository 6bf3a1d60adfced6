import { sql } from 'kysely'
import type { DueTime } from '../../../core/ids-and-clock.ts'
import type { Params } from '../../../database/query.ts'
import {
  acrossMerchants,
  deleteFrom,
  insertInto,
  insertRow,
  listParam,
  pickParams,
  query,
  queryOne,
  selectFrom,
  statement,
  statementOne,
  updateTable,
} from '../../../database/query.ts'
import type { NewRowOf } from '../../../database/tables.ts'

type EndpointRef = { merchantId: string; endpointId: string }

/** The query omits long columns of endpoints, because the query runs every second. */
export const activeEndpoints = query(() =>
  acrossMerchants(
    selectFrom('webhookEndpoints')
      .select(['merchantId', 'id', 'status', 'probeAt', 'updatedAt'])
      .where((eb) => eb.or([eb('status', '=', sql.lit('enabled')), eb('probeAt', 'is not', null)])),
  ),
)

export const endpointsByIds = query((p: Params<{ merchantId: string; ids: readonly string[] }>) =>
  selectFrom('webhookEndpoints').selectAll().where('merchantId', '=', p.merchantId).where('id', 'in', listParam(p.ids)),
)

export const dueDeliveries = query((p: Params<EndpointRef & { now: DueTime; limit: number }>) =>
  selectFrom('webhookDeliveries as due')
    .select(['due.sequence', 'due.objectId', 'due.attempts', 'due.attemptsBefore'])
    .where('due.merchantId', '=', p.merchantId)
    .where('due.endpointId', '=', p.endpointId)
    .where('due.status', '=', sql.lit('pending'))
    .where('due.nextAttemptAt', '<=', p.now)
    // If the merchant replayed a later event of the same object, two deliveries of the object can be due.
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('webhookDeliveries as earlier')
            .select('earlier.sequence')
            .where('earlier.merchantId', '=', p.merchantId)
            .where('earlier.endpointId', '=', p.endpointId)
            .where('earlier.status', '=', sql.lit('pending'))
            .whereRef('earlier.objectId', '=', 'due.objectId')
            .whereRef('earlier.sequence', '<', 'due.sequence'),
        ),
      ),
    )
    .orderBy('due.nextAttemptAt')
    .limit(p.limit),
)

export const nextDueTime = queryOne((p: Params<EndpointRef & { after: DueTime }>) =>
  selectFrom('webhookDeliveries')
    .select('nextAttemptAt')
    .where('merchantId', '=', p.merchantId)
    .where('endpointId', '=', p.endpointId)
    .where('status', '=', sql.lit('pending'))
    .where('nextAttemptAt', '>', p.after)
    .orderBy('nextAttemptAt')
    .limit(1),
)

/** The query uses `exists`, because an object can have many deliveries. */
export const pendingObjects = query((p: Params<EndpointRef & { sequences: readonly number[] }>) =>
  selectFrom('events')
    .select('events.objectId')
    .where('events.merchantId', '=', p.merchantId)
    .where('events.sequence', 'in', listParam(p.sequences))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('webhookDeliveries as pending')
          .select('pending.sequence')
          .where('pending.merchantId', '=', p.merchantId)
          .where('pending.endpointId', '=', p.endpointId)
          .where('pending.status', '=', sql.lit('pending'))
          .whereRef('pending.objectId', '=', 'events.objectId'),
      ),
    ),
)

type NewDeliveryRow = NewRowOf<'webhookDeliveries'>
const deliveryColumns = ['merchantId', 'endpointId', 'sequence', 'objectId', 'createdAt'] as const
const outcomeColumns = ['status', 'nextAttemptAt', 'attempts', 'attemptsBefore'] as const

export const deliveriesBySequence = query((p: Params<EndpointRef & { sequences: readonly number[] }>) =>
  selectFrom('webhookDeliveries')
    .select(['sequence', 'status', 'attempts', 'attemptsBefore', 'nextAttemptAt'])
    .where('merchantId', '=', p.merchantId)
    .where('endpointId', '=', p.endpointId)
    .where('sequence', 'in', listParam(p.sequences)),
)

export const storeDelivery = statement((p: Params<NewDeliveryRow>) =>
  insertInto('webhookDeliveries')
    .values(pickParams(p, [...deliveryColumns, ...outcomeColumns]))
    .onConflict((conflict) =>
      conflict.columns(['merchantId', 'endpointId', 'sequence']).doUpdateSet(pickParams(p, outcomeColumns)),
    ),
)

export const storeWaitingDelivery = statement(
  (p: Params<Pick<NewDeliveryRow, 'merchantId' | 'endpointId' | 'sequence' | 'objectId' | 'createdAt'>>) =>
    insertInto('webhookDeliveries')
      .values({
        ...pickParams(p, deliveryColumns),
        status: 'pending',
        nextAttemptAt: null,
        attempts: sql.lit(0),
        attemptsBefore: sql.lit(0),
      })
      .onConflict((conflict) =>
        conflict.columns(['merchantId', 'endpointId', 'sequence']).doUpdateSet({
          status: 'pending',
          nextAttemptAt: null,
          attemptsBefore: sql<number>`webhook_deliveries.attempts`,
        }),
      ),
)

export const releaseObject = statement((p: Params<EndpointRef & { objectId: string; now: DueTime }>) =>
  updateTable('webhookDeliveries')
    .set({ nextAttemptAt: p.now })
    .where('merchantId', '=', p.merchantId)
    .where('endpointId', '=', p.endpointId)
    .where('objectId', '=', p.objectId)
    .where('status', '=', sql.lit('pending'))
    .where('nextAttemptAt', 'is', null)
    .where('sequence', '=', (eb) =>
      eb
        .selectFrom('webhookDeliveries')
        .select((first) => first.fn.min('sequence').as('first'))
        .where('merchantId', '=', p.merchantId)
        .where('endpointId', '=', p.endpointId)
        .where('objectId', '=', p.objectId)
        .where('status', '=', sql.lit('pending')),
    ),
)

export const insertAttempt = insertRow('webhookAttempts')

/** Updates only those columns of the endpoint that the merchant cannot set. */
export const storeEndpointProgress = statement(
  (p: Params<Pick<NewRowOf<'webhookEndpoints'>, 'merchantId' | 'id' | 'cursor' | 'failures' | 'failingSince'>>) =>
    updateTable('webhookEndpoints')
      .set(pickParams(p, ['cursor', 'failures', 'failingSince']))
      .where('merchantId', '=', p.merchantId)
      .where('id', '=', p.id),
)

export const allLeases = query(() => acrossMerchants(selectFrom('webhookLeases').selectAll()))

type LeaseRow = { merchantId: string; holder: string; until: DueTime }

/**
 * Acquires a lease that is free, belongs to `holder`, has expired (before `from`), or has an impossible expiry (after
 * `to`).
 */
export const acquireLease = statementOne((p: Params<LeaseRow & { from: DueTime; to: DueTime }>) =>
  insertInto('webhookLeases')
    .values(pickParams(p, ['merchantId', 'holder', 'until']))
    .onConflict((conflict) =>
      conflict
        .columns(['merchantId'])
        .doUpdateSet(pickParams(p, ['holder', 'until']))
        .where((eb) =>
          eb.or([
            eb('webhookLeases.until', '<', p.from),
            eb('webhookLeases.until', '>', p.to),
            eb('webhookLeases.holder', '=', p.holder),
          ]),
        ),
    )
    .returning('merchantId'),
)

export const renewLeases = statement((p: Params<{ holder: string; until: DueTime }>) =>
  acrossMerchants(
    updateTable('webhookLeases').set({ until: p.until }).where('holder', '=', p.holder).returning('merchantId'),
  ),
)

export const nextDeliveryLog = queryOne((p: Params<EndpointRef>) =>
  acrossMerchants(
    selectFrom('webhookDeliveries')
      .select(['merchantId', 'endpointId'])
      .where((eb) =>
        eb.or([
          eb('merchantId', '>', p.merchantId),
          eb.and([eb('merchantId', '=', p.merchantId), eb('endpointId', '>', p.endpointId)]),
        ]),
      )
      .orderBy('merchantId')
      .orderBy('endpointId')
      .limit(1),
  ),
)

export const removeDeliveries = statement((p: Params<EndpointRef & { before: number; since: string; limit: number }>) =>
  deleteFrom('webhookDeliveries')
    .where('merchantId', '=', p.merchantId)
    .where('endpointId', '=', p.endpointId)
    .where('sequence', 'in', (eb) =>
      eb
        .selectFrom('webhookDeliveries as old')
        .select('old.sequence')
        .where('old.merchantId', '=', p.merchantId)
        .where('old.endpointId', '=', p.endpointId)
        .where('old.sequence', '<', p.before)
        .where((is) =>
          is.or([
            is('old.status', '<>', sql.lit('pending')),
            is.not(
              is.exists(
                is
                  .selectFrom('webhookEndpoints as endpoints')
                  .select('endpoints.id')
                  .where('endpoints.merchantId', '=', p.merchantId)
                  .where('endpoints.id', '=', p.endpointId),
              ),
            ),
          ]),
        )
        .where((is) =>
          is.not(
            is.exists(
              is
                .selectFrom('webhookAttempts as attempts')
                .select('attempts.attempt')
                .where('attempts.merchantId', '=', p.merchantId)
                .where('attempts.endpointId', '=', p.endpointId)
                .whereRef('attempts.sequence', '=', 'old.sequence')
                .where('attempts.attemptedAt', '>=', p.since),
            ),
          ),
        )
        .orderBy('old.sequence')
        .limit(p.limit),
    )
    .returning('sequence'),
)

export const removeAttempts = statement((p: Params<EndpointRef & { sequences: readonly number[] }>) =>
  deleteFrom('webhookAttempts')
    .where('merchantId', '=', p.merchantId)
    .where('endpointId', '=', p.endpointId)
    .where('sequence', 'in', listParam(p.sequences)),
)
