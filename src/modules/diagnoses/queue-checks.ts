import { timestamp } from '../../core/ids-and-clock.ts'
import type { Reader } from '../../database/query.ts'
import { currentRailRoutes, pausedRails } from '../rail-orders/repository.ts'
import { sandboxRailName } from '../rail-orders/sandbox-accounts.ts'
import type { DiagnosisCheck } from './diagnosis.ts'
import { formatNames, reportFault, reportOk, reportWarning } from './diagnosis.ts'
import { attentionCounts, endpointHealth, latestRowTime } from './repository.ts'

/** How far a stored time may be ahead of this clock: other machines have others. */
const clockToleranceMs = 5_000

/** Rows that are ahead make every later one wait for them: their times, and what falls due by them. */
export const checkStoredTimes: DiagnosisCheck = async ({ db, now }) => {
  const latest = (await latestRowTime(db, {}))?.time ?? null
  if (latest === null || Number(latest) <= now + clockToleranceMs) {
    return reportOk('clock', 'Nothing that is stored happened in the future.')
  }
  const message = `The latest row is of ${timestamp(Number(latest))}, and this machine’s clock says ${timestamp(now)}.`
  return reportFault(
    'clock',
    message,
    'Put the clock right (chrony or ntpd): either it is behind now, or it was ahead.',
  )
}

export const checkDisabledEndpoints: DiagnosisCheck = async ({ db }) => {
  const disabled = (await endpointHealth(db, {})).filter(
    ({ status, disabledReason }) => status === 'disabled' && disabledReason !== 'by_request',
  )
  if (disabled.length === 0) return reportOk('disabled webhooks', 'No webhook endpoint was disabled because it failed.')
  const message = `Webhook endpoints were disabled because they failed: ${formatNames(disabled.map(({ id }) => id))}.`
  const advice = 'Have their owners repair them, then `webhook enable <webhook id>`, which sends what was missed.'
  return reportWarning('disabled webhooks', message, advice)
}

export const checkFailingEndpoints: DiagnosisCheck = async ({ db }) => {
  const failing = (await endpointHealth(db, {})).filter(
    ({ status, failingSince }) => status === 'enabled' && failingSince !== null,
  )
  if (failing.length === 0) return reportOk('failing webhooks', 'No webhook endpoint is failing.')
  const names = failing.map(({ id, failingSince }) => `${id} since ${failingSince}`)
  const advice = '`webhook deliveries <webhook id>` shows what each attempt was answered.'
  return reportWarning('failing webhooks', `Webhook endpoints fail: ${formatNames(names)}.`, advice)
}

export const checkPausedRails: DiagnosisCheck = async ({ db }) => {
  const paused = (await pausedRails(db, {})).map(({ rail }) => rail)
  if (paused.length === 0) return reportOk('paused rails', 'No rail is paused.')
  const message = `Rails are paused, and their payouts wait: ${formatNames(paused)}.`
  return reportWarning('paused rails', message, '`rail resume <rail>` when the reason is gone.')
}

export const checkUnknownRails: DiagnosisCheck = async ({ db, mode, rails }) => {
  const known = { sandbox: [...rails, sandboxRailName], live: rails }[mode]
  const unknown = new Set(
    (await currentRailRoutes(db, {})).map(({ rail }) => rail).filter((rail) => !known.includes(rail)),
  )
  if (unknown.size === 0) return reportOk('routes', 'Every route leads to a rail that the service is told of.')
  const message = `Routes lead to rails that RAILS does not name, and their payouts wait: ${formatNames([...unknown])}.`
  return reportFault(
    'routes',
    message,
    'Name them in RAILS, as the service’s environment does, or `rail route <rail> --remove`.',
  )
}

export const checkAttentionQueue: DiagnosisCheck = async ({ db }) => {
  const { payouts, deposits } = await findAttentionCounts({ db })
  if (payouts + deposits === 0) return reportOk('attention', 'Nothing waits for a person.')
  const message = `${payouts} payouts and ${deposits} deposits wait for a person to decide.`
  return reportWarning(
    'attention',
    message,
    '`attention list` and `deposit attention` show them, with what can be done.',
  )
}

/** How many payouts and deposits of all merchants wait for a person. */
export async function findAttentionCounts({
  db,
}: {
  readonly db: Reader
}): Promise<{ readonly payouts: number; readonly deposits: number }> {
  const counts = await attentionCounts(db, {})
  return { payouts: Number(counts?.payouts ?? 0), deposits: Number(counts?.deposits ?? 0) }
}
