import type { Context, Service } from '../context.ts'
import { createContext } from '../context.ts'
import type { Database } from '../database/database.ts'
import { Refusal } from '../errors.ts'
import { timestamp } from '../ids.ts'
import { writing } from '../writing.ts'
import { hashSecret, matchesHash, parseApiKey } from './api-key.ts'
import { apiKeyById, markKeyUsed } from './repository.ts'

/** The use of a key is recorded at most this often. */
const lastUsedPrecisionMs = 60_000

// What an unknown key is compared with, so that it takes as long as a known one.
const nobody = { id: '0000000000000000', secret: '0'.repeat(48) }
const nobodysHash = hashSecret('no key has this secret, because it is not hexadecimal')

/**
 * The merchant whose API key this is.
 *
 * A key that is missing, malformed, unknown, revoked or of the other mode takes the same path and gets the same refusal
 * (ruling 4).
 *
 * @throws Refusal INVALID_TOKEN
 */
export async function authenticate(service: Service, presented: string | null): Promise<{ merchantId: string }> {
  const key = parseApiKey(presented ?? '')
  const { id, secret } = key ?? nobody
  const row = await apiKeyById(service.db, { id })
  const isSecretRight = matchesHash(secret, row?.secretHash ?? nobodysHash)
  if (!key || !row || !isSecretRight || row.revokedAt !== null || row.mode !== service.mode) {
    // Whoever is refused has looked for a key that is there and for one that is not, in whichever order.
    await apiKeyById(service.db, { id: row ? nobody.id : (latestUsed.get(service.db) ?? nobody.id) })
    throw new Refusal('INVALID_TOKEN', 'A valid API key is required in the x-api-key header.')
  }
  latestUsed.set(service.db, id)
  recordUse(service, row)
  return { merchantId: row.merchantId }
}

/** The key that was last used: one that is there. */
const latestUsed = new WeakMap<Database, string>()

function recordUse(service: Service, { id, merchantId, lastUsedAt }: UsedKey): void {
  const { db, now } = service
  const at = now()
  const uses = recordedUses.get(db) ?? new Map<string, number>()
  recordedUses.set(db, uses)
  const latest = Math.max(uses.get(id) ?? 0, lastUsedAt === null ? 0 : Date.parse(lastUsedAt))
  if (at - latest < lastUsedPrecisionMs) return
  uses.set(id, at)
  // Not waited for: a request must not fail or take longer because this can't be stored now.
  recordKeyUse(createContext(service, merchantId), { id, usedAt: at }).catch(() => {})
}

/** Notes when a key was used, in milliseconds since 1970, unless a use within the same minute is noted. */
export const recordKeyUse = writing(
  'recordKeyUse',
  async ({ db }: Context, { id, usedAt }: { id: string; usedAt: number }): Promise<void> => {
    const before = timestamp(usedAt - lastUsedPrecisionMs)
    await db.write((tx) => markKeyUsed(tx, { id, usedAt: timestamp(usedAt), before }))
  },
)

type UsedKey = { readonly id: string; readonly merchantId: string; readonly lastUsedAt: string | null }

/** Uses that are recorded or about to be, so that a thousand requests at once make one write. */
const recordedUses = new WeakMap<Database, Map<string, number>>()
