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

/** Takes the next numbers of a merchant's events, `latest` of them. */
export const reserveSequenceNumbers = statement((p: Params<SequenceReservation>) =>
  insertInto('sequences')
    .values(pickParams(p, ['merchantId', 'name', 'latest', 'latestTime']))
    .onConflict((conflict) =>
      conflict.columns(['merchantId', 'name']).doUpdateSet({ latest: sql<number>`sequences.latest + excluded.latest` }),
    ),
)

type EventInsertParams = Omit<NewRowOf<'events'>, 'sequence' | 'version' | 'data'> & { back: number }

const commonColumns = ['merchantId', 'type', 'objectId', 'time'] as const

/** Writes an event that stands so many before the latest number. */
export const insertEvent = statement((p: Params<EventInsertParams & { version: number }>) =>
  insertInto('events').values({
    ...pickParams(p, commonColumns),
    sequence: sequenceSubquery(p),
    version: p.version,
    data: null,
  }),
)

/** The same of an object that may change at any time: the next of its events, which keeps what it is now. */
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

/** Writes events that were numbered already: for bulk work. */
export const insertEventRow = insertRow('events')

/** Events after a number, in their order. */
export const eventsAfter = query((p: Params<{ merchantId: string; after: number; limit: number }>) =>
  selectFrom('events')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('sequence', '>', p.after)
    .orderBy('sequence')
    .limit(p.limit),
)

/** Those of some types, up to another number. */
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

/** All of them up to another number. */
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

/** The latest number of each of some merchants, whoever of a merchant asks first: all who follow share the look. */
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
