import type { WallTime } from '../../../core/ids-and-clock.ts'
import { timestamp } from '../../../core/ids-and-clock.ts'
import type { SealedSecret } from '../../../database/tables.ts'
import type { Service } from '../../../operations/context.ts'
import { generateKeyPair, generateSharedSecret } from '../transport/signing-secrets.ts'
import { allSigningKeys } from './repository.ts'
import type { KeyedWebhookEndpoint, StoredWebhookEndpoint } from './webhook-endpoint.ts'
import { toPublicEndpoint } from './webhook-endpoint.ts'

type SecretOwner = Pick<StoredWebhookEndpoint, 'merchantId' | 'id'>
type EndpointSigningKeys = Pick<StoredWebhookEndpoint, 'secrets' | 'signingKeys' | 'publicKey'>

/** How many secrets of an endpoint sign at most: rotated more often than that, it lets go of the oldest. */
const maxSecrets = 5

/**
 * What signs for a new endpoint: a secret, and where it is asked for a pair of keys.
 *
 * @throws Refusal NOT_CONFIGURED
 */
export function createSigningKeys({ secrets }: Service, key: SecretOwner, isAsymmetric: boolean): EndpointSigningKeys {
  const seal = (text: string) => ({ sealed: secrets.seal(text, secretContext(key)), until: null })
  const pair = isAsymmetric ? generateKeyPair() : null
  return {
    secrets: [seal(generateSharedSecret())],
    signingKeys: pair ? [{ ...seal(pair.privateKey), publicKey: pair.publicKey }] : [],
    publicKey: pair?.publicKey ?? null,
  }
}

/** What signs once there is something new: that, and until a time what did so before. */
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
 * Everything that signs for an endpoint now, the newest first: each `whsec_…`, and each `whsk_…` where it has such.
 *
 * @throws Refusal NOT_CONFIGURED where the key that sealed one is not there
 */
export function activeSecrets({ secrets, wallClock }: Service, endpoint: StoredWebhookEndpoint): string[] {
  return [...endpoint.secrets, ...endpoint.signingKeys]
    .filter(isValidAt(wallClock()))
    .map(({ sealed }) => secrets.open(sealed, secretContext(endpoint)))
}

/**
 * What is shown of an endpoint whose secret is new. A replay shows the same: what is kept with an idempotency key is the
 * sealed one (ruling 71).
 */
export function revealSecret({ secrets }: Service, endpoint: StoredWebhookEndpoint): KeyedWebhookEndpoint {
  const [newest] = endpoint.secrets
  if (newest === undefined) throw new Error(`The webhook endpoint ${endpoint.id} has no secret`)
  return { ...toPublicEndpoint(endpoint), secret: secrets.open(newest.sealed, secretContext(endpoint)) }
}

/** Whether one still signs at a time. */
export function isValidAt(now: WallTime): (secret: SealedSecret) => boolean {
  const at = timestamp(now)
  return ({ until }) => until === null || until > at
}

/** Where a secret belongs: put anywhere else it does not open. */
function secretContext({ merchantId, id }: SecretOwner): string {
  return `webhook_endpoint:${merchantId}:${id}`
}

/** For how long what was read is told again: nobody needs a key to ask, so it must cost little. */
const cacheMs = 10_000

type CachedPublicKeys = { readonly readAt: number; readonly keys: Promise<readonly string[]> }

const cachedKeys = new WeakMap<Service['db'], CachedPublicKeys>()

/** Every `whpk_…` by which a `v1a` signature may be verified now, in the order of their text: whose they are is not told. */
export function publicKeys(service: Service): Promise<readonly string[]> {
  const kept = cachedKeys.get(service.db)
  if (kept && performance.now() - kept.readAt < cacheMs) return kept.keys
  const keys = readPublicKeys(service)
  cachedKeys.set(service.db, { readAt: performance.now(), keys })
  // What could not be read is asked for again.
  keys.catch(() => cachedKeys.delete(service.db))
  return keys
}

async function readPublicKeys({ db, wallClock }: Service): Promise<readonly string[]> {
  const isValid = isValidAt(wallClock())
  const rows = await allSigningKeys(db, {})
  return rows.flatMap(({ signingKeys }) => signingKeys.filter(isValid).map(({ publicKey }) => publicKey)).toSorted()
}
