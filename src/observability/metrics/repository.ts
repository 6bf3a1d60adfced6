import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { acrossMerchants, listParam, query, selectFrom } from '../../database/query.ts'

/**
 * Of some merchants how many payouts are PROCESSING, and when each one's oldest was made, of as many as `limit` altogether. It
 * reads the index `payouts_by_values`, and one payout of each merchant; an operator's view.
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
            .as('found'),
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
 * How many orders of a rail are UNKNOWN, among as many as `limit` that the bank is to be asked about next. It reads the index
 * `payout_transfers_due` in its order; an operator's view.
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
        .as('asked'),
    )
      .select(sql<number>`count(*)`.as('rowCount'))
      .where('asked.state', '=', sql.lit('UNKNOWN')),
  ),
)
