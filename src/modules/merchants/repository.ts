import { sql } from 'kysely'
import type { Params } from '../../database/query.ts'
import {
  acrossMerchants,
  insertInto,
  insertRow,
  listParam,
  pickParams,
  query,
  queryOne,
  selectFrom,
  statement,
  statementOne,
  updateTable,
} from '../../database/query.ts'

export const insertMerchant = insertRow('merchants')

export const insertApiKey = insertRow('apiKeys')

export const merchantById = queryOne((p: Params<{ id: string }>) =>
  selectFrom('merchants').selectAll().where('id', '=', p.id),
)

export const lockMerchantById = statementOne((p: Params<{ id: string }>) =>
  selectFrom('merchants').selectAll().where('id', '=', p.id).forNoKeyUpdate(),
)

export const allMerchants = query(() => selectFrom('merchants').selectAll().orderBy('id'))

export const merchantIdsAfter = query((p: Params<{ after: string; limit: number }>) =>
  selectFrom('merchants').select('id').where('id', '>', p.after).orderBy('id').limit(p.limit),
)

export const merchantsAfter = query((p: Params<{ after: string; limit: number }>) =>
  selectFrom('merchants').selectAll().where('id', '>', p.after).orderBy('id').limit(p.limit),
)

export const merchantsWithNameLike = query((p: Params<{ pattern: string; after: string; limit: number }>) =>
  selectFrom('merchants')
    .selectAll()
    .where('id', '>', p.after)
    .where(sql<boolean>`lower(name) like ${p.pattern} escape '\\'`)
    .orderBy('id')
    .limit(p.limit),
)

/** Searches the API keys of all merchants, which is safe because the callers are already authenticated. */
export const unrevokedKeysAmong = query((p: Params<{ ids: readonly string[] }>) =>
  acrossMerchants(
    selectFrom('apiKeys').select('id').where('id', 'in', listParam(p.ids)).where('revokedAt', 'is', null),
  ),
)

/** Searches all merchants, because the API key determines the merchant. */
export const apiKeyById = queryOne((p: Params<{ id: string }>) =>
  acrossMerchants(
    selectFrom('apiKeys')
      .leftJoin('merchantClocks', 'merchantClocks.id', 'apiKeys.merchantId')
      .selectAll('apiKeys')
      .select('merchantClocks.aheadMs')
      .where('apiKeys.id', '=', p.id),
  ),
)

export const clockOfMerchant = queryOne((p: Params<{ id: string }>) =>
  selectFrom('merchantClocks').select('aheadMs').where('id', '=', p.id),
)

export const upsertMerchantClock = statement((p: Params<{ id: string; aheadMs: bigint }>) =>
  insertInto('merchantClocks')
    .values(pickParams(p, ['id', 'aheadMs']))
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ aheadMs: p.aheadMs })),
)

export const apiKeysOfMerchant = query((p: Params<{ merchantId: string }>) =>
  selectFrom('apiKeys').selectAll().where('merchantId', '=', p.merchantId).orderBy('createdAt').orderBy('id'),
)

export const revokeApiKeyRow = statement((p: Params<{ id: string; revokedAt: string }>) =>
  acrossMerchants(
    updateTable('apiKeys')
      .set({ revokedAt: p.revokedAt })
      .where('id', '=', p.id)
      .where('revokedAt', 'is', null)
      .returning(['id', 'merchantId']),
  ),
)

type KeyUse = { merchantId: string; id: string; usedAt: string; before: string; after: string }

/** A clock that was ahead can have stored a `lastUsedAt` later than `after`. */
export const markKeyUsed = statement((p: Params<KeyUse>) =>
  updateTable('apiKeys')
    .set({ lastUsedAt: p.usedAt })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where(({ or, eb }) =>
      or([eb('lastUsedAt', 'is', null), eb('lastUsedAt', '<=', p.before), eb('lastUsedAt', '>=', p.after)]),
    ),
)

export const updateExtendedPublicKeys = statement(
  (p: Params<{ id: string; evmExtendedPublicKey: string | null; tronExtendedPublicKey: string | null }>) =>
    updateTable('merchants')
      .set({ evmExtendedPublicKey: p.evmExtendedPublicKey, tronExtendedPublicKey: p.tronExtendedPublicKey })
      .where('id', '=', p.id),
)

export const merchantsWithExtendedPublicKeys = query(() =>
  selectFrom('merchants')
    .select(['id', 'evmExtendedPublicKey', 'tronExtendedPublicKey'])
    .where(({ or, eb }) =>
      or([eb('evmExtendedPublicKey', 'is not', null), eb('tronExtendedPublicKey', 'is not', null)]),
    ),
)
