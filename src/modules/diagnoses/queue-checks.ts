import { timestamp } from '../../core/ids-and-clock.ts'
import type { Reader } from '../../database/query.ts'
import { currentRailRoutes, pausedRails } from '../rail-orders/repository.ts'
import { sandboxRailName } from '../rail-orders/sandbox-accounts.ts'
import type { DiagnosisCheck } from './diagnosis.ts'
import { formatNames, reportFault, reportOk, reportWarning } from './diagnosis.ts'
import { attentionCounts, endpointHealth, latestRowTime } from './repository.ts'

const clockToleranceMs = 5_000

/**
 * The times of stored rows never decrease. If one row has a time in the future, all later rows get times in the future
 * too.
 */
export const checkStoredTimes: DiagnosisCheck = async ({ db, now }) => {
  const latest = (await latestRowTime(db, {}))?.time ?? null
  if (latest === null || Number(latest) <= now + clockToleranceMs) {
    return reportOk('clock', 'No stored row has a time in the future.')
  }
  const message = `The latest row has the time ${timestamp(Number(latest))}, but this machine’s clock shows ${timestamp(now)}.`
  return reportFault('clock', message, 'Correct the clock (chrony or ntpd): it is behind now, or it was ahead.')
}

export const checkDisabledEndpoints: DiagnosisCheck = async ({ db }) => {
  const disabled = (await endpointHealth(db, {})).filter(
    ({ status, disabledReason }) => status === 'disabled' && disabledReason !== 'by_request',
  )
  if (disabled.length === 0) return reportOk('disabled webhooks', 'No webhook endpoint was disabled after failures.')
  const message = `Webhook endpoints were disabled after failures: ${formatNames(disabled.map(({ id }) => id))}.`
  const advice =
    'After their owners have repaired them, run `webhook enable <webhook id>`, which sends the missed events.'
  return reportWarning('disabled webhooks', message, advice)
}

export const checkFailingEndpoints: DiagnosisCheck = async ({ db }) => {
  const failing = (await endpointHealth(db, {})).filter(
    ({ status, failingSince }) => status === 'enabled' && failingSince !== null,
  )
  if (failing.length === 0) return reportOk('failing webhooks', 'No webhook endpoint is failing.')
  const names = failing.map(({ id, failingSince }) => `${id} since ${failingSince}`)
  const advice = '`webhook deliveries <webhook id>` shows the response to each attempt.'
  return reportWarning('failing webhooks', `Webhook endpoints are failing: ${formatNames(names)}.`, advice)
}

export const checkPausedRails: DiagnosisCheck = async ({ db }) => {
  const paused = (await pausedRails(db, {})).map(({ rail }) => rail)
  if (paused.length === 0) return reportOk('paused rails', 'No rail is paused.')
  const message = `Rails are paused and their payouts are queued: ${formatNames(paused)}.`
  return reportWarning('paused rails', message, 'Run `rail resume <rail>` when the cause is resolved.')
}

export const checkUnknownRails: DiagnosisCheck = async ({ db, mode, rails }) => {
  const known = { sandbox: [...rails, sandboxRailName], live: rails }[mode]
  const unknown = new Set(
    (await currentRailRoutes(db, {})).map(({ rail }) => rail).filter((rail) => !known.includes(rail)),
  )
  if (unknown.size === 0) return reportOk('routes', 'Every route leads to a configured rail.')
  const message = `Routes lead to rails that RAILS does not name, and their payouts are queued: ${formatNames([...unknown])}.`
  return reportFault(
    'routes',
    message,
    'Add them to RAILS in the environment of the service and of this command, or run `rail route <rail> --remove`.',
  )
}

export const checkAttentionQueue: DiagnosisCheck = async ({ db }) => {
  const { payouts, deposits } = await findAttentionCounts({ db })
  if (payouts + deposits === 0) return reportOk('attention', 'No items need attention.')
  const message = `${payouts} payouts and ${deposits} deposits need a decision.`
  return reportWarning(
    'attention',
    message,
    '`attention list` and `deposit attention` show them with the available actions.',
  )
}

export async function findAttentionCounts({
  db,
}: {
  readonly db: Reader
}): Promise<{ readonly payouts: number; readonly deposits: number }> {
  const counts = await attentionCounts(db, {})
  return { payouts: Number(counts?.payouts ?? 0), deposits: Number(counts?.deposits ?? 0) }
}
