import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import {
  acrossCustomers,
  acrossMerchants,
  insertInto,
  insertRow,
  listParam,
  pickParams,
  query,
  selectFrom,
  statement,
} from '../../database/query.ts'
import type { EventType, NewRowOf } from '../../database/tables.ts'

type SequenceReservation = { merchantId: string; name: 'events'; latest: number; latestTime: bigint }

export const reserveSequenceNumbers = statement((p: Params<SequenceReservation>) =>
  insertInto('sequences')
    .values({ ...pickParams(p, ['merchantId', 'name', 'latest', 'latestTime']), latestId: null, isSorted: 1 })
    .onConflict((conflict) =>
      conflict.columns(['merchantId', 'name']).doUpdateSet({ latest: sql<number>`sequences.latest + excluded.latest` }),
    ),
)

type EventInsertParams = Omit<NewRowOf<'events'>, 'sequence' | 'version' | 'data'> & { back: number }

const commonColumns = ['merchantId', 'type', 'objectId', 'time'] as const

/** The event's sequence is the last number that the transaction has reserved, minus `back`. */
export const insertEvent = statement((p: Params<EventInsertParams & { version: number }>) =>
  insertInto('events').values({
    ...pickParams(p, commonColumns),
    sequence: sequenceSubquery(p),
    version: p.version,
    data: null,
  }),
)

export const insertEventWithData = statement((p: Params<EventInsertParams & { data: object }>) =>
  insertInto('events').values({
    ...pickParams(p, commonColumns),
    sequence: sequenceSubquery(p),
    version: selectFrom('events')
      .select((eb) => sql<number>`coalesce(${eb.fn.max('version')}, 0) + 1`.as('next'))
      .where('merchantId', '=', p.merchantId)
      .where('objectId', '=', p.objectId)
      .where('data', 'is not', null),
    data: p.data,
  }),
)

function sequenceSubquery(p: Params<EventInsertParams>) {
  return selectFrom('sequences')
    .select(sql<number>`latest - ${p.back}`.as('sequence'))
    .where('merchantId', '=', p.merchantId)
    .where('name', '=', 'events')
}

export const insertEventRow = insertRow('events')

/**
 * The id of an event's ledger transfer. The query must join `payouts` by `events.object_id`, and `payout_events` by
 * payout id and status. The opening transfer of an imported wallet has the wallet's id.
 *
 * PostgreSQL's COALESCE is not leakproof, so COALESCE would prevent the use of an index under row-level security.
 */
export const transferIdOfEvent = sql<string>`case events.type when 'wallet.transaction.inbound' then events.object_id
  when 'deposit.reversed' then events.object_id when 'wallet.created' then events.object_id
  when 'payout.initiated' then payouts.transfer_id else payout_events.transfer_id end`

export const eventsAfter = query((p: Params<{ merchantId: string; after: number; limit: number }>) =>
  selectFrom('events')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '>', p.after)
    .orderBy('sequence')
    .limit(p.limit),
)

export const eventsOfTypes = query(
  (p: Params<{ merchantId: string; after: number; through: number; types: readonly EventType[]; limit: number }>) =>
    selectFrom('events')
      .selectAll()
      .where('merchantId', '=', p.merchantId)
      .where('sequence', '>', p.after)
      .where('sequence', '<=', p.through)
      .where('type', 'in', listParam(p.types))
      .orderBy('sequence')
      .limit(p.limit),
)

export const eventsWithin = query((p: Params<{ merchantId: string; after: number; through: number }>) =>
  selectFrom('events')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '>', p.after)
    .where('sequence', '<=', p.through)
    .orderBy('sequence'),
)

export const eventsBySequence = query((p: Params<{ merchantId: string; sequences: readonly number[] }>) =>
  selectFrom('events')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('sequence', 'in', listParam(p.sequences)),
)

/** All subscribers share this query, so the query reads several merchants with all their customers. */
export const latestEventSequences = query((p: Params<{ merchantIds: readonly string[] }>) =>
  acrossCustomers(
    acrossMerchants(
      selectFrom('sequences')
        .select(['merchantId', 'latest'])
        .where('merchantId', 'in', listParam(p.merchantIds))
        .where('name', '=', 'events'),
    ),
  ),
)
