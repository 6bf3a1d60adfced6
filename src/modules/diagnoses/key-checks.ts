import type { DiagnosisCheck } from './diagnosis.ts'
import { formatNames, reportFault, reportOk, reportWarning } from './diagnosis.ts'
import { unrevokedKeys } from './repository.ts'

const dayMs = 86_400_000

/** How long a key may lie unused, a new one be on its way to who shall use it, and how soon an end is near. */
const maxUnusedDays = 90
const gracePeriodDays = 7
const expiryWarningDays = 14

/** The demo's key is one of the sandbox, and everyone knows it. */
export const checkKeyModes: DiagnosisCheck = async ({ db, mode }) => {
  const others = (await unrevokedKeys(db, {})).filter((key) => key.mode !== mode)
  if (others.length === 0) return reportOk('keys of the mode', `Every API key is one of MODE=${mode}.`)
  const message = `API keys of the other mode are in a database of MODE=${mode}: ${formatNames(others.map(({ id }) => id))}.`
  return reportFault('keys of the mode', message, 'Find out how they came there, then `key revoke <key id>`.')
}

export const checkUnusedKeys: DiagnosisCheck = async ({ db, mode, now }) => {
  if (mode === 'sandbox') return reportOk('unused keys', 'Keys of the sandbox move no money.')
  const daysSince = (time: string) => (now - Date.parse(time)) / dayMs
  const unused = (await unrevokedKeys(db, {})).filter(({ createdAt, lastUsedAt }) =>
    lastUsedAt === null ? daysSince(createdAt) > gracePeriodDays : daysSince(lastUsedAt) > maxUnusedDays,
  )
  if (unused.length === 0)
    return reportOk('unused keys', `Every API key is new, or was used within ${maxUnusedDays} days.`)
  const message = `API keys were never used, or not for ${maxUnusedDays} days: ${formatNames(unused.map(({ id }) => id))}.`
  return reportWarning('unused keys', message, 'Whoever finds one may pay with it: `key revoke <key id>`.')
}

export const checkExpiringKeys: DiagnosisCheck = async ({ db, now }) => {
  const ending = (await unrevokedKeys(db, {})).filter(({ expiresAt }) => {
    const left = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - now
    return left > 0 && left < expiryWarningDays * dayMs
  })
  if (ending.length === 0) return reportOk('ending keys', `No API key ends within ${expiryWarningDays} days.`)
  const message = `API keys end within ${expiryWarningDays} days: ${formatNames(ending.map(({ id, expiresAt }) => `${id} at ${expiresAt}`))}.`
  return reportWarning(
    'ending keys',
    message,
    'Give who uses one another before: `key create <merchant id> --expires-at <time>`.',
  )
}
