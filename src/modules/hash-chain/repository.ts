import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import {
  acrossMerchants,
  insertInto,
  listParam,
  pickParams,
  query,
  selectFrom,
  statementOne,
  withCte,
} from '../../database/query.ts'
import { tables } from '../../database/tables.ts'
import { transferIdOfEvent } from '../outbox/repository.ts'
import type { HistoryColumn, HistoryRow } from './hashed-columns.ts'
import type { Seal } from './seal.ts'

type SealedEventRange = { merchantId: string; after: number; through: number }

/** `after` is exclusive and `through` is inclusive. One SQL statement reads all rows in one snapshot. */
export const selectHistory = (columns: readonly HistoryColumn[]) =>
  query((p: Params<SealedEventRange>) => selectRelatedRows(p, columns).$castTo<HistoryRow>())

export const selectHistoryWithPayouts = (columns: readonly HistoryColumn[]) =>
  query((p: Params<SealedEventRange>) =>
    selectRelatedRows(p, columns)
      .leftJoin('payouts as settled', (join) =>
        join.onRef('settled.merchantId', '=', 'events.merchantId').onRef('settled.id', '=', 'payoutEvents.payoutId'),
      )
      .select([
        'settled.assetCode as settledAssetCode',
        'settled.recipientCurrency as settledRecipientCurrency',
        'settled.amount as settledAmount',
        'settled.fee as settledFee',
        'settled.createdAt as settledCreatedAt',
      ])
      .$castTo<HistoryRow & SettledPayoutColumns>(),
  )

export type SettledPayoutColumns = {
  readonly settledAssetCode: string | null
  readonly settledRecipientCurrency: string | null
  readonly settledAmount: bigint | null
  readonly settledFee: bigint | null
  readonly settledCreatedAt: string | null
}

function selectRelatedRows(p: Params<SealedEventRange>, columns: readonly HistoryColumn[]) {
  return (
    selectFrom('events')
      .leftJoin('payouts', (join) =>
        join
          .onRef('payouts.merchantId', '=', 'events.merchantId')
          .onRef('payouts.id', '=', 'events.objectId')
          .on('events.type', '=', sql.lit('payout.initiated')),
      )
      .leftJoin('payoutEvents', (join) =>
        join
          .onRef('payoutEvents.merchantId', '=', 'events.merchantId')
          .onRef('payoutEvents.payoutId', '=', 'events.objectId')
          .on(
            'payoutEvents.status',
            '=',
            sql`case events.type when 'payout.completed' then 'COMPLETED' when 'payout.failed' then 'FAILED'
          when 'payout.returned' then 'RETURNED' end`,
          ),
      )
      .leftJoin('wallets', (join) =>
        join
          .onRef('wallets.merchantId', '=', 'events.merchantId')
          .onRef('wallets.id', '=', 'events.objectId')
          .on('events.type', '=', sql.lit('wallet.created')),
      )
      .leftJoin('transfers', (join) =>
        join.onRef('transfers.merchantId', '=', 'events.merchantId').on('transfers.id', '=', transferIdOfEvent),
      )
      .leftJoin('deposits', (join) =>
        join
          .onRef('deposits.merchantId', '=', 'events.merchantId')
          .onRef('deposits.reference', '=', 'transfers.reference')
          .on('events.type', '=', sql.lit('wallet.transaction.inbound')),
      )
      .leftJoin('depositReversals', (join) =>
        join
          .onRef('depositReversals.merchantId', '=', 'events.merchantId')
          .onRef('depositReversals.reference', '=', 'transfers.reference')
          .on('events.type', '=', sql.lit('deposit.reversed')),
      )
      .select('events.sequence')
      // Kysely cannot type computed column names.
      .select(columns.map(({ table, column, name }) => `${table}.${column} as ${name}`) as never)
      .where('events.merchantId', '=', p.merchantId)
      .where('events.sequence', '>', p.after)
      .where('events.sequence', '<=', p.through)
      .orderBy('events.sequence')
  )
}

