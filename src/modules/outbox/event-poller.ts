import type { Database } from '../../database/database.ts'
import type { Context } from '../../operations/context.ts'
import type { Event } from './event.ts'
import { readEvents, requireKnownSequence } from './read-events.ts'
import { latestEventSequences } from './repository.ts'

export const eventBatchSize = 500

/** The pause after a poll is nine times the duration of the poll, so polls take at most a tenth of the time. */
const pauseToPollRatio = 9
const maxPauseMs = 250
const pauseAfterErrorMs = 1_000

type MerchantListeners = {
  latest: number
  readonly loaded: Promise<void>
  readonly listeners: Set<() => void>
}

type EventPoller = {
  readonly merchants: Map<string, MerchantListeners>
  stop: () => void
  isPolling: boolean
  isPollRequested: boolean
  failure: { readonly error: unknown } | null
}

// `eventPollers` has the function `watch` as its key, because all copies of a database object share this function.
const eventPollers = new WeakMap<Database['watch'], EventPoller>()

function eventPollerOf({ watch }: Database): EventPoller {
  const existing = eventPollers.get(watch)
  if (existing) return existing
  const poller = { merchants: new Map(), stop: () => {}, isPolling: false, isPollRequested: false, failure: null }
  eventPollers.set(watch, poller)
  return poller
}

/**
 * `latest` runs no query. If the last poll failed, `latest` throws the error of the poll, so that subscribers notice
 * the failure.
 */
export type EventSubscription = { readonly latest: () => number; readonly stop: () => void }

/** All subscribers of a process share one poll for new events. */
export async function subscribeToEvents(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  listener: () => void,
): Promise<EventSubscription> {
  const poller = eventPollerOf(db)
  const { merchants } = poller
  if (merchants.size === 0) {
    poller.failure = null
    poller.stop = db.watch('events', () => poll(db, poller))
  }
  const merchant = merchants.get(merchantId) ?? loadMerchant(db, merchantId)
  merchants.set(merchantId, merchant)
  const onEvent = () => listener()
  merchant.listeners.add(onEvent)
  const stop = () => {
    merchant.listeners.delete(onEvent)
    if (merchant.listeners.size > 0 || merchants.get(merchantId) !== merchant) return
    merchants.delete(merchantId)
    if (merchants.size === 0) poller.stop()
  }
  try {
    await merchant.loaded
  } catch (error) {
    stop()
    throw error
  }
  const latest = () => {
    if (poller.failure) throw poller.failure.error
    return merchant.latest
  }
  return { latest, stop }
}

function loadMerchant(db: Database, merchantId: string): MerchantListeners {
  const merchant = { latest: 0, listeners: new Set<() => void>(), loaded: Promise.resolve() }
  merchant.loaded = (async () => {
    const [row] = await latestEventSequences(db, { merchantIds: [merchantId] })
    merchant.latest = Math.max(merchant.latest, row?.latest ?? 0)
  })()
  return merchant
}

async function poll(db: Database, poller: EventPoller): Promise<void> {
  poller.isPollRequested = true
  if (poller.isPolling) return
  poller.isPolling = true
  poller.isPollRequested = false
  const startedAt = performance.now()
  let pauseMs = pauseAfterErrorMs
  try {
    const rows = await latestEventSequences(db, { merchantIds: [...poller.merchants.keys()] })
    poller.failure = null
    for (const { merchantId, latest } of rows) notifyListeners(poller.merchants.get(merchantId), latest)
    pauseMs = Math.min((performance.now() - startedAt) * pauseToPollRatio, maxPauseMs)
  } catch (error) {
    poller.isPollRequested = true
    poller.failure = { error }
    for (const { listeners } of poller.merchants.values()) for (const listener of [...listeners]) listener()
  }
  setTimeout(() => {
    poller.isPolling = false
    if (poller.isPollRequested && poller.merchants.size > 0) poll(db, poller)
  }, pauseMs).unref()
}

function notifyListeners(merchant: MerchantListeners | undefined, latest: number): void {
  if (merchant === undefined || merchant.latest >= latest) return
  merchant.latest = latest
  for (const listener of [...merchant.listeners]) listener()
}

/**
 * Streams events in batches: first all events after `after`, then new events. If `after` is `null`, streams only new
 * events.
 *
 * @param signal ends the stream, even if the stream was never read
 * @throws DomainError INVALID_INPUT if `after` is later than the latest event
 */
export async function streamEvents(
  context: Pick<Context, 'db' | 'merchantId'>,
  after: number | null,
  signal?: AbortSignal,
): Promise<AsyncGenerator<readonly Event[]>> {
  let wake = () => {}
  const subscription = await subscribeToEvents(context, () => wake())
  const close = () => {
    subscription.stop()
    wake()
  }
  try {
    if (signal?.aborted) subscription.stop()
    else signal?.addEventListener('abort', close, { once: true })
    if (after !== null) await requireKnownSequence(context, after, subscription.latest())
    return readBatches(after ?? subscription.latest())
  } catch (error) {
    close()
    throw error
  }

  async function* readBatches(first: number): AsyncGenerator<readonly Event[]> {
    let cursor = first
    try {
      while (!signal?.aborted) {
        const latest = subscription.latest()
        if (cursor >= latest) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          continue
        }
        const { events, through } = await readEvents(context, { after: cursor, limit: eventBatchSize, latest })
        cursor = through
        if (events.length > 0) yield events
      }
    } finally {
      signal?.removeEventListener('abort', close)
      subscription.stop()
    }
  }
}
