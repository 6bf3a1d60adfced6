import { sql } from 'kysely'
import { acrossMerchants, from, query, queryOne } from '../database/query.ts'

/** Every key that is not revoked; an operator's view. */
export const keysInUse = query(() =>
  acrossMerchants(
    from('apiKeys')
      .select(['id', 'merchantId', 'mode', 'createdAt', 'lastUsedAt', 'expiresAt'])
      .where('revokedAt', 'is', null)
      .orderBy('id'),
  ),
)

/** What payouts were ever made from and to; reads all of them. */
export const usedCorridors = query(() =>
  acrossMerchants(
    from('payouts')
      .select(['assetCode', 'recipientCurrency'])
      .groupBy(['assetCode', 'recipientCurrency'])
      .orderBy('assetCode')
      .orderBy('recipientCurrency'),
  ),
)

/** When the latest row was made, by the machine's clock: that of a merchant may be ahead; `null` where none was. */
export const latestRowTime = queryOne(() =>
  acrossMerchants(
    from('sequences')
      .leftJoin('merchantClocks', 'merchantClocks.id', 'sequences.merchantId')
      .select(sql<bigint | null>`max(sequences.latest_time - coalesce(merchant_clocks.ahead_ms, 0))`.as('time')),
  ),
)

/** How each webhook endpoint does; an operator's view. */
export const endpointHealth = query(() =>
  acrossMerchants(
    from('webhookEndpoints')
      .select(['id', 'status', 'disabledReason', 'failingSince', 'secrets', 'signingKeys'])
      .orderBy('id'),
  ),
)

/** How many payouts and deposits wait for a person. */
export const attentionCounts = queryOne(() =>
  acrossMerchants(
    from(
      sql<{ payouts: bigint; deposits: bigint }>`(select
      (select count(*) from payout_transfers where state = 'ATTENTION') as payouts,
      (select count(*) from chain_deposits where state = 'ATTENTION') as deposits)`.as('counts'),
    ).selectAll(),
  ),
)