const latestSealNumber = (merchantId: 'sequences.merchantId' | 'merchants.id') =>
  selectFrom('seals as latest')
    .select((eb) => eb.fn.max('latest.number').as('number'))
    .where('latest.merchantId', '=', sql.ref<string>(merchantId))

export const unsealedMerchants = query((p: Params<{ merchantIds: readonly string[] }>) =>
  acrossMerchants(
    selectFrom('sequences')
      .leftJoin('seals', (join) =>
        join
          .onRef('seals.merchantId', '=', 'sequences.merchantId')
          .on('seals.number', '=', latestSealNumber('sequences.merchantId')),
      )
      .select(['sequences.merchantId', 'sequences.latest', 'seals.number', 'seals.through', 'seals.hash'])
      .where('sequences.merchantId', 'in', listParam(p.merchantIds))
      .where('sequences.name', '=', sql.lit('events'))
      .where((eb) => eb.or([eb('seals.through', 'is', null), eb('seals.through', '<', eb.ref('sequences.latest'))])),
  ),
)

/** Finds each latest seal only once, because seals are large and SQLite reads whole seals to compare their keys. */
export const unsealedBacklog = query((p: Params<{ merchantIds: readonly string[] }>) =>
  acrossMerchants(
    withCte(
      (cte) => cte('heads').materialized(),
      () =>
        selectFrom('sequences')
          .select(['sequences.merchantId', 'sequences.latest'])
          .select((eb) =>
            eb
              .selectFrom('seals')
              .select('seals.through')
              .whereRef('seals.merchantId', '=', 'sequences.merchantId')
              .orderBy('seals.number', 'desc')
              .limit(1)
              .as('through'),
          )
          .where('sequences.merchantId', 'in', listParam(p.merchantIds))
          .where('sequences.name', '=', sql.lit('events')),
    )
      .selectFrom('heads')
      .select(['heads.latest', 'heads.through'])
      .select((eb) =>
        eb
          .selectFrom('events')
          .select('time')
          .whereRef('events.merchantId', '=', 'heads.merchantId')
          // COALESCE would prevent the use of an index (see `transferIdOfEvent`).
          .where('events.sequence', '>', sql<number>`case when heads.through is null then 0 else heads.through end`)
          .orderBy('events.sequence')
          .limit(1)
          .as('oldestAt'),
      )
      .where((eb) => eb.or([eb('heads.through', 'is', null), eb('heads.through', '<', eb.ref('heads.latest'))])),
  ),
)

export const sealsAfter = query((p: Params<{ merchantId: string; after: number; limit: number }>) =>
  selectFrom('seals')
    .selectAll()
    .where('merchantId', '=', p.merchantId)
    .where('number', '>', p.after)
    .orderBy('number')
    .limit(p.limit),
)

export const latestSeals = query((p: Params<{ merchantId: string; limit: number }>) =>
  selectFrom('seals').selectAll().where('merchantId', '=', p.merchantId).orderBy('number', 'desc').limit(p.limit),
)

export const chainHeadsOfMerchants = query((p: Params<{ merchantIds: readonly string[] }>) =>
  acrossMerchants(
    selectFrom('merchants')
      .innerJoin('seals', (join) =>
        join.onRef('seals.merchantId', '=', 'merchants.id').on('seals.number', '=', latestSealNumber('merchants.id')),
      )
      .select(['seals.merchantId', 'seals.number', 'seals.hash'])
      .where('merchants.id', 'in', listParam(p.merchantIds))
      .orderBy('merchants.id'),
  ),
)

export const insertSeal = statementOne((p: Params<Seal>) =>
  insertInto('seals')
    .values(pickParams(p, Object.keys(tables.seals) as (keyof Seal)[]))
    .onConflict((conflict) => conflict.columns(['merchantId', 'number']).doNothing())
    .returning('number'),
)
