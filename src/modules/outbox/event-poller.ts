import type { Database } from '../../database/database.ts'
import type { Context } from '../../operations/context.ts'
import type { Event } from './event.ts'
import { requireKnown } from './latest-event.ts'
import { readOn } from './next-events.ts'
import { latestEvents } from './repository.ts'

/** Events that are read at once; where there are more, the next are read right after. */
export const eventsRead = 500

/**
 * Looks take a tenth of the time, however many merchants are followed, unless each takes long: one that did so once, because
 * the machine or the database stood still, must not hold up what happens next. One that fails is tried again after a while.
 */
const pausesPerLook = 9
const longestPauseMs = 250
const pauseAfterFaultMs = 1_000

type Followed = {
  /** The merchant's latest number at the last look. */
  latest: number
  readonly isKnown: Promise<void>
  readonly calls: Set<() => void>
}

/** Who in this process waits for what happens to whom. */
type Followers = {
  readonly merchants: Map<string, Followed>
  stop: () => void
  isLooking: boolean
  isDue: boolean
  /** Why the last look failed, if it did. */
  fault: { readonly error: unknown } | null
}

// By what watches it: a copy of a database for one request watches the same.
const followersOfDatabase = new WeakMap<Database['watch'], Followers>()

function followersOf({ watch }: Database): Followers {
  const known = followersOfDatabase.get(watch)
  if (known) return known
  const followers = { merchants: new Map(), stop: () => {}, isLooking: false, isDue: false, fault: null }
  followersOfDatabase.set(watch, followers)
  return followers
}

/**
 * A place beside a merchant's events: the latest number that is known, for which nobody is asked, and what ends it.
 *
 * `latest` throws what the last look met, if it failed: whoever waits must not do so in silence.
 */
export type Following = { readonly latest: () => number; readonly stop: () => void }

/**
 * Has `call` called whenever a merchant has a later event. However many follow, in this process one look asks which merchants
 * have, and only when something was committed.
 */
export async function followEvents(
  { db, merchantId }: Pick<Context, 'db' | 'merchantId'>,
  call: () => void,
): Promise<Following> {
  const followers = followersOf(db)
  const { merchants } = followers
  if (merchants.size === 0) {
    followers.fault = null
    followers.stop = db.watch('events', () => look(db, followers))
  }
  const followed = merchants.get(merchantId) ?? beginFollowing(db, merchantId)
  merchants.set(merchantId, followed)
  const own = () => call()
  followed.calls.add(own)
  const stop = () => {
    followed.calls.delete(own)
    if (followed.calls.size > 0 || merchants.get(merchantId) !== followed) return
    merchants.delete(merchantId)
    if (merchants.size === 0) followers.stop()
  }
  try {
    await followed.isKnown
  } catch (error) {
    stop()
    throw error
  }
  const latest = () => {
    if (followers.fault) throw followers.fault.error
    return followed.latest
  }
  return { latest, stop }
}

function beginFollowing(db: Database, merchantId: string): Followed {
  const followed = { latest: 0, calls: new Set<() => void>(), isKnown: Promise.resolve() }
  followed.isKnown = (async () => {
    const [found] = await latestEvents(db, { merchantIds: [merchantId] })
    followed.latest = Math.max(followed.latest, found?.latest ?? 0)
  })()
  return followed
}

async function look(db: Database, followers: Followers): Promise<void> {
  followers.isDue = true
  if (followers.isLooking) return
  followers.isLooking = true
  followers.isDue = false
  const begunAt = performance.now()
  let pauseMs = pauseAfterFaultMs
  try {
    const found = await latestEvents(db, { merchantIds: [...followers.merchants.keys()] })
    followers.fault = null
    for (const { merchantId, latest } of found) tell(followers.merchants.get(merchantId), latest)
    pauseMs = Math.min((performance.now() - begunAt) * pausesPerLook, longestPauseMs)
  } catch (error) {
    followers.isDue = true
    followers.fault = { error }
    for (const { calls } of followers.merchants.values()) for (const call of [...calls]) call()
  }
  setTimeout(() => {
    followers.isLooking = false
    if (followers.isDue && followers.merchants.size > 0) look(db, followers)
  }, pauseMs).unref()
}

function tell(followed: Followed | undefined, latest: number): void {
  if (followed === undefined || followed.latest >= latest) return
  followed.latest = latest
  for (const call of [...followed.calls]) call()
}

/**
 * The events of a merchant, some at a time: all after a number, and then whatever happens, without an end. Without a number
 * what happens once this has answered, which is before anybody can have been told that it listens.
 *
 * @param signal ends it, also where nobody has begun to read
 * @throws Refusal INVALID_INPUT for a number that is later than the latest
 */
export async function eventsFrom(
  context: Pick<Context, 'db' | 'merchantId'>,
  after: number | null,
  signal?: AbortSignal,
): Promise<AsyncGenerator<readonly Event[]>> {
  let wake = () => {}
  const following = await followEvents(context, () => wake())
  const end = () => {
    following.stop()
    wake()
  }
  try {
    if (signal?.aborted) following.stop()
    else signal?.addEventListener('abort', end, { once: true })
    if (after !== null) await requireKnown(context, after, following.latest())
    return read(after ?? following.latest())
  } catch (error) {
    end()
    throw error
  }

  async function* read(first: number): AsyncGenerator<readonly Event[]> {
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
        const { events, through } = await readOn(context, { after: seen, limit: eventsRead, latest })
        seen = through
        if (events.length > 0) yield events
      }
    } finally {
      signal?.removeEventListener('abort', end)
      following.stop()
    }
  }
}
