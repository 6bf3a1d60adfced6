import type { DiagnosisCheck } from './diagnosis.ts'
import { formatNames, reportFault, reportOk, reportWarning } from './diagnosis.ts'
import { unrevokedKeys } from './repository.ts'

const dayMs = 86_400_000

const maxUnusedDays = 90
const gracePeriodDays = 7
const expiryWarningDays = 14

/** The API key of the sandbox's demo is public, so it must not exist in live mode. */
export const checkKeyModes: DiagnosisCheck = async ({ db, mode }) => {
  const others = (await unrevokedKeys(db, {})).filter((key) => key.mode !== mode)
  if (others.length === 0) return reportOk('keys of the mode', `Every API key belongs to MODE=${mode}.`)
  const message = `API keys of the other mode are in the database of MODE=${mode}: ${formatNames(others.map(({ id }) => id))}.`
  return reportFault('keys of the mode', message, 'Find out how they got there, then run `key revoke <key id>`.')
}

export const checkUnusedKeys: DiagnosisCheck = async ({ db, mode, now }) => {
  if (mode === 'sandbox') return reportOk('unused keys', 'Sandbox keys move no money.')
  const daysSince = (time: string) => (now - Date.parse(time)) / dayMs
  const unused = (await unrevokedKeys(db, {})).filter(({ createdAt, lastUsedAt }) =>
    lastUsedAt === null ? daysSince(createdAt) > gracePeriodDays : daysSince(lastUsedAt) > maxUnusedDays,
  )
  if (unused.length === 0)
    return reportOk('unused keys', `Every API key is new, or was used within ${maxUnusedDays} days.`)
  const message = `API keys were not used for ${maxUnusedDays} days, or never: ${formatNames(unused.map(({ id }) => id))}.`
  return reportWarning('unused keys', message, 'A leaked key can make payouts. Revoke it with `key revoke <key id>`.')
}

export const checkExpiringKeys: DiagnosisCheck = async ({ db, now }) => {
  const expiring = (await unrevokedKeys(db, {})).filter(({ expiresAt }) => {
    const remainingMs = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - now
    return remainingMs > 0 && remainingMs < expiryWarningDays * dayMs
  })
  if (expiring.length === 0) return reportOk('ending keys', `No API key expires within ${expiryWarningDays} days.`)
  const message = `API keys expire within ${expiryWarningDays} days: ${formatNames(expiring.map(({ id, expiresAt }) => `${id} at ${expiresAt}`))}.`
  return reportWarning('ending keys', message, 'Replace them before: `key create <merchant id> --expires-at <time>`.')
}
