import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { acrossMerchants, listParam, query, selectFrom } from '../../database/query.ts'

/**
 * Counts the PROCESSING payouts of these merchants, up to `limit` in total, and reads the time of each merchant's oldest. For
 * operators: reads the index `payouts_by_values`, and one payout per merchant.
 */
export const processingPayouts = query((p: Params<{ merchantIds: readonly string[]; limit: number }>) =>
  acrossMerchants(
    selectFrom((eb) =>
      eb
        .selectFrom(
          eb
            .selectFrom('payouts')
            .select(['merchantId', 'sequence'])
            .where('merchantId', 'in', listParam(p.merchantIds))
            .where('status', '=', sql.lit('PROCESSING'))
            .limit(p.limit)
            .as('processing'),
        )
        .select(['merchantId', sql<number>`count(*)`.as('rowCount'), sql<number>`min(sequence)`.as('oldest')])
        .groupBy('merchantId')
        .as('merchants'),
    )
      .select('merchants.rowCount')
      .select((eb) =>
        eb
          .selectFrom('payouts')
          .select('createdAt')
          .whereRef('payouts.merchantId', '=', 'merchants.merchantId')
          .whereRef('payouts.sequence', '=', 'merchants.oldest')
          .as('oldestAt'),
      ),
  ),
)

/**
 * Counts the orders of a rail that are UNKNOWN among the first `limit` whose status is due to be polled. For operators: reads the
 * index `payout_transfers_due` in its order.
 */
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
