import { z } from 'zod'
import { notFound, Refusal } from '../../core/errors.ts'
import { timestamp } from '../../core/ids.ts'
import { instant, optional, parse, refuse, someOf } from '../../core/input.ts'
import { isNetwork } from '../../core/net/ip-networks.ts'
import type { Tx } from '../../database/query.ts'
import type { RowOf } from '../../database/tables.ts'
import { scopes } from '../../operations/access/scopes.ts'
import type { Service } from '../../operations/context.ts'
import type { ApiKey } from './api-key.ts'
import { formatApiKey, hashSecret, newApiKey } from './api-key.ts'
import { findMerchant, lockMerchant } from './find-merchant.ts'
import { apiKeysOfMerchant, insertApiKey, revokeApiKeyRow } from './repository.ts'

/** Keys of one merchant that work at the same time and may do everything: the old and the new one of a rotation. */
const liveKeyLimit = 2

/** Those that may do less. */
const restrictedKeyLimit = 100

/** Networks from which a key may be used, at most. */
const mostNetworks = 50

/** A key as an operator sees it; its secret is not kept. */
export type ApiKeySummary = Omit<RowOf<'apiKeys'>, 'secretHash'>

/** What a key may do, until when, and from where: everything, for ever, from anywhere unless it says less. */
export const CreateKeyInput = z.object({
  scopes: optional(someOf(scopes)),
  expiresAt: optional(instant()),
  networks: optional(someNetworks()),
})

function someNetworks() {
  return z.array(z.string()).transform((given, context) => {
    const isSome = given.length > 0 && given.length <= mostNetworks && given.every(isNetwork)
    const message = `must be at most ${mostNetworks} addresses or networks, such as 203.0.113.0/24`
    return isSome ? given : refuse(context, 'INVALID_FORMAT', message)
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
  const terms = parse(CreateKeyInput, input)
  return service.db.write(async (tx) => {
    const live = await liveKeys(tx, service, merchantId)
    const isRestricted = terms.scopes !== null
    const most = isRestricted ? restrictedKeyLimit : liveKeyLimit
    if (live.filter(({ scopes }) => (scopes !== null) === isRestricted).length >= most) {
      const which = isRestricted ? 'live keys with scopes' : 'live keys'
      throw new Refusal('INVALID_INPUT', `The merchant has ${most} ${which}: revoke one, or rotate.`)
    }
    return addNewKey(tx, service, merchantId, terms)
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
    const unrestricted = (await liveKeys(tx, service, merchantId)).filter(({ scopes }) => scopes === null)
    const older = unrestricted.slice(0, -(liveKeyLimit - 1))
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

async function liveKeys(tx: Tx, { wallClock }: Service, merchantId: string) {
  const { id } = await lockMerchant(tx, merchantId)
  const keys = await apiKeysOfMerchant(tx, { merchantId: id })
  const time = timestamp(wallClock())
  return keys.filter(({ revokedAt, expiresAt }) => revokedAt === null && (expiresAt === null || expiresAt > time))
}

type Terms = z.output<typeof CreateKeyInput>

const noTerms: Terms = { scopes: null, expiresAt: null, networks: null }

function addNewKey(tx: Tx, { mode, now }: Service, merchantId: string, terms = noTerms) {
  return addKey(tx, { key: newApiKey(mode), merchantId, createdAt: timestamp(now()), terms })
}

type NewKey = { readonly key: ApiKey; readonly merchantId: string; readonly createdAt: string; readonly terms?: Terms }

/** Records a key of the merchant; what it is shown as, here and never again. */
export async function addKey(
  tx: Tx,
  { key, merchantId, createdAt, terms = noTerms }: NewKey,
): Promise<{ id: string; apiKey: string }> {
  const { id, mode, secret } = key
  const secretHash = hashSecret(secret)
  await insertApiKey(tx, { id, merchantId, mode, secretHash, createdAt, lastUsedAt: null, revokedAt: null, ...terms })
  return { id, apiKey: formatApiKey(key) }
}
