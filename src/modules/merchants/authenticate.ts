import { Refusal } from '../../core/errors.ts'
import type { WallTime } from '../../core/ids.ts'
import { timestamp } from '../../core/ids.ts'
import type { Database } from '../../database/database.ts'
import type { Caller } from '../../operations/access/api-caller.ts'
import { hasScope } from '../../operations/access/api-caller.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { hashSecret, matchesHash, parseApiKey } from './api-key.ts'
import { isClientToken, keyNamedBy, verifyClientToken } from './client-token.ts'
import { apiKeyById, liveKeysAmong, markKeyUsed } from './repository.ts'

/** The use of a key is recorded at most this often. */
const lastUsedPrecisionMs = 60_000

// What an unknown key is compared with, so that it takes as long as a known one.
const nobody = { id: '0000000000000000', secret: '0'.repeat(48) }
const nobodysHash = hashSecret('no key has this secret, because it is not hexadecimal')

/** Who was found to ask, for which merchant; `aheadMs` is how far the merchant's clock is ahead. */
export type Admitted = {
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
type KnownKey = Admitted & { readonly keyId: string; readonly lastUsedAtMs: number }

/**
 * The merchant whose API key or client token this is; at once where it is known and nothing has changed since it was looked up.
 *
 * One that is malformed, unknown, expired, revoked or of the other mode takes the same path and gets the same refusal (ruling 4).
 *
 * @throws Refusal INVALID_TOKEN, by the promise
 */
export function authenticate(service: Service, text: string): Admitted | Promise<Admitted> {
  // Taken before the row is read: what the row says holds as of then, and perhaps no longer once it is here.
  const keys = knownKeys(service)
  const known = keys && knownKey(keys, text)
  if (!known || !isValidAt(known.validity, service.wallClock()))
    return lookUp(service, text, (found) => keys?.byHash.set(hashSecret(text), found))
  recordUse(service, known)
  return known
}

function knownKey({ inUse, byHash }: KnownKeys, text: string): KnownKey | undefined {
  const latest = inUse.get(text)
  if (latest !== undefined) return latest
  const known = byHash.get(hashSecret(text))
  if (known === undefined) return undefined
  if (inUse.size === 0) setTimeout(() => inUse.clear(), inUseMs).unref()
  inUse.set(text, known)
  return known
}

async function lookUp(service: Service, presented: string, remember: (key: KnownKey) => void): Promise<Admitted> {
  const token = isClientToken(presented) ? presented : null
  const key = parseApiKey(presented)
  const id = (token === null ? key?.id : keyNamedBy(token)) ?? nobody.id
  const row = await apiKeyById(service.db, { id })
  const found =
    token === null
      ? keyFound(service, row, matchesHash(key?.secret ?? nobody.secret, row?.secretHash ?? nobodysHash))
      : await tokenFound(service, token, row)
  if (!found || !isValidAt(found.validity, service.wallClock())) {
    // Whoever is refused has looked for a key that is there and for one that is not, in whichever order.
    await apiKeyById(service.db, { id: row ? nobody.id : (latestUsed.get(service.db) ?? nobody.id) })
    throw new Refusal('INVALID_TOKEN', 'A valid API key is required in the x-api-key header.')
  }
  latestUsed.set(service.db, id)
  remember(found)
  recordUse(service, found)
  return found
}

type KeyRow = NonNullable<Awaited<ReturnType<typeof apiKeyById>>>

function keyFound({ mode }: Service, row: KeyRow | null, isSecretRight: boolean): KnownKey | null {
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
async function tokenFound(service: Service, token: string, row: KeyRow | null): Promise<KnownKey | null> {
  const claims = await verifyClientToken(service.secrets, row ?? { id: nobody.id, secretHash: nobodysHash }, token)
  if (claims === null) return null
  const key = keyFound(service, row, true)
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
export async function endedKeys({ db }: Service, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const valid = new Set((await liveKeysAmong(db, { ids })).map(({ id }) => id))
  return new Set(ids.filter((id) => !valid.has(id)))
}

/** Notes when a key was used, in milliseconds since 1970, unless a use within the same minute is noted. */
export async function recordKeyUse(
  { db, merchantId }: Context,
  { id, usedAt }: { id: string; usedAt: number },
): Promise<void> {
  const [before, after] = [timestamp(usedAt - lastUsedPrecisionMs), timestamp(usedAt + lastUsedPrecisionMs)]
  await db.write((tx) => markKeyUsed(tx, { merchantId, id, usedAt: timestamp(usedAt), before, after }))
}

/** The keys that were found valid since keys have last changed. */
type KnownKeys = {
  readonly version: number
  /** By the hash of the whole key. */
  readonly byHash: Map<string, KnownKey>
  /**
   * Those that are in use by the key itself, which is found for less than its hash is made, and forgotten within a second.
   * How long that takes tells nothing of it: texts are found by a hash of V8's with a seed of this process.
   */
  readonly inUse: Map<string, KnownKey>
}

/** What is known; `null` where an engine can't tell whether keys have changed: any commit of another process may have revoked one. */
function knownKeys(service: Service): KnownKeys | null {
  const [ofKeys, ofClocks] = [service.db.version('apiKeys'), service.db.version('merchantClocks')]
  if (ofKeys === null || ofClocks === null) return null
  // Neither ever goes down.
  const version = ofKeys + ofClocks
  const known = keysOfVersion.get(service)
  if (known?.version === version && known.byHash.size < keysKept) return known
  const keys = { version, byHash: new Map(), inUse: new Map() }
  keysOfVersion.set(service, keys)
  return keys
}

const keysKept = 10_000
const inUseMs = 1_000

const keysOfVersion = new WeakMap<Service, KnownKeys>()

/** The key that was last looked up and valid: one that is there. */
const latestUsed = new WeakMap<Database, string>()

function recordUse(service: Service, { keyId: id, merchantId, lastUsedAtMs }: KnownKey): void {
  const { db, wallClock } = service
  const at = wallClock()
  const uses = recordedUses.get(db) ?? new Map<string, number>()
  recordedUses.set(db, uses)
  // One that was noted by a clock that was ahead is no use within the same minute.
  if ([uses.get(id) ?? 0, lastUsedAtMs].some((time) => Math.abs(at - time) < lastUsedPrecisionMs)) return
  uses.set(id, at)
  // Not waited for: a request must not fail or take longer because this can't be stored now.
  service.perform(recordKeyUse, createContext(service, merchantId), { id, usedAt: at }).catch(() => {})
}

/** Uses that are recorded or about to be, so that a thousand requests at once make one write. */
const recordedUses = new WeakMap<Database, Map<string, number>>()
