import { sql } from 'kysely'
import type { Params, Tx } from '../../database/query.ts'
import {
  acrossMerchants,
  deleteFrom,
  insertInto,
  listParam,
  pickParams,
  query,
  queryOne,
  selectFrom,
  statement,
  statementOne,
  updateTable,
} from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import { transferIdOfEvent } from '../outbox/repository.ts'
import type { BalanceChange } from './balance-changes.ts'
import type { StatisticsChange } from './payout-statistics.ts'

/** One SQL statement adds up to 16 statistics rows, so a typical seal needs at most six statements. */
const statementSizes = [16, 4, 1] as const

/** Each change must update a different row, because one statement cannot update a row twice. */
export const addToStatistics = addToSums<StatisticsChange>('payoutStatistics', {
  key: ['day', 'assetCode', 'recipientCurrency', 'status', 'durationBucket'],
  sums: ['payoutCount', 'amountUnits', 'amountRest', 'feeUnits', 'feeRest'],
})

/** Each change must update a different row, because one statement cannot update a row twice. */
export const addToBalances = addToSums<BalanceChange>('dailyBalanceChanges', {
  key: ['day', 'assetCode'],
  sums: ['changeUnits', 'changeRest'],
})

type RowParams = { merchantId: string; [name: string]: unknown }

function addToSums<Change extends object>(
  table: 'payoutStatistics' | 'dailyBalanceChanges',
  { key, sums }: Readonly<Record<'key' | 'sums', readonly (keyof Change & string)[]>>,
) {
  const columns = [...key, ...sums]
  const additions = statementSizes.map((size) => {
    const names = Array.from({ length: size }, (_, row) => columns.map((column) => `${column}${row}`))
    return { size, names, add: statement((p: Params<RowParams>) => insertSums(p, names)) }
  })

  function insertSums(p: Params<RowParams>, names: readonly (readonly string[])[]) {
    const rows = names.map((rowNames) => {
      const change = columns.map((column, place) => [column, p[rowNames[place] as string]])
      return { merchantId: p.merchantId, ...Object.fromEntries(change) }
    })
    const added = sums.map((sum) => [sum, sql`${sql.ref(`${table}.${sum}`)} + ${sql.ref(`excluded.${sum}`)}`])
    // Kysely can't type computed column names.
    return insertInto(table)
      .values(rows)
      .onConflict((conflict) =>
        conflict.columns(['merchantId', ...key] as never).doUpdateSet(Object.fromEntries(added) as never),
      )
  }

  return async (tx: Tx, { merchantId, changes }: { merchantId: string; changes: readonly Change[] }): Promise<void> => {
    let first = 0
    for (const { size, names, add } of additions) {
      for (; changes.length - first >= size; first += size) {
        const params: RowParams = { merchantId }
        for (const [row, rowNames] of names.entries()) {
          const change = changes[first + row] as Change
          for (const [place, column] of columns.entries()) params[rowNames[place] as string] = change[column]
        }
        await add(tx, params)
      }
    }
  }
}

type EventRange = { merchantId: string; after: number; through: number }

/** Returns `null` if the statistics cursor is not at `after`. */
export const advanceCursor = statementOne((p: Params<EventRange>) =>
  updateTable('statisticsCursors')
    .set({ through: p.through })
    .where('merchantId', '=', p.merchantId)
    .where('through', '=', p.after)
    .returning('through'),
)

export const insertCursor = statementOne((p: Params<{ merchantId: string; through: number }>) =>
  insertInto('statisticsCursors')
    .values(pickParams(p, ['merchantId', 'through']))
    .onConflict((conflict) => conflict.columns(['merchantId']).doNothing())
    .returning('through'),
)

export const resetCursor = statement((p: Params<{ merchantId: string }>) =>
  insertInto('statisticsCursors')
    .values({ merchantId: p.merchantId, through: 0 })
    .onConflict((conflict) => conflict.columns(['merchantId']).doUpdateSet({ through: 0 })),
)

export const deleteBalanceChanges = statement((p: Params<{ merchantId: string }>) =>
  deleteFrom('dailyBalanceChanges').where('merchantId', '=', p.merchantId),
)

export const deleteStatistics = statement((p: Params<{ merchantId: string }>) =>
  deleteFrom('payoutStatistics').where('merchantId', '=', p.merchantId),
)

const statusOfEvent = sql<RowOf<'payoutEvents'>['status']>`upper(substr(events.type, 8))`

function payoutEventsBetween(p: Params<EventRange>) {
  return selectFrom('events')
    .innerJoin('payouts', (join) =>
      join.onRef('payouts.merchantId', '=', 'events.merchantId').onRef('payouts.id', '=', 'events.objectId'),
    )
    .select('events.type')
    .select(['payouts.assetCode', 'payouts.recipientCurrency', 'payouts.amount', 'payouts.fee', 'payouts.createdAt'])
    .where('events.merchantId', '=', p.merchantId)
    .where('events.sequence', '>', p.after)
    .where('events.sequence', '<=', p.through)
}

export const statusChangesBetween = query((p: Params<EventRange>) =>
  payoutEventsBetween(p).select('events.time').orderBy('events.sequence'),
)

