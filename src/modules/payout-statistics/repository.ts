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
import { tables } from '../../database/tables.ts'
import type { PayoutStatistics, StatisticsChange } from './payout-statistics.ts'

const key = ['merchantId', 'day', 'assetCode', 'recipientCurrency', 'status', 'durationBucket'] as const

const { merchantId: _, ...columnsOfChanges } = tables.payoutStatistics
const changeColumns = Object.keys(columnsOfChanges) as (keyof StatisticsChange)[]

/** One SQL statement adds up to 16 statistics rows, so a typical seal needs at most six statements. */
const statementSizes = [16, 4, 1] as const

const additions = statementSizes.map((size) => {
  const names = Array.from({ length: size }, (_, row) => changeColumns.map((column) => `${column}${row}`))
  return { size, names, add: addRows(names) }
})

/** No two changes may be of the same statistics row. */
export async function addToStatistics(
  tx: Tx,
  { merchantId, changes }: { merchantId: string; changes: readonly StatisticsChange[] },
): Promise<void> {
  let first = 0
  for (const { size, names, add } of additions) {
    for (; changes.length - first >= size; first += size) {
      const params: RowParams = { merchantId }
      for (const [row, rowNames] of names.entries()) {
        const change = changes[first + row] as StatisticsChange
        for (const [place, column] of changeColumns.entries()) params[rowNames[place] as string] = change[column]
      }
      await add(tx, params)
    }
  }
}

type RowParams = { merchantId: string; [name: string]: unknown }

function addRows(names: readonly (readonly string[])[]) {
  return statement((p: Params<RowParams>) =>
    insertInto('payoutStatistics')
      .values(
        names.map((rowNames) => {
          const change = Object.fromEntries(
            changeColumns.map((column, place) => [column, p[rowNames[place] as string]]),
          )
          return { merchantId: p.merchantId, ...change } as PayoutStatistics
        }),
      )
      .onConflict((conflict) =>
        conflict.columns(key).doUpdateSet({
          payoutCount: sql<number>`payout_statistics.payout_count + excluded.payout_count`,
          amountUnits: sql<bigint>`payout_statistics.amount_units + excluded.amount_units`,
          amountRest: sql<bigint>`payout_statistics.amount_rest + excluded.amount_rest`,
          feeUnits: sql<bigint>`payout_statistics.fee_units + excluded.fee_units`,
          feeRest: sql<bigint>`payout_statistics.fee_rest + excluded.fee_rest`,
        }),
      ),
  )
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

export const deleteStatistics = statement((p: Params<{ merchantId: string }>) =>
  deleteFrom('payoutStatistics').where('merchantId', '=', p.merchantId),
)

export const statusChangesBetween = query((p: Params<EventRange>) =>
  selectFrom('events')
    .innerJoin('payouts', (join) =>
      join.onRef('payouts.merchantId', '=', 'events.merchantId').onRef('payouts.id', '=', 'events.objectId'),
    )
    .select(['events.type', 'events.time'])
    .select(['payouts.assetCode', 'payouts.recipientCurrency', 'payouts.amount', 'payouts.fee', 'payouts.createdAt'])
    .where('events.merchantId', '=', p.merchantId)
    .where('events.sequence', '>', p.after)
    .where('events.sequence', '<=', p.through)
    .orderBy('events.sequence'),
)

type DayRange = { merchantIds: readonly string[]; from: string; through: string }

const sums = [
  sql<bigint>`sum(payout_count)`.as('payoutCount'),
  sql<bigint>`sum(amount_units)`.as('amountUnits'),
  sql<bigint>`sum(amount_rest)`.as('amountRest'),
  sql<bigint>`sum(fee_units)`.as('feeUnits'),
  sql<bigint>`sum(fee_rest)`.as('feeRest'),
] as const

function statisticsWithin(p: Params<DayRange>) {
  return selectFrom('payoutStatistics')
    .select(sums)
    .where('merchantId', 'in', listParam(p.merchantIds))
    .where('day', '>=', p.from)
    .where('day', '<=', p.through)
}

export const statisticsByDay = query((p: Params<DayRange>) =>
  acrossMerchants(statisticsWithin(p).select(['day', 'assetCode', 'status']).groupBy(['day', 'assetCode', 'status'])),
)

export const statisticsByCorridor = query((p: Params<DayRange>) =>
  acrossMerchants(
    statisticsWithin(p)
      .select(['assetCode', 'recipientCurrency', 'status', 'durationBucket'])
      .groupBy(['assetCode', 'recipientCurrency', 'status', 'durationBucket']),
  ),
)

export const statisticsOfMerchant = query((p: Params<{ merchantId: string }>) =>
  selectFrom('payoutStatistics').selectAll().where('merchantId', '=', p.merchantId),
)

export const cursorOfMerchant = queryOne((p: Params<{ merchantId: string }>) =>
  selectFrom('statisticsCursors').select('through').where('merchantId', '=', p.merchantId),
)

/** Returns for each merchant the last counted event, the latest event, and the latest sealed event. */
export const coverageOfMerchants = query((p: Params<{ merchantIds: readonly string[] }>) =>
  acrossMerchants(
    selectFrom('sequences')
      .leftJoin('statisticsCursors', (join) => join.onRef('statisticsCursors.merchantId', '=', 'sequences.merchantId'))
      .select(['sequences.merchantId', 'sequences.latest', 'statisticsCursors.through'])
      .select((eb) =>
        eb
          .selectFrom('seals')
          .select('seals.through')
          .whereRef('seals.merchantId', '=', 'sequences.merchantId')
          .orderBy('seals.number', 'desc')
          .limit(1)
          .as('sealedThrough'),
      )
      .where('sequences.merchantId', 'in', listParam(p.merchantIds))
      .where('sequences.name', '=', sql.lit('events')),
  ),
)

export const statusTimes = query((p: Params<EventRange>) =>
  selectFrom('events')
    .innerJoin('payouts', (join) =>
      join.onRef('payouts.merchantId', '=', 'events.merchantId').onRef('payouts.id', '=', 'events.objectId'),
    )
    .leftJoin('payoutEvents', (join) =>
      join
        .onRef('payoutEvents.merchantId', '=', 'events.merchantId')
        .onRef('payoutEvents.payoutId', '=', 'events.objectId')
        .on('payoutEvents.status', '=', sql<RowOf<'payoutEvents'>['status']>`upper(substr(events.type, 8))`),
    )
    .select(['events.type', 'payoutEvents.createdAt as settledAt'])
    .select(['payouts.assetCode', 'payouts.recipientCurrency', 'payouts.amount', 'payouts.fee', 'payouts.createdAt'])
    .where('events.merchantId', '=', p.merchantId)
    .where('events.sequence', '>', p.after)
    .where('events.sequence', '<=', p.through),
)
