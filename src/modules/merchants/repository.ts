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

/** The merchant, which nobody else changes before the transaction ends, nor its keys. */
export const lockMerchantById = statementOne((p: Params<{ id: string }>) =>
  selectFrom('merchants').selectAll().where('id', '=', p.id).forNoKeyUpdate(),
)

/** Every merchant, oldest first; an operator's view. */
export const allMerchants = query(() => selectFrom('merchants').selectAll().orderBy('id'))

/** Merchants behind an id, in the order of their ids; an operator's view. */
export const merchantIdsAfter = query((p: Params<{ after: string; limit: number }>) =>
  selectFrom('merchants').select('id').where('id', '>', p.after).orderBy('id').limit(p.limit),
)

/** Merchants behind an id, the oldest first; an operator's view. */
export const merchantsAfter = query((p: Params<{ after: string; limit: number }>) =>
  selectFrom('merchants').selectAll().where('id', '>', p.after).orderBy('id').limit(p.limit),
)

/** Those of them whose names have a text in them. */
export const merchantsWithNameLike = query((p: Params<{ pattern: string; after: string; limit: number }>) =>
  selectFrom('merchants')
    .selectAll()
    .where('id', '>', p.after)
    .where(sql<boolean>`lower(name) like ${p.pattern} escape '\\'`)
    .orderBy('id')
    .limit(p.limit),
)

/** The keys among `ids` that are not revoked, of any merchant: who asks has been admitted by them. */
export const unrevokedKeysAmong = query((p: Params<{ ids: readonly string[] }>) =>
  acrossMerchants(
    selectFrom('apiKeys').select('id').where('id', 'in', listParam(p.ids)).where('revokedAt', 'is', null),
  ),
)

/** A key by its own id, which is what tells the merchant, and the merchant's clock. */
export const apiKeyById = queryOne((p: Params<{ id: string }>) =>
  acrossMerchants(
    selectFrom('apiKeys')
      .leftJoin('merchantClocks', 'merchantClocks.id', 'apiKeys.merchantId')
      .selectAll('apiKeys')
      .select('merchantClocks.aheadMs')
      .where('apiKeys.id', '=', p.id),
  ),
)

/** How far a merchant's clock is ahead; `null` where it never was. */
export const clockOfMerchant = queryOne((p: Params<{ id: string }>) =>
  selectFrom('merchantClocks').select('aheadMs').where('id', '=', p.id),
)

/** Moves a merchant's clock. */
export const upsertMerchantClock = statement((p: Params<{ id: string; aheadMs: bigint }>) =>
  insertInto('merchantClocks')
    .values(pickParams(p, ['id', 'aheadMs']))
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ aheadMs: p.aheadMs })),
)

/** The merchant's keys, oldest first. */
export const apiKeysOfMerchant = query((p: Params<{ merchantId: string }>) =>
  selectFrom('apiKeys').selectAll().where('merchantId', '=', p.merchantId).orderBy('createdAt').orderBy('id'),
)

/** Revokes a key that is not revoked yet, whosever it is: an operator names it by its own id. */
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

/** Records the use of a key whose last recorded use is not between `before` and `after`: a clock that was ahead noted a later one. */
export const markKeyUsed = statement((p: Params<KeyUse>) =>
  updateTable('apiKeys')
    .set({ lastUsedAt: p.usedAt })
    .where('merchantId', '=', p.merchantId)
    .where('id', '=', p.id)
    .where(({ or, eb }) =>
      or([eb('lastUsedAt', 'is', null), eb('lastUsedAt', '<=', p.before), eb('lastUsedAt', '>=', p.after)]),
    ),
)

/** Sets the account-level public keys from which the merchant's deposit addresses are derived. */
export const updateExtendedPublicKeys = statement(
  (p: Params<{ id: string; evmExtendedPublicKey: string | null; tronExtendedPublicKey: string | null }>) =>
    updateTable('merchants')
      .set({ evmExtendedPublicKey: p.evmExtendedPublicKey, tronExtendedPublicKey: p.tronExtendedPublicKey })
      .where('id', '=', p.id),
)

/** The keys of every merchant that has any; an operator's view. */
export const merchantsWithExtendedPublicKeys = query(() =>
  selectFrom('merchants')
    .select(['id', 'evmExtendedPublicKey', 'tronExtendedPublicKey'])
    .where(({ or, eb }) =>
      or([eb('evmExtendedPublicKey', 'is not', null), eb('tronExtendedPublicKey', 'is not', null)]),
    ),
)
