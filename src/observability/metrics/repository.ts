import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { acrossMerchants, listParam, query, selectFrom } from '../../database/query.ts'

/**
 * Counts each merchant's PROCESSING payouts, up to `limit` in total, and returns the time of the oldest. Operators use
 * this query, which reads the index `payouts_by_values` and one payout per merchant.
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
 * Counts the UNKNOWN orders among the first `limit` orders of a rail that are due for a status poll. Operators use this
 * query, which reads the index `payout_transfers_due` in order.
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
