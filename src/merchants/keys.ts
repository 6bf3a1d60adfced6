import type { Service } from '../context.ts'
import type { Tx } from '../database/query.ts'
import type { RowOf } from '../database/tables.ts'
import { notFound, Refusal } from '../errors.ts'
import { timestamp } from '../ids.ts'
import type { ApiKey } from './api-key.ts'
import { formatApiKey, hashSecret, newApiKey } from './api-key.ts'
import { findMerchant, lockMerchant } from './find-merchant.ts'
import { apiKeysOfMerchant, insertApiKey, revokeApiKeyRow } from './repository.ts'

/** Keys of one merchant that work at the same time: the old and the new one of a rotation. */
export const liveKeyLimit = 2

/** A key as an operator sees it; its secret is not kept. */
export type ApiKeySummary = Omit<RowOf<'apiKeys'>, 'secretHash'>

/**
 * Gives the merchant one more key, shown here and never again.
 *
 * @throws Refusal RESOURCE_NOT_FOUND, INVALID_INPUT when the merchant has two live keys already
 */
export async function createKey(service: Service, merchantId: string): Promise<{ id: string; apiKey: string }> {
  return service.db.write(async (tx) => {
    const live = await liveKeys(tx, merchantId)
    if (live.length >= liveKeyLimit) {
      throw new Refusal('INVALID_INPUT', `The merchant has ${liveKeyLimit} live keys: revoke one, or rotate.`)
    }
    return addNewKey(tx, service, merchantId)
  })
}

/**
 * Gives the merchant a new key beside its latest one and revokes any older: callers move over while both work.
 *
 * @throws Refusal RESOURCE_NOT_FOUND
 */
export async function rotateKey(
  service: Service,
  merchantId: string,
): Promise<{ id: string; apiKey: string; revoked: string[] }> {
  return service.db.write(async (tx) => {
    const older = (await liveKeys(tx, merchantId)).slice(0, -(liveKeyLimit - 1))
    for (const { id } of older) await revokeApiKeyRow(tx, { id, revokedAt: timestamp(service.now()) })
    return { ...(await addNewKey(tx, service, merchantId)), revoked: older.map(({ id }) => id) }
  })
}

/**
 * Ends a key at once.
 *
 * @throws Refusal RESOURCE_NOT_FOUND when there is no such live key
 */
export async function revokeKey(service: Service, keyId: string): Promise<{ id: string }> {
  return service.db.write(async (tx) => {
    const [revoked] = await revokeApiKeyRow(tx, { id: keyId, revokedAt: timestamp(service.now()) })
    if (!revoked) throw notFound('Live API key')
    return { id: revoked.id }
  })
}

/**
 * The merchant's keys, oldest first.
 *
 * @throws Refusal RESOURCE_NOT_FOUND
 */
export async function listKeys(service: Service, merchantId: string): Promise<ApiKeySummary[]> {
  const { id } = await findMerchant(service.db, merchantId)
  const keys = await apiKeysOfMerchant(service.db, { merchantId: id })
  return keys.map(({ secretHash: _, ...key }) => key)
}

async function liveKeys(tx: Tx, merchantId: string) {
  const { id } = await lockMerchant(tx, merchantId)
  const keys = await apiKeysOfMerchant(tx, { merchantId: id })
  return keys.filter(({ revokedAt }) => revokedAt === null)
}

function addNewKey(tx: Tx, { mode, now }: Service, merchantId: string) {
  return addKey(tx, { key: newApiKey(mode), merchantId, createdAt: timestamp(now()) })
}

/** Records a key of the merchant; what it is shown as, here and never again. */
export async function addKey(
  tx: Tx,
  { key, merchantId, createdAt }: { key: ApiKey; merchantId: string; createdAt: string },
): Promise<{ id: string; apiKey: string }> {
  const { id, mode, secret } = key
  const secretHash = hashSecret(secret)
  await insertApiKey(tx, { id, merchantId, mode, secretHash, createdAt, lastUsedAt: null, revokedAt: null })
  return { id, apiKey: formatApiKey(key) }
}
