import type { Database } from '../../database/database.ts'
import type { Context } from '../../operations/context.ts'
import type { Event } from './event.ts'
import { readEvents, requireKnownSequence } from './read-events.ts'
import { latestEventSequences } from './repository.ts'

/** Events that are read at once; where there are more, the next are read right after. */
export const eventBatchSize = 500

/**
 * Looks take a tenth of the time, however many merchants are followed, unless each takes long: one that did so once, because
 * the machine or the database stood still, must not hold up what happens next. One that fails is tried again after a while.
 */
const pauseToPollRatio = 9
const maxPauseMs = 250
const pauseAfterErrorMs = 1_000

type MerchantListeners = {
  /** The merchant's latest number at the last look. */
  latest: number
  readonly loaded: Promise<void>
  readonly listeners: Set<() => void>
}

/** Who in this process waits for what happens to whom. */
type EventPoller = {
  readonly merchants: Map<string, MerchantListeners>
  stop: () => void
  isPolling: boolean
  isPollRequested: boolean
  /** Why the last look failed, if it did. */
  failure: { readonly error: unknown } | null
}

// By what watches it: a copy of a database for one request watches the same.
const eventPollers = new WeakMap<Database['watch'], EventPoller>()

function eventPollerOf({ watch }: Database): EventPoller {
  const known = eventPollers.get(watch)
  if (known) return known
  const followers = { merchants: new Map(), stop: () => {}, isPolling: false, isPollRequested: false, failure: null }
  eventPollers.set(watch, followers)
  return followers
}

/**
 * A place beside a merchant's events: the latest number that is known, for which nobody is asked, and what ends it.
 *
 * `latest` throws what the last look met, if it failed: whoever waits must not do so in silence.
 */
export type EventSubscription = { readonly latest: () => number; readonly stop: () => void }

/**
 * Has `call` called whenever a merchant has a later event. However many follow, in this process one look asks which merchants
 * have, and only when something was committed.
 */
export async function subscribeToEvents(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  call: () => void,
): Promise<EventSubscription> {
  const followers = eventPollerOf(db)
  const { merchants } = followers
  if (merchants.size === 0) {
    followers.failure = null
    followers.stop = db.watch('events', () => poll(db, followers))
  }
  const followed = merchants.get(merchantId) ?? loadMerchant(db, merchantId)
  merchants.set(merchantId, followed)
  const listener = () => call()
  followed.listeners.add(listener)
  const stop = () => {
    followed.listeners.delete(listener)
    if (followed.listeners.size > 0 || merchants.get(merchantId) !== followed) return
    merchants.delete(merchantId)
    if (merchants.size === 0) followers.stop()
  }
  try {
    await followed.loaded
  } catch (error) {
    stop()
    throw error
  }
  const latest = () => {
    if (followers.failure) throw followers.failure.error
    return followed.latest
  }
  return { latest, stop }
}

function loadMerchant(db: Database, merchantId: string): MerchantListeners {
  const followed = { latest: 0, listeners: new Set<() => void>(), loaded: Promise.resolve() }
  followed.loaded = (async () => {
    const [found] = await latestEventSequences(db, { merchantIds: [merchantId] })
    followed.latest = Math.max(followed.latest, found?.latest ?? 0)
  })()
  return followed
}

async function poll(db: Database, followers: EventPoller): Promise<void> {
  followers.isPollRequested = true
  if (followers.isPolling) return
  followers.isPolling = true
  followers.isPollRequested = false
  const begunAt = performance.now()
  let pauseMs = pauseAfterErrorMs
  try {
    const found = await latestEventSequences(db, { merchantIds: [...followers.merchants.keys()] })
    followers.failure = null
    for (const { merchantId, latest } of found) notifyListeners(followers.merchants.get(merchantId), latest)
    pauseMs = Math.min((performance.now() - begunAt) * pauseToPollRatio, maxPauseMs)
  } catch (error) {
    followers.isPollRequested = true
    followers.failure = { error }
    for (const { listeners: calls } of followers.merchants.values()) for (const call of [...calls]) call()
  }
  setTimeout(() => {
    followers.isPolling = false
    if (followers.isPollRequested && followers.merchants.size > 0) poll(db, followers)
  }, pauseMs).unref()
}

function notifyListeners(followed: MerchantListeners | undefined, latest: number): void {
  if (followed === undefined || followed.latest >= latest) return
  followed.latest = latest
  for (const call of [...followed.listeners]) call()
}

/**
 * The events of a merchant, some at a time: all after a number, and then whatever happens, without an end. Without a number
 * what happens once this has answered, which is before anybody can have been told that it listens.
 *
 * @param signal ends it, also where nobody has begun to read
 * @throws Refusal INVALID_INPUT for a number that is later than the latest
 */
export async function streamEvents(
  context: Pick<Context, 'db' | 'merchantId'>,
  after: number | null,
  signal?: AbortSignal,
): Promise<AsyncGenerator<readonly Event[]>> {
  let wake = () => {}
  const following = await subscribeToEvents(context, () => wake())
  const close = () => {
    following.stop()
    wake()
  }
  try {
    if (signal?.aborted) following.stop()
    else signal?.addEventListener('abort', close, { once: true })
    if (after !== null) await requireKnownSequence(context, after, following.latest())
    return readBatches(after ?? following.latest())
  } catch (error) {
    close()
    throw error
  }

  async function* readBatches(first: number): AsyncGenerator<readonly Event[]> {
    let seen = first
    try {
      while (!signal?.aborted) {
        const latest = following.latest()
        if (seen >= latest) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          continue
        }
        const { events, through } = await readEvents(context, { after: seen, limit: eventBatchSize, latest })
        seen = through
        if (events.length > 0) yield events
      }
    } finally {
      signal?.removeEventListener('abort', close)
      following.stop()
    }
  }
}
