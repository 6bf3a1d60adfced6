import { DomainError } from '../../core/errors.ts'
import type { WallTime } from '../../core/ids-and-clock.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Database } from '../../database/database.ts'
import type { Caller } from '../../operations/access/api-caller.ts'
import { hasScope } from '../../operations/access/api-caller.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { defineInternalOperation } from '../../operations/define-operation.ts'
import { hashSecret, matchesHash, parseApiKey } from './api-key.ts'
import { isClientToken, keyIdOfToken, verifyClientToken } from './client-token.ts'
import { apiKeyById, markKeyUsed, unrevokedKeysAmong } from './repository.ts'

/** The use of a key is recorded at most this often. */
const lastUsedPrecisionMs = 60_000

// What an unknown key is compared with, so that it takes as long as a known one.
const dummyKey = { id: '0000000000000000', secret: '0'.repeat(48) }
const dummySecretHash = hashSecret('no key has this secret, because it is not hexadecimal')

/** Who was found to ask, for which merchant; `aheadMs` is how far the merchant's clock is ahead. */
export type AuthenticatedCaller = {
  readonly merchantId: string
  readonly aheadMs: number
  readonly caller: Caller
  /** Between which times the key or token is good by itself. */
  readonly validity: Validity
  /** The networks from which the key may be used, in CIDR notation; `null` for any. Tokens are for whoever has them. */
  readonly networks: readonly string[] | null
}

/** Wall times, in milliseconds since 1970: `from` which it is good, and `until` which, exclusive. */
export type Validity = { readonly from: number; readonly until: number }

/** How far the clock of the process that made a token may be ahead. */
const clockToleranceMs = 60_000

/** A key that was found valid: what its next use needs of it. */
type CachedKey = AuthenticatedCaller & { readonly keyId: string; readonly lastUsedAtMs: number }

/**
 * The merchant whose API key or client token this is; at once where it is known and nothing has changed since it was looked up.
 *
 * One that is malformed, unknown, expired, revoked or of the other mode takes the same path and gets the same refusal (ruling 4).
 *
 * @throws Refusal INVALID_TOKEN, by the promise
 */
export function authenticate(service: Service, text: string): MaybePromise<AuthenticatedCaller> {
  // Taken before the row is read: what the row says holds as of then, and perhaps no longer once it is here.
  const keys = keyCacheOf(service)
  const known = keys && findCachedKey(keys, text)
  if (!known || !isValidAt(known.validity, service.wallClock()))
    return authenticateFromDatabase(service, text, (found) => keys?.byHash.set(hashSecret(text), found))
  recordUseIfDue(service, known)
  return known
}

function findCachedKey({ byText: inUse, byHash }: KeyCache, text: string): CachedKey | undefined {
  const latest = inUse.get(text)
  if (latest !== undefined) return latest
  const known = byHash.get(hashSecret(text))
  if (known === undefined) return undefined
  if (inUse.size === 0) setTimeout(() => inUse.clear(), byTextTtlMs).unref()
  inUse.set(text, known)
  return known
}

async function authenticateFromDatabase(
  service: Service,
  presented: string,
  remember: (key: CachedKey) => void,
): Promise<AuthenticatedCaller> {
  const token = isClientToken(presented) ? presented : null
  const key = parseApiKey(presented)
  const id = (token === null ? key?.id : keyIdOfToken(token)) ?? dummyKey.id
  const row = await apiKeyById(service.db, { id })
  const found =
    token === null
      ? cachedKeyOf(service, row, matchesHash(key?.secret ?? dummyKey.secret, row?.secretHash ?? dummySecretHash))
      : await cachedKeyOfToken(service, token, row)
  if (!found || !isValidAt(found.validity, service.wallClock())) {
    // Whoever is refused has looked for a key that is there and for one that is not, in whichever order.
    await apiKeyById(service.db, { id: row ? dummyKey.id : (latestValidKeyIds.get(service.db) ?? dummyKey.id) })
    throw new DomainError('INVALID_TOKEN', 'A valid API key is required in the x-api-key header.')
  }
  latestValidKeyIds.set(service.db, id)
  remember(found)
  recordUseIfDue(service, found)
  return found
}

type ApiKeyRow = NonNullable<Awaited<ReturnType<typeof apiKeyById>>>

