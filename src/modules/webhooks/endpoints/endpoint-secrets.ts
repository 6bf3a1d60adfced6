import type { WallTime } from '../../../core/ids-and-clock.ts'
import { timestamp } from '../../../core/ids-and-clock.ts'
import type { SealedSecret } from '../../../database/tables.ts'
import type { Service } from '../../../operations/context.ts'
import { generateKeyPair, generateSharedSecret } from '../transport/standard-webhooks.ts'
import { allSigningKeys } from './repository.ts'
import type { KeyedWebhookEndpoint, StoredWebhookEndpoint } from './webhook-endpoint.ts'
import { toPublicEndpoint } from './webhook-endpoint.ts'

type SecretOwner = Pick<StoredWebhookEndpoint, 'merchantId' | 'id'>
type EndpointSigningKeys = Pick<StoredWebhookEndpoint, 'secrets' | 'signingKeys' | 'publicKey'>

const maxSecrets = 5

/** @throws DomainError NOT_CONFIGURED */
export function createSigningKeys({ secrets }: Service, key: SecretOwner, isAsymmetric: boolean): EndpointSigningKeys {
  const seal = (text: string) => ({ sealed: secrets.seal(text, secretContext(key)), until: null })
  const pair = isAsymmetric ? generateKeyPair() : null
  return {
    secrets: [seal(generateSharedSecret())],
    signingKeys: pair ? [{ ...seal(pair.privateKey), publicKey: pair.publicKey }] : [],
    publicKey: pair?.publicKey ?? null,
  }
}

/** Previous secrets and keys expire at `until`, unless they expire earlier. */
export function rotateSigningKeys(
  service: Service,
  endpoint: StoredWebhookEndpoint,
  { now, until }: { now: WallTime; until: string },
): EndpointSigningKeys {
  const fresh = createSigningKeys(service, endpoint, endpoint.publicKey !== null)
  const retire = <Sealed extends SealedSecret>(sealed: readonly Sealed[]) =>
    sealed.map((each) => ({ ...each, until: each.until !== null && each.until < until ? each.until : until }))
  const isValid = isValidAt(now)
  return {
    secrets: [...fresh.secrets, ...retire(endpoint.secrets).filter(isValid)].slice(0, maxSecrets),
    signingKeys: [...fresh.signingKeys, ...retire(endpoint.signingKeys).filter(isValid)].slice(0, maxSecrets),
    publicKey: fresh.publicKey,
  }
}

/**
 * Returns all shared secrets (`whsec_…`), followed by all private keys (`whsk_…`). Each group is sorted newest first.
 *
 * @throws DomainError NOT_CONFIGURED if the encryption key of a secret is missing
 */
export function activeSecrets({ secrets, wallClock }: Service, endpoint: StoredWebhookEndpoint): string[] {
  return [...endpoint.secrets, ...endpoint.signingKeys]
    .filter(isValidAt(wallClock()))
    .map(({ sealed }) => secrets.open(sealed, secretContext(endpoint)))
}

/**
 * If a request repeats an idempotency key, the response contains the secret again, because the stored result contains
 * the encrypted secret (ruling 71).
 */
export function revealSecret({ secrets }: Service, endpoint: StoredWebhookEndpoint): KeyedWebhookEndpoint {
  const [newest] = endpoint.secrets
  if (newest === undefined) throw new Error(`The webhook endpoint ${endpoint.id} has no secret`)
  return { ...toPublicEndpoint(endpoint), secret: secrets.open(newest.sealed, secretContext(endpoint)) }
}

function isValidAt(now: WallTime): (secret: SealedSecret) => boolean {
  const at = timestamp(now)
  return ({ until }) => until === null || until > at
}

/**
 * The context is the additional authenticated data (AAD), so a secret that is copied to another endpoint cannot be
 * decrypted.
 */
function secretContext({ merchantId, id }: SecretOwner): string {
  return `webhook_endpoint:${merchantId}:${id}`
}

/** The public keys are readable without authentication, so the cache protects the database. */
const cacheMs = 10_000

type CachedPublicKeys = { readonly readAt: number; readonly keys: Promise<readonly string[]> }

const cachedKeys = new WeakMap<Service['db'], CachedPublicKeys>()

/**
 * Returns the valid public keys (`whpk_…`) of all endpoints. The keys are sorted, so that their order does not reveal
 * the owner of a key.
 */
export function publicKeys(service: Service): Promise<readonly string[]> {
  const cached = cachedKeys.get(service.db)
  if (cached && performance.now() - cached.readAt < cacheMs) return cached.keys
  const keys = readPublicKeys(service)
  cachedKeys.set(service.db, { readAt: performance.now(), keys })
  keys.catch(() => cachedKeys.delete(service.db))
  return keys
}

async function readPublicKeys({ db, wallClock }: Service): Promise<readonly string[]> {
  const isValid = isValidAt(wallClock())
  const rows = await allSigningKeys(db, {})
  return rows.flatMap(({ signingKeys }) => signingKeys.filter(isValid).map(({ publicKey }) => publicKey)).toSorted()
}
