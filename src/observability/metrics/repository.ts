import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { acrossMerchants, listParam, query, selectFrom } from '../../database/query.ts'

export const processingPayouts = query((p: Params<{ merchantIds: readonly string[]; limit: number }>) =>
  acrossMerchants(
    selectFrom((eb) =>
      eb
        .selectFrom('payouts')
        .select('merchantId')
        .where('merchantId', 'in', listParam(p.merchantIds))
        .where('status', '=', sql.lit('PROCESSING'))
        .limit(p.limit)
        .as('processing'),
    ).select(sql<number>`count(*)`.as('rowCount')),
  ),
)

/** Reads one entry of the index `payouts_by_values` for each merchant. */
export const oldestProcessingPayouts = query(
  (p: Params<{ merchantIds: readonly string[]; assetCode: string; recipientCurrency: string }>) =>
    acrossMerchants(
      selectFrom('merchants')
        .select((eb) =>
          eb
            .selectFrom('payouts')
            .select('createdAt')
            .whereRef('payouts.merchantId', '=', 'merchants.id')
            .where('status', '=', sql.lit('PROCESSING'))
            .where('assetCode', '=', p.assetCode)
            .where('recipientCurrency', '=', p.recipientCurrency)
            .orderBy('sequence')
            .limit(sql.lit(1))
            .as('oldestAt'),
        )
        .where('merchants.id', 'in', listParam(p.merchantIds)),
    ),
)

/** Reads at most `limit` entries of the index `payout_transfers_due`. */
export const unknownOrderCount = query((p: Params<{ rail: string; limit: number }>) =>
  acrossMerchants(
    selectFrom((eb) =>
      eb
        .selectFrom('payoutTransfers')
        .select('state')
        .where('rail', '=', p.rail)
        .where('state', '<>', sql.lit('QUEUED'))
        .where('dueAt', 'is not', null)
        .orderBy('dueAt')
        .limit(p.limit)
        .as('due'),
    )
      .select(sql<number>`count(*)`.as('rowCount'))
      .where('due.state', '=', sql.lit('UNKNOWN')),
  ),
)
