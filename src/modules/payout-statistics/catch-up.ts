import { setImmediate as nextIteration, setTimeout as wait } from 'node:timers/promises'
import type { Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { iterateMerchantIds } from '../merchants/list-merchants.ts'
import { summarizeTransfers } from './balance-changes.ts'
import type { StatusChange } from './payout-statistics.ts'
import { statusReachedBy, summarizeStatusChanges } from './payout-statistics.ts'
import { coverageOfMerchants, statusChangesBetween, transfersBetween } from './repository.ts'
import { storeStatistics } from './store-statistics.ts'

/** Processing a batch of this size blocks the event loop for about 3 ms. */
const eventsPerBatch = 2_000

const restToBatchRatio = 4

/**
 * The sealer normally counts unsealed events. If a merchant has more than this number, the catch-up counts the unsealed
 * events too.
 */
const maxUnsealedEvents = 100_000

const firstPollDelayMs = 1_000
const pollIntervalMs = 60_000

export type StatisticsCatchUp = {
  readonly poll: () => Promise<void>
  readonly stop: () => Promise<void>
}

/**
 * Counts events that were recorded before the payout statistics existed, and events that an interrupted rebuild left
 * uncounted. The sealer counts new events. Several processes may run the catch-up, because each batch of events is
 * counted only once.
 */
export function startStatisticsCatchUp({
  service,
  onError,
}: {
  readonly service: Service
  readonly onError: (error: unknown) => void
}): StatisticsCatchUp {
  const { db } = service
  const stopping = new AbortController()
  let isDue = true
  let polling: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout | undefined
  const endWatch = db.watch('events', () => {
    isDue = true
  })
  schedulePoll(firstPollDelayMs)

  function schedulePoll(afterMs: number): void {
    if (!stopping.signal.aborted) timer = setTimeout(pollAndReschedule, afterMs).unref()
  }

  async function pollAndReschedule(): Promise<void> {
    try {
      if (isDue) await poll()
    } catch (error) {
      isDue = true
      onError(error)
    }
    schedulePoll(pollIntervalMs)
  }

  function poll(): Promise<void> {
    isDue = false
    polling = polling
      .catch(() => {})
      .then(() => countHistory(service, { hasSealer: true, restRatio: restToBatchRatio, signal: stopping.signal }))
    return polling
  }

  return {
    poll,
    stop: async () => {
      stopping.abort()
      endWatch()
      clearTimeout(timer)
      await polling.catch(() => {})
    },
  }
}

type CountOptions = {
  readonly hasSealer: boolean
  readonly restRatio: number
  readonly signal?: AbortSignal
  readonly onProgress?: (done: number, total: number) => void
}

export async function countHistory(service: Service, options: CountOptions): Promise<void> {
  const { hasSealer, signal, onProgress = () => {} } = options
  const missing = new Map<string, { readonly after: number; readonly through: number }>()
  for await (const merchantIds of iterateMerchantIds(service.db)) {
    for (const { merchantId, latest, through, sealedThrough } of await coverageOfMerchants(service.db, {
      merchantIds,
    })) {
      const sealed = Number(sealedThrough ?? 0)
      const isLeftToSealer = hasSealer && latest - sealed <= maxUnsealedEvents
      const range = { after: through ?? 0, through: isLeftToSealer ? sealed : latest }
      if (range.after < range.through) missing.set(merchantId, range)
    }
  }
  const total = [...missing.values()].reduce((sum, { after, through }) => sum + through - after, 0)
  let done = 0
  for (const [merchantId, range] of missing) {
    const counts = countRange(service, { merchantId, ...range }, options)
    for await (const count of counts) {
      done += count
      onProgress(done, total)
    }
    if (signal?.aborted) return
  }
}

/** Ends early if another process counts the events of the same merchant. */
async function* countRange(
  service: Service,
  { merchantId, after: first, through: last }: { merchantId: string; after: number; through: number },
  { restRatio, signal }: CountOptions,
): AsyncGenerator<number> {
  const context = createContext(service, merchantId)
  for (let after = first; after < last && !signal?.aborted; ) {
    const startedAt = performance.now()
    const through = Math.min(after + eventsPerBatch, last)
    const events = await statusChangesBetween(service.db, { merchantId, after, through })
    const changes = summarizeStatusChanges(statusChangesOf(events))
    const balanceChanges = summarizeTransfers(await transfersBetween(service.db, { merchantId, after, through }))
    const counted = { after, through, changes, balanceChanges }
    if (!(await service.perform(storeStatistics, context, counted))) return
    yield through - after
    after = through
    if (restRatio === 0) await nextIteration()
    else await wait((performance.now() - startedAt) * restRatio)
  }
}

function* statusChangesOf(events: Awaited<ReturnType<typeof statusChangesBetween>>): Generator<StatusChange> {
  for (const { type, time, ...payout } of events) {
    const status = statusReachedBy(type)
    if (status !== undefined) yield { status, time: Number(time), payout }
  }
}
