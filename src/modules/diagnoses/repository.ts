import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import { acrossMerchants, query, queryOne, selectFrom } from '../../database/query.ts'

export const unrevokedKeys = query(() =>
  acrossMerchants(
    selectFrom('apiKeys')
      .select(['id', 'merchantId', 'mode', 'createdAt', 'lastUsedAt', 'expiresAt'])
      .where('revokedAt', 'is', null)
      .orderBy('id'),
  ),
)

export const usedCorridors = query(() =>
  acrossMerchants(
    selectFrom('payouts')
      .select(['assetCode', 'recipientCurrency'])
      .groupBy(['assetCode', 'recipientCurrency'])
      .orderBy('assetCode')
      .orderBy('recipientCurrency'),
  ),
)

export const merchantUsingCorridor = queryOne((p: Params<{ assetCode: string; recipientCurrency: string }>) =>
  acrossMerchants(
    selectFrom('merchants')
      .select('merchants.id')
      .where(({ or, and, exists, selectFrom }) =>
        or([
          exists(
            selectFrom('payouts')
              .select('payouts.id')
              .whereRef('payouts.merchantId', '=', 'merchants.id')
              // Lists all statuses, so that the query can use the index on (merchant, status, asset, currency).
              .where('payouts.status', 'in', ['PROCESSING', 'COMPLETED', 'FAILED', 'RETURNED'])
              .where('payouts.assetCode', '=', p.assetCode)
              .where('payouts.recipientCurrency', '=', p.recipientCurrency),
          ),
          and([
            exists(
              selectFrom('wallets')
                .select('wallets.id')
                .whereRef('wallets.merchantId', '=', 'merchants.id')
                .where('wallets.currency', '=', p.assetCode),
            ),
            exists(
              selectFrom('payoutMethods')
                .select('payoutMethods.id')
                .whereRef('payoutMethods.merchantId', '=', 'merchants.id')
                .where('payoutMethods.currency', '=', p.recipientCurrency),
            ),
          ]),
        ]),
      )
      .limit(1),
  ),
)

/** The latest time of a stored row, without the offset of the merchant's sandbox clock. */
export const latestRowTime = queryOne(() =>
  acrossMerchants(
    selectFrom('sequences')
      .leftJoin('merchantClocks', 'merchantClocks.id', 'sequences.merchantId')
      .select(sql<bigint | null>`max(sequences.latest_time - coalesce(merchant_clocks.ahead_ms, 0))`.as('time')),
  ),
)

export const endpointHealth = query(() =>
  acrossMerchants(
    selectFrom('webhookEndpoints')
      .select(['id', 'status', 'disabledReason', 'failingSince', 'secrets', 'signingKeys'])
      .orderBy('id'),
  ),
)

export const attentionCounts = queryOne(() =>
  acrossMerchants(
    selectFrom(
      sql<{ payouts: bigint; deposits: bigint }>`(select
      (select count(*) from payout_transfers where state = 'ATTENTION') as payouts,
      (select count(*) from chain_deposits where state = 'ATTENTION') as deposits)`.as('counts'),
    ).selectAll(),
  ),
)