/** Omits events without a ledger transfer. */
export const transfersBetween = query((p: Params<EventRange>) =>
  selectFrom('events')
    .leftJoin('payouts', (join) =>
      join.onRef('payouts.merchantId', '=', 'events.merchantId').onRef('payouts.id', '=', 'events.objectId'),
    )
    .leftJoin('payoutEvents', (join) =>
      join
        .onRef('payoutEvents.merchantId', '=', 'events.merchantId')
        .onRef('payoutEvents.payoutId', '=', 'events.objectId')
        .on('payoutEvents.status', '=', statusOfEvent),
    )
    .innerJoin('transfers', (join) =>
      join.onRef('transfers.merchantId', '=', 'events.merchantId').on('transfers.id', '=', transferIdOfEvent),
    )
    .select(['transfers.kind', 'transfers.assetCode', 'transfers.amount', 'transfers.fee', 'transfers.createdAt'])
    .where('events.merchantId', '=', p.merchantId)
    .where('events.sequence', '>', p.after)
    .where('events.sequence', '<=', p.through),
)

type DayRange = { merchantIds: readonly string[]; from: string; through: string }

function countsWithin(p: Params<DayRange>) {
  return selectFrom('payoutStatistics')
    .select(sql<bigint>`sum(payout_count)`.as('payoutCount'))
    .where('merchantId', 'in', listParam(p.merchantIds))
    .where('day', '>=', p.from)
    .where('day', '<=', p.through)
}

function statisticsWithin(p: Params<DayRange>) {
  return countsWithin(p).select([
    sql<bigint>`sum(amount_units)`.as('amountUnits'),
    sql<bigint>`sum(amount_rest)`.as('amountRest'),
  ])
}

export const statisticsByDay = query((p: Params<DayRange>) =>
  acrossMerchants(statisticsWithin(p).select(['day', 'assetCode', 'status']).groupBy(['day', 'assetCode', 'status'])),
)

export const payoutCountWithin = queryOne((p: Params<DayRange>) => acrossMerchants(countsWithin(p)))

export const creationsByAsset = query((p: Params<DayRange>) =>
  acrossMerchants(
    statisticsWithin(p).select('assetCode').where('status', '=', sql.lit('PROCESSING')).groupBy('assetCode'),
  ),
)

export const statisticsByCorridor = query((p: Params<DayRange>) =>
  acrossMerchants(
    statisticsWithin(p)
      .select([sql<bigint>`sum(fee_units)`.as('feeUnits'), sql<bigint>`sum(fee_rest)`.as('feeRest')])
      .select(['assetCode', 'recipientCurrency', 'status', 'durationBucket'])
      .groupBy(['assetCode', 'recipientCurrency', 'status', 'durationBucket']),
  ),
)

export const balanceChangesSince = query((p: Params<{ merchantIds: readonly string[]; from: string }>) =>
  acrossMerchants(
    selectFrom('dailyBalanceChanges')
      .select(['day', 'assetCode'])
      .select([sql<bigint>`sum(change_units)`.as('changeUnits'), sql<bigint>`sum(change_rest)`.as('changeRest')])
      .where('merchantId', 'in', listParam(p.merchantIds))
      .where('day', '>=', p.from)
      .groupBy(['day', 'assetCode']),
  ),
)

export const balanceChangesOfMerchant = query((p: Params<{ merchantId: string }>) =>
  selectFrom('dailyBalanceChanges').selectAll().where('merchantId', '=', p.merchantId),
)

export const statisticsOfMerchant = query((p: Params<{ merchantId: string }>) =>
  selectFrom('payoutStatistics').selectAll().where('merchantId', '=', p.merchantId),
)

export const cursorOfMerchant = queryOne((p: Params<{ merchantId: string }>) =>
  selectFrom('statisticsCursors').select('through').where('merchantId', '=', p.merchantId),
)

export const countedEventsOf = queryOne((p: Params<{ merchantIds: readonly string[] }>) =>
  acrossMerchants(
    selectFrom('statisticsCursors')
      .select(sql<bigint>`sum(through)`.as('count'))
      .where('merchantId', 'in', listParam(p.merchantIds)),
  ),
)

/** `sealedThrough` is `null` if no event is sealed, or if all events are counted. */
export const coverageOfMerchants = query((p: Params<{ merchantIds: readonly string[] }>) =>
  acrossMerchants(
    selectFrom('sequences')
      .leftJoin('statisticsCursors', (join) => join.onRef('statisticsCursors.merchantId', '=', 'sequences.merchantId'))
      .select(['sequences.merchantId', 'sequences.latest', 'statisticsCursors.through'])
      .select((eb) =>
        eb
          .case()
          .when('statisticsCursors.through', '=', eb.ref('sequences.latest'))
          .then(null)
          .else(
            eb
              .selectFrom('seals')
              .select('seals.through')
              .whereRef('seals.merchantId', '=', 'sequences.merchantId')
              .orderBy('seals.number', 'desc')
              .limit(1),
          )
          .end()
          .as('sealedThrough'),
      )
      .where('sequences.merchantId', 'in', listParam(p.merchantIds))
      .where('sequences.name', '=', sql.lit('events')),
  ),
)

export const statusTimes = query((p: Params<EventRange>) =>
  payoutEventsBetween(p)
    .leftJoin('payoutEvents', (join) =>
      join
        .onRef('payoutEvents.merchantId', '=', 'events.merchantId')
        .onRef('payoutEvents.payoutId', '=', 'events.objectId')
        .on('payoutEvents.status', '=', statusOfEvent),
    )
    .select('payoutEvents.createdAt as settledAt'),
)
