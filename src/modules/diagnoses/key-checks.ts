import type { Check } from './diagnosis.ts'
import { fault, ok, some, warning } from './diagnosis.ts'
import { keysInUse } from './repository.ts'

const dayMs = 86_400_000

/** How long a key may lie unused, a new one be on its way to who shall use it, and how soon an end is near. */
const unusedDays = 90
const newDays = 7
const endingDays = 14

/** The demo's key is one of the sandbox, and everyone knows it. */
export const keysOfTheMode: Check = async ({ db, mode }) => {
  const others = (await keysInUse(db, {})).filter((key) => key.mode !== mode)
  if (others.length === 0) return ok('keys of the mode', `Every API key is one of MODE=${mode}.`)
  const message = `API keys of the other mode are in a database of MODE=${mode}: ${some(others.map(({ id }) => id))}.`
  return fault('keys of the mode', message, 'Find out how they came there, then `key revoke <key id>`.')
}

export const unusedKeys: Check = async ({ db, mode, now }) => {
  if (mode === 'sandbox') return ok('unused keys', 'Keys of the sandbox move no money.')
  const daysSince = (time: string) => (now - Date.parse(time)) / dayMs
  const unused = (await keysInUse(db, {})).filter(({ createdAt, lastUsedAt }) =>
    lastUsedAt === null ? daysSince(createdAt) > newDays : daysSince(lastUsedAt) > unusedDays,
  )
  if (unused.length === 0) return ok('unused keys', `Every API key is new, or was used within ${unusedDays} days.`)
  const message = `API keys were never used, or not for ${unusedDays} days: ${some(unused.map(({ id }) => id))}.`
  return warning('unused keys', message, 'Whoever finds one may pay with it: `key revoke <key id>`.')
}

export const endingKeys: Check = async ({ db, now }) => {
  const ending = (await keysInUse(db, {})).filter(({ expiresAt }) => {
    const left = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - now
    return left > 0 && left < endingDays * dayMs
  })
  if (ending.length === 0) return ok('ending keys', `No API key ends within ${endingDays} days.`)
  const message = `API keys end within ${endingDays} days: ${some(ending.map(({ id, expiresAt }) => `${id} at ${expiresAt}`))}.`
  return warning(
    'ending keys',
    message,
    'Give who uses one another before: `key create <merchant id> --expires-at <time>`.',
  )
}
