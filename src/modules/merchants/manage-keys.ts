import { z } from 'zod'
import { DomainError, notFound } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import { instant, optional, parseInput, rejectField, someOf } from '../../core/input.ts'
import { isIpNetwork } from '../../core/net/ip-networks.ts'
import type { Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import { scopes } from '../../operations/access/scopes.ts'
import type { Service } from '../../operations/context.ts'
import type { ApiKey } from './api-key.ts'
import { formatApiKey, hashSecret, newApiKey } from './api-key.ts'
import { findMerchant, lockMerchant } from './merchant.ts'
import { apiKeysOfMerchant, insertApiKey, revokeApiKeyRow } from './repository.ts'

/** During a rotation, the old and the new API key are both valid. */
const maxLiveKeys = 2

const maxRestrictedKeys = 100

const maxNetworks = 50

export type ApiKeySummary = Omit<RowOf<'apiKeys'>, 'secretHash'>

/** An API key without scopes, expiry and networks is unrestricted. */
export const CreateKeyInput = z.object({
  scopes: optional(someOf(scopes)),
  expiresAt: optional(instant()),
  networks: optional(networkList()),
})

function networkList() {
  return z.array(z.string()).transform((values, context) => {
    const isValid = values.length > 0 && values.length <= maxNetworks && values.every(isIpNetwork)
    const message = `must be at most ${maxNetworks} addresses or networks, such as 203.0.113.0/24`
    return isValid ? values : rejectField(context, 'INVALID_FORMAT', message)
  })
}

/**
 * The service never shows the returned API key again.
 *
 * @throws DomainError INVALID_INPUT, also if the merchant has the maximum number of live keys; RESOURCE_NOT_FOUND
 */
export async function createKey(
  service: Service,
  merchantId: string,
  input: z.input<typeof CreateKeyInput> = {},
): Promise<{ id: string; apiKey: string }> {
  const restrictions = parseInput(CreateKeyInput, input)
  return service.db.write(async (tx) => {
    const liveKeys = await lockLiveKeys(tx, service, merchantId)
    const isRestricted = restrictions.scopes !== null
    const maxKeys = isRestricted ? maxRestrictedKeys : maxLiveKeys
    if (liveKeys.filter(({ scopes }) => (scopes !== null) === isRestricted).length >= maxKeys) {
      const which = isRestricted ? 'live keys with scopes' : 'live keys'
      throw new DomainError(
        'INVALID_INPUT',
        `The merchant already has ${maxKeys} ${which}: revoke or rotate one first.`,
      )
    }
    return generateKey(tx, service, merchantId, restrictions)
  })
}

/**
 * Keeps the latest unrestricted API key, so that clients can switch to the new key, and revokes older unrestricted
 * keys.
 *
 * @throws DomainError RESOURCE_NOT_FOUND
 */
export async function rotateKey(
  service: Service,
  merchantId: string,
): Promise<{ id: string; apiKey: string; revoked: string[] }> {
  return service.db.write(async (tx) => {
    const unrestricted = (await lockLiveKeys(tx, service, merchantId)).filter(({ scopes }) => scopes === null)
    const older = unrestricted.slice(0, -(maxLiveKeys - 1))
    for (const { id } of older) await revokeApiKeyRow(tx, { id, revokedAt: timestamp(service.now()) })
    return { ...(await generateKey(tx, service, merchantId)), revoked: older.map(({ id }) => id) }
  })
}

/** @throws DomainError RESOURCE_NOT_FOUND if the key does not exist or is already revoked */
export async function revokeKey(service: Service, keyId: string): Promise<{ id: string }> {
  return service.db.write(async (tx) => {
    const [revoked] = await revokeApiKeyRow(tx, { id: keyId, revokedAt: timestamp(service.now()) })
    if (!revoked) throw notFound('Live API key')
    return { id: revoked.id }
  })
}

/** @throws DomainError RESOURCE_NOT_FOUND */
export async function listKeys(service: Service, merchantId: string): Promise<ApiKeySummary[]> {
  const { id } = await findMerchant(service.db, merchantId)
  const keys = await apiKeysOfMerchant(service.db, { merchantId: id })
  return keys.map(({ secretHash: _, ...key }) => key)
}

async function lockLiveKeys(tx: Tx, { wallClock }: Service, merchantId: string) {
  const { id } = await lockMerchant(tx, merchantId)
  const keys = await apiKeysOfMerchant(tx, { merchantId: id })
  const time = timestamp(wallClock())
  return keys.filter(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > time))
}

type KeyRestrictions = z.output<typeof CreateKeyInput>

const noRestrictions: KeyRestrictions = { scopes: null, expiresAt: null, networks: null }

function generateKey(tx: Tx, { mode, now }: Service, merchantId: string, restrictions = noRestrictions) {
  return addKey(tx, { key: newApiKey(mode), merchantId, createdAt: timestamp(now()), restrictions })
}

type NewKey = {
  readonly key: ApiKey
  readonly merchantId: string
  readonly createdAt: string
  readonly restrictions?: KeyRestrictions
}

export async function addKey(
  tx: Tx,
  { key, merchantId, createdAt, restrictions = noRestrictions }: NewKey,
): Promise<{ id: string; apiKey: string }> {
  const { id, mode, secret } = key
  const secretHash = hashSecret(secret)
  await insertApiKey(tx, {
    id,
    merchantId,
    mode,
    secretHash,
    createdAt,
    lastUsedAt: null,
    revokedAt: null,
    ...restrictions,
  })
  return { id, apiKey: formatApiKey(key) }
}
