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

/** Keys of one merchant that work at the same time and may do everything: the old and the new one of a rotation. */
const maxLiveKeys = 2

/** Those that may do less. */
const maxRestrictedKeys = 100

/** Networks from which a key may be used, at most. */
const maxNetworks = 50

/** A key as an operator sees it; its secret is not kept. */
export type ApiKeySummary = Omit<RowOf<'apiKeys'>, 'secretHash'>

/** What a key may do, until when, and from where: everything, for ever, from anywhere unless it says less. */
export const CreateKeyInput = z.object({
  scopes: optional(someOf(scopes)),
  expiresAt: optional(instant()),
  networks: optional(networkList()),
})

function networkList() {
  return z.array(z.string()).transform((given, context) => {
    const isSome = given.length > 0 && given.length <= maxNetworks && given.every(isIpNetwork)
    const message = `must be at most ${maxNetworks} addresses or networks, such as 203.0.113.0/24`
    return isSome ? given : rejectField(context, 'INVALID_FORMAT', message)
  })
}

/**
 * Gives the merchant one more key, shown here and never again.
 *
 * @throws Refusal INVALID_INPUT, also when the merchant has as many live keys as it may have; RESOURCE_NOT_FOUND
 */
export async function createKey(
  service: Service,
  merchantId: string,
  input: z.input<typeof CreateKeyInput> = {},
): Promise<{ id: string; apiKey: string }> {
  const terms = parseInput(CreateKeyInput, input)
  return service.db.write(async (tx) => {
    const live = await lockLiveKeys(tx, service, merchantId)
    const isRestricted = terms.scopes !== null
    const most = isRestricted ? maxRestrictedKeys : maxLiveKeys
    if (live.filter(({ scopes }) => (scopes !== null) === isRestricted).length >= most) {
      const which = isRestricted ? 'live keys with scopes' : 'live keys'
      throw new DomainError('INVALID_INPUT', `The merchant has ${most} ${which}: revoke one, or rotate.`)
    }
    return generateKey(tx, service, merchantId, terms)
  })
}

/**
 * Gives the merchant a new key that may do everything beside its latest such one and revokes any older: callers move over while
 * both work. Keys with scopes stay as they are.
 *
 * @throws Refusal RESOURCE_NOT_FOUND
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

async function lockLiveKeys(tx: Tx, { wallClock }: Service, merchantId: string) {
  const { id } = await lockMerchant(tx, merchantId)
  const keys = await apiKeysOfMerchant(tx, { merchantId: id })
  const time = timestamp(wallClock())
  return keys.filter(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > time))
}

type KeyRestrictions = z.output<typeof CreateKeyInput>

const noRestrictions: KeyRestrictions = { scopes: null, expiresAt: null, networks: null }

function generateKey(tx: Tx, { mode, now }: Service, merchantId: string, terms = noRestrictions) {
  return addKey(tx, { key: newApiKey(mode), merchantId, createdAt: timestamp(now()), restrictions: terms })
}

type NewKey = {
  readonly key: ApiKey
  readonly merchantId: string
  readonly createdAt: string
  readonly restrictions?: KeyRestrictions
}

/** Records a key of the merchant; what it is shown as, here and never again. */
export async function addKey(
  tx: Tx,
  { key, merchantId, createdAt, restrictions: terms = noRestrictions }: NewKey,
): Promise<{ id: string; apiKey: string }> {
  const { id, mode, secret } = key
  const secretHash = hashSecret(secret)
  await insertApiKey(tx, { id, merchantId, mode, secretHash, createdAt, lastUsedAt: null, revokedAt: null, ...terms })
  return { id, apiKey: formatApiKey(key) }
}