function cachedKeyOf({ mode }: Service, row: ApiKeyRow | null, isSecretRight: boolean): CachedKey | null {
  if (row === null || !isSecretRight || row.revokedAt !== null || row.mode !== mode) return null
  const { id: keyId, merchantId, lastUsedAt, expiresAt, networks } = row
  return {
    keyId,
    merchantId,
    aheadMs: Number(row.aheadMs ?? 0),
    caller: { keyId, tokenId: null, scopes: row.scopes as Scope[] | null, customerId: null },
    validity: {
      from: Number.NEGATIVE_INFINITY,
      until: expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt),
    },
    networks,
    lastUsedAtMs: lastUsedAt === null ? 0 : Date.parse(lastUsedAt),
  }
}

/** Whom a token admits: never to more than its key may do, nor for longer than that is valid. */
async function cachedKeyOfToken(service: Service, token: string, row: ApiKeyRow | null): Promise<CachedKey | null> {
  const claims = await verifyClientToken(
    service.secrets,
    row ?? { id: dummyKey.id, secretHash: dummySecretHash },
    token,
  )
  if (claims === null) return null
  const key = cachedKeyOf(service, row, true)
  const { id: tokenId, scopes, customerId } = claims
  if (key === null || !scopes.every((scope) => hasScope(key.caller, scope))) return null
  // One that says it is yet to be made was made by a clock that was ahead, and would last for longer than it may.
  const from = claims.issuedAt * 1_000 - clockToleranceMs
  const validity = { from, until: Math.min(claims.expiresAt * 1_000, key.validity.until) }
  return { ...key, caller: { keyId: key.keyId, tokenId, scopes, customerId }, validity, networks: null }
}

/** Whether a key or a token is good by itself now. */
export function isValidAt({ from, until }: Validity, now: WallTime): boolean {
  return from <= now && now < until
}

/** The keys among `ids` that are valid no more, by one look at all of them. */
export async function findRevokedKeys({ db }: Service, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const valid = new Set((await unrevokedKeysAmong(db, { ids })).map(({ id }) => id))
  return new Set(ids.filter((id) => !valid.has(id)))
}

/** Notes when a key was used, in milliseconds since 1970, unless a use within the same minute is noted. */
export const recordKeyUse = defineInternalOperation(
  'recordKeyUse',
  async ({ db, merchantId }: Context, { id, usedAt }: { id: string; usedAt: number }): Promise<void> => {
    const [before, after] = [timestamp(usedAt - lastUsedPrecisionMs), timestamp(usedAt + lastUsedPrecisionMs)]
    await db.write((tx) => markKeyUsed(tx, { merchantId, id, usedAt: timestamp(usedAt), before, after }))
  },
)

/** The keys that were found valid since keys have last changed. */
type KeyCache = {
  readonly version: number
  /** By the hash of the whole key. */
  readonly byHash: Map<string, CachedKey>
  /**
   * Those that are in use by the key itself, which is found for less than its hash is made, and forgotten within a second.
   * How long that takes tells nothing of it: texts are found by a hash of V8's with a seed of this process.
   */
  readonly byText: Map<string, CachedKey>
}

/** What is known; `null` where an engine can't tell whether keys have changed: any commit of another process may have revoked one. */
function keyCacheOf(service: Service): KeyCache | null {
  const [ofKeys, ofClocks] = [service.db.tableVersion('apiKeys'), service.db.tableVersion('merchantClocks')]
  if (ofKeys === null || ofClocks === null) return null
  // Neither ever goes down.
  const version = ofKeys + ofClocks
  const known = keyCaches.get(service)
  if (known?.version === version && known.byHash.size < maxCachedKeys) return known
  const keys = { version, byHash: new Map(), byText: new Map() }
  keyCaches.set(service, keys)
  return keys
}

const maxCachedKeys = 10_000
const byTextTtlMs = 1_000

const keyCaches = new WeakMap<Service, KeyCache>()

/** The key that was last looked up and valid: one that is there. */
const latestValidKeyIds = new WeakMap<Database, string>()

function recordUseIfDue(service: Service, { keyId: id, merchantId, lastUsedAtMs }: CachedKey): void {
  const { db, wallClock } = service
  const at = wallClock()
  const uses = recentUses.get(db) ?? new Map<string, number>()
  recentUses.set(db, uses)
  // One that was noted by a clock that was ahead is no use within the same minute.
  if ([uses.get(id) ?? 0, lastUsedAtMs].some((time) => Math.abs(at - time) < lastUsedPrecisionMs)) return
  uses.set(id, at)
  // Not waited for: a request must not fail or take longer because this can't be stored now.
  service.perform(recordKeyUse, createContext(service, merchantId), { id, usedAt: at }).catch(() => {})
}

/** Uses that are recorded or about to be, so that a thousand requests at once make one write. */
const recentUses = new WeakMap<Database, Map<string, number>>()
