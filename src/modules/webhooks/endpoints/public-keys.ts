import type { Service } from '../../../operations/context.ts'
import { isValidAt } from './endpoint-secrets.ts'
import { allSigningKeys } from './repository.ts'

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
