import { DomainError } from '../../core/errors.ts'
import type { WallTime } from '../../core/ids-and-clock.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
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

const lastUsedPrecisionMs = 60_000

// Authentication with an unknown API key checks this dummy key, so that the rejection takes as long as for a wrong
// secret.
const dummyKey = { id: '0000000000000000', secret: '0'.repeat(48) }
const dummySecretHash = hashSecret('no key has this secret, because it is not hexadecimal')

export type AuthenticatedCaller = {
  readonly merchantId: string
  readonly aheadMs: number
  readonly caller: Caller
  readonly validity: Validity
  /** The CIDR networks from which the API key may be used. `null` means every network. */
  readonly networks: readonly string[] | null
}

/** The times are in milliseconds since 1970. `until` is exclusive. */
export type Validity = { readonly from: number; readonly until: number }

/** The tolerated difference between the clocks of this process and the process that signed a client token. */
const clockToleranceMs = 60_000

type CachedKey = AuthenticatedCaller & { readonly keyId: string; readonly lastUsedAtMs: number }

/**
 * Returns synchronously if the credential is cached. A change of any API key or sandbox clock clears the cache.
 *
 * All invalid credentials get the same error in about the same time (ruling 4). Sandbox credentials are invalid in live
 * mode, and live credentials are invalid in the sandbox.
 *
 * @throws DomainError INVALID_TOKEN, by rejecting the promise
 */
export function authenticate(service: Service, text: string): AuthenticatedCaller | Promise<AuthenticatedCaller> {
  // Reads the cache version before the API key's row, so that the version is never newer than the row.
  const keys = keyCacheOf(service)
  const cached = keys && findCachedKey(keys, text)
  if (!cached || !isValidAt(cached.validity, service.wallClock()))
    return authenticateFromDatabase(service, text, (key) => keys?.byHash.set(hashSecret(text), key))
  recordUseIfDue(service, cached)
  return cached
}

function findCachedKey({ byText, byHash }: KeyCache, text: string): CachedKey | undefined {
  const latest = byText.get(text)
  if (latest !== undefined) return latest
  const cached = byHash.get(hashSecret(text))
  if (cached === undefined) return undefined
  if (byText.size === 0) setTimeout(() => byText.clear(), byTextTtlMs).unref()
  byText.set(text, cached)
  return cached
}

async function authenticateFromDatabase(
  service: Service,
  presented: string,
  cache: (key: CachedKey) => void,
): Promise<AuthenticatedCaller> {
  const token = isClientToken(presented) ? presented : null
  const key = parseApiKey(presented)
  const id = (token === null ? key?.id : keyIdOfToken(token)) ?? dummyKey.id
  const row = await apiKeyById(service.db, { id })
  const valid =
    token === null
      ? cachedKeyOf(service, row, matchesHash(key?.secret ?? dummyKey.secret, row?.secretHash ?? dummySecretHash))
      : await cachedKeyOfToken(service, token, row)
  if (!valid || !isValidAt(valid.validity, service.wallClock())) {
    // To prevent timing attacks, each rejection looks up one existing and one missing API key.
    await apiKeyById(service.db, { id: row ? dummyKey.id : (latestValidKeyIds.get(service.db) ?? dummyKey.id) })
    throw new DomainError('INVALID_TOKEN', 'A valid API key is required in the x-api-key header.')
  }
  latestValidKeyIds.set(service.db, id)
  cache(valid)
  recordUseIfDue(service, valid)
  return valid
}

type ApiKeyRow = NonNullable<Awaited<ReturnType<typeof apiKeyById>>>

function cachedKeyOf({ mode }: Service, row: ApiKeyRow | null, isSecretCorrect: boolean): CachedKey | null {
  if (row === null || !isSecretCorrect || row.revokedAt !== null || row.mode !== mode) return null
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
  // A token is invalid before its issue time, because a token from a process whose clock is ahead would be valid for
  // too long.
  const from = claims.issuedAt * 1_000 - clockToleranceMs
  const validity = { from, until: Math.min(claims.expiresAt * 1_000, key.validity.until) }
  return { ...key, caller: { keyId: key.keyId, tokenId, scopes, customerId }, validity, networks: null }
}

export function isValidAt({ from, until }: Validity, now: WallTime): boolean {
  return from <= now && now < until
}

export async function findRevokedKeys({ db }: Service, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const unrevoked = new Set((await unrevokedKeysAmong(db, { ids })).map(({ id }) => id))
  return new Set(ids.filter((id) => !unrevoked.has(id)))
}

/** Writes nothing if the stored time of the last use is within one minute of `usedAt`. */
export const recordKeyUse = defineInternalOperation(
  'recordKeyUse',
  async ({ db, merchantId }: Context, { id, usedAt }: { id: string; usedAt: number }): Promise<void> => {
    const [before, after] = [timestamp(usedAt - lastUsedPrecisionMs), timestamp(usedAt + lastUsedPrecisionMs)]
    await db.write((tx) => markKeyUsed(tx, { merchantId, id, usedAt: timestamp(usedAt), before, after }))
  },
)

type KeyCache = {
  readonly version: number
  /** The map's key is the hash of the credential. */
  readonly byHash: Map<string, CachedKey>
  /**
   * The map's key is the credential itself, because hashing takes time. The map is cleared after one second. Lookups in
   * the map are safe against timing attacks, because V8 seeds its string hashes per process.
   */
  readonly byText: Map<string, CachedKey>
}

/**
 * Returns null if the database engine has no table versions. A cache without table versions could miss that another
 * process revoked an API key.
 */
function keyCacheOf(service: Service): KeyCache | null {
  const [keysVersion, clocksVersion] = [service.db.tableVersion('apiKeys'), service.db.tableVersion('merchantClocks')]
  if (keysVersion === null || clocksVersion === null) return null
  // Table versions never decrease, so the sum of the two versions changes whenever one of the versions changes.
  const version = keysVersion + clocksVersion
  const current = keyCaches.get(service)
  if (current?.version === version && current.byHash.size < maxCachedKeys) return current
  const keys = { version, byHash: new Map(), byText: new Map() }
  keyCaches.set(service, keys)
  return keys
}

const maxCachedKeys = 10_000
const byTextTtlMs = 1_000

const keyCaches = new WeakMap<Service, KeyCache>()

/** The rejection of an unknown credential looks up the latest valid API key, to take as long as other rejections. */
const latestValidKeyIds = new WeakMap<Database, string>()

function recordUseIfDue(service: Service, { keyId: id, merchantId, lastUsedAtMs }: CachedKey): void {
  const { db, wallClock } = service
  const at = wallClock()
  const uses = recentUses.get(db) ?? new Map<string, number>()
  recentUses.set(db, uses)
  // If a clock was ahead, the stored time of the last use can be in the future. The new time replaces a future time.
  if ([uses.get(id) ?? 0, lastUsedAtMs].some((time) => Math.abs(at - time) < lastUsedPrecisionMs)) return
  uses.set(id, at)
  // The request must not wait for this write, and must succeed even if this write fails.
  service.perform(recordKeyUse, createContext(service, merchantId), { id, usedAt: at }).catch(() => {})
}

/**
 * For each API key, the latest use that was recorded or is being recorded, so that concurrent requests cause only one
 * write.
 */
const recentUses = new WeakMap<Database, Map<string, number>>()
