import type { Context, Service } from '../context.ts'
import { createContext } from '../context.ts'
import { isSent } from '../delivery/formats.ts'
import type { EventMessage } from '../delivery/message.ts'
import type { Judgement } from '../delivery/retries.ts'
import { judge, nextAttemptAt, retryAfterMs } from '../delivery/retries.ts'
import type { Sender, Sent } from '../delivery/send.ts'
import type { Signer } from '../delivery/signing-secrets.ts'
import { signerOf } from '../delivery/signing-secrets.ts'
import { writePost } from '../delivery/write-post.ts'
import type { Event } from '../events/event.ts'
import { eventsNumbered } from '../events/repository.ts'
import { eventMessage } from '../feed/event-message.ts'
import { toldEvents } from '../feed/told.ts'
import { timestamp } from '../ids.ts'
import { secretsInForce } from '../webhooks/endpoint-secrets.ts'
import type { StoredWebhookEndpoint } from '../webhooks/webhook-endpoint.ts'
import type { Attempted, Recorded, Report, Waiting } from './record-attempts.ts'
import { recordAttempts } from './record-attempts.ts'
import { deliveriesNumbered, dueDeliveries, nextDelivery, pendingObjects } from './repository.ts'
import type { SharedFeed } from './shared-feed.ts'

/** Attempts at once to one endpoint, and until it was seen to answer. */
const [mostAtOnce, mostAtFirst] = [4, 2]

/** A receiver that takes longer to agree holds a place that others could have, as one that fails does. */
const slowMs = 1_000

/** Events that are looked at together, also where hardly any is for the endpoint, and deliveries that are taken up again together. */
const [eventsRead, sparseEventsRead, retriesRead] = [64, 500, 16]

/** Events that are read and not over; where so many are, those that wait for another of their object make room. */
const mostOpen = 256

/** How far it is read beyond the first event that is not over: what lies between is sent again if the process dies. */
const mostAhead = 1_000

/** An endpoint that failed so often on end gets one at a time, with a pause after each. */
const failuresForPause = 20
const pauseMs = 1_000

/** What has too much to do may ask for a rest, in which it gets nothing at all; an event alone waits as long as it says. */
const longestRestMs = 60_000

/** The cursor alone is stored this often at most, where nothing of what it passes is for the endpoint. */
const cursorEveryMs = 5_000

/** For how long it is not looked which secrets are in force: one that is not any more may sign so much longer. */
const signerKeptMs = 60_000

/** After how long what could not be read or recorded is tried again; reading, which may fail for days, ever more seldom. */
const [afterFaultMs, longestAfterFaultMs] = [1_000, 60_000]

/** An event on its way to an endpoint. */
type Item = {
  readonly sequence: number
  readonly objectId: string
  readonly message: EventMessage
  /** Attempts that were made since it was last asked for. */
  readonly tries: number
  /** All attempts that its delivery had when it was taken up again; `null` for one that comes from the feed. */
  readonly known: number | null
}

/**
 * What is sent to one endpoint: events of the feed after its cursor, and what is to be tried again. Of one object nothing is
 * sent before it is recorded what came of the last, and nothing while something before it is pending; objects never wait for
 * one another.
 */
export type Lane = {
  readonly endpoint: StoredWebhookEndpoint
  /** Whether it may take long: the last attempt failed or did so, or none has succeeded yet. */
  readonly isDoubtful: () => boolean
  /** Begins the next attempt, if there is one to make now; whether it did. */
  readonly begin: () => boolean
  /** Reads what may have come, or may be due. */
  readonly look: () => void
  /** Does what has become due as time went on. */
  readonly tick: () => void
  /** Begins nothing more; resolves when what is on its way is recorded, or can't be. */
  readonly stop: () => Promise<void>
}

type Means = {
  readonly service: Service
  readonly sender: Sender
  /** The number of the merchant's latest event. */
  readonly latest: () => number
  /** That of the merchant, for all of its lanes. */
  readonly feed: SharedFeed
  /** Called when there may be something to begin. */
  readonly onReady: () => void
  /** Called when the endpoint must be read anew: it was changed, moved, or is gone. The lane has stopped. */
  readonly onChanged: () => void
  readonly onFault: (error: unknown) => void
  readonly random: () => number
}

export function openLane(endpoint: StoredWebhookEndpoint, means: Means): Lane {
  const { service, sender, latest, feed, onReady, onChanged, onFault, random } = means
  const { merchantId, id: endpointId, format } = endpoint
  const context = createContext(service, merchantId)
  const isProbe = endpoint.status === 'disabled'
  const whose = { merchantId, endpointId }
  const ended = Promise.withResolvers<void>()
  let { cursor, failures } = endpoint
  /** Up to where the feed was read. */
  let read = cursor
  let isSparse = false
  /** What was read of the feed and is not over, in its order. */
  let open: Item[] = []
  /** What is due again and was not begun. */
  let again: Item[] = []
  let isTurnOfAgain = false
  /** Whether all that is open waits for something else of its object. */
  let isBlocked = false
  const inFlight = new Set<Item>()
  /** Objects of which something is on its way or not recorded, and how much. */
  const busy = new Map<string, number>()
  /** Objects of which something is pending: all of which anything is open, and maybe others. */
  const failing = new Set<string>()
  /** Objects of which something was recorded since what is due was last asked for. */
  const recordedOf = new Set<string>()
  let attempted: Attempted[] = []
  let waiting: Waiting[] = []
  let isGone = false
  let hasSucceeded = false
  let isSlow = false
  let tookLong = false
  let restUntil = 0
  /** When the next is to be tried again, by the machine's clock: at first that is not known. */
  let dueAt = Number.NEGATIVE_INFINITY
  let signer: Signer | null = null
  let signerReadAt = 0
  let isLooking = false
  let wantsLook = false
  let faults = 0
  let nextLookAt = 0
  let isRecording = false
  let cursorStoredAt = 0
  let isStopped = false
  let hasProbed = false

  function mostNow(): number {
    if (isProbe || isSlow || failures >= failuresForPause) return 1
    return hasSucceeded ? mostAtOnce : mostAtFirst
  }

  function begin(): boolean {
    if (isStopped || signer === null || inFlight.size >= mostNow() || performance.now() < restUntil) return false
    if (isProbe && hasProbed) return false
    // What is not recorded yet would be sent again: that stays little.
    if (attempted.length >= eventsRead) return false
    const item = nextItem()
    const wasBlocked = isBlocked
    isBlocked = item === null && open.length > 0
    if (isBlocked && !wasBlocked) look()
    if (item === null) return false
    hasProbed = true
    inFlight.add(item)
    hold(item.objectId)
    attempt(item, signer).catch(onFault)
    return true
  }

  /** By turns, so that what was put off for days does not hold up what happens, nor the other way round. */
  function nextItem(): Item | null {
    isTurnOfAgain = !isTurnOfAgain
    return isTurnOfAgain ? (nextAgain() ?? nextOpen()) : (nextOpen() ?? nextAgain())
  }

  function nextAgain(): Item | null {
    const place = again.findIndex(({ objectId }) => !busy.has(objectId))
    return place === -1 ? null : (again.splice(place, 1)[0] as Item)
  }

  function nextOpen(): Item | null {
    const isFull = open.length >= mostOpen
    const off = new Set<string>()
    let found: Item | null = null
    for (const item of open) {
      if (inFlight.has(item)) continue
      const { objectId } = item
      if (off.has(objectId) || (busy.has(objectId) ? isFull : failing.has(objectId))) off.add(objectId)
      else if (!busy.has(objectId)) {
        found = item
        break
      }
    }
    if (off.size > 0) putOff(off)
    return found
  }

  /** Has what is open of some objects wait until what came before it is over. */
  function putOff(objectIds: ReadonlySet<string>): void {
    const isOff = (item: Item) => objectIds.has(item.objectId) && !inFlight.has(item)
    for (const item of open.filter(isOff)) {
      waiting.push({ sequence: item.sequence, objectId: item.objectId })
      hold(item.objectId)
      failing.add(item.objectId)
    }
    open = open.filter((item) => !isOff(item))
    record()
  }

  function hold(objectId: string): void {
    busy.set(objectId, (busy.get(objectId) ?? 0) + 1)
  }

  function letGo(objectId: string): void {
    const left = (busy.get(objectId) ?? 1) - 1
    if (left > 0) busy.set(objectId, left)
    else busy.delete(objectId)
  }

  async function attempt(item: Item, signer: Signer): Promise<void> {
    const startedAt = service.wallClock()
    const sent = await post(item.message, signer, startedAt)
    const verdict = judge(sent.status)
    noteVerdict(verdict, sent)
    const { sequence, objectId, known, tries } = item
    const { status, answer, error, durationMs, retryAfter } = sent
    const next = verdict.isDelivered
      ? null
      : nextAttemptAt({ attempts: tries + 1, now: service.wallClock(), retryAfter, random })
    attempted.push({
      sequence,
      objectId,
      happenedAt: item.message.timestamp,
      known,
      tries,
      attemptedAt: timestamp(startedAt),
      durationMs,
      status,
      answer,
      error: error === null ? null : `${error.kind}: ${error.message}`,
      becomes: verdict.isDelivered ? 'delivered' : next === null ? 'exhausted' : 'pending',
      nextAttemptAt: next === null ? null : BigInt(next),
    })
    inFlight.delete(item)
    open = open.filter((each) => each !== item)
    record()
    onReady()
  }

  /** What can't be written is a failed attempt like any other: else it would hold up all that comes after it. */
  async function post(message: EventMessage, signer: Signer, now: number): Promise<Sent> {
    try {
      return await sender.send(endpoint.url, writePost(message, { format, signer, now }), message)
    } catch (fault) {
      onFault(fault)
      const error = { kind: 'other', message: 'The event could not be sent.' } as const
      return { status: null, error, durationMs: 0, retryAfter: null, answer: null }
    }
  }

  function noteVerdict({ isDelivered, isSlowedDown, isGone: isGoneNow }: Judgement, sent: Sent): void {
    const { retryAfter, durationMs } = sent
    tookLong = durationMs >= slowMs
    failures = isDelivered ? 0 : failures + 1
    if (isDelivered) isSlow = false
    hasSucceeded ||= isDelivered
    if (isGoneNow) isGone = true
    let restMs = failures >= failuresForPause ? pauseMs : 0
    if (isSlowedDown) {
      isSlow = true
      restMs = Math.max(restMs, Math.min(retryAfterMs(retryAfter, service.wallClock()), longestRestMs))
    }
    restUntil = performance.now() + restMs
  }

  /** Records what has come, together with all that comes while it waits for its turn. */
  function record(): void {
    if (isRecording) return
    isRecording = true
    setImmediate(store)
  }

  async function store(): Promise<void> {
    const report: Report = { endpointId, attempted, waiting, cursor: { from: cursor, to: passedTo() }, isGone }
    attempted = []
    waiting = []
    isGone = false
    let isStored = true
    try {
      takeRecorded(report, await service.perform(recordAttempts, context, report))
    } catch (error) {
      // What was sent must be known, or it is sent again.
      attempted = [...report.attempted, ...attempted]
      waiting = [...report.waiting, ...waiting]
      isGone ||= report.isGone
      isStored = false
      onFault(error)
      if (!isStopped) await pause(afterFaultMs)
    }
    isRecording = false
    if (hasUnrecorded() && (isStored || !isStopped)) record()
    else endIfOver(!isStored)
  }

  /** All up to this number are over. */
  function passedTo(): number {
    const [first] = open
    return first === undefined ? read : first.sequence - 1
  }

  function hasUnrecorded(): boolean {
    return attempted.length > 0 || waiting.length > 0
  }

  function takeRecorded(report: Report, recorded: Recorded | null): void {
    for (const { objectId } of [...report.attempted, ...report.waiting]) letGo(objectId)
    cursor = report.cursor.to
    cursorStoredAt = performance.now()
    const hasTried = isProbe && report.attempted.length > 0
    if (recorded === null || recorded.isMoved || recorded.isEnabled === isProbe || hasTried) {
      if (!isStopped) {
        isStopped = true
        onChanged()
      }
      return
    }
    notePending(report, new Set(recorded.pending))
    look()
    onReady()
  }

  function notePending(report: Report, pending: ReadonlySet<string>): void {
    const objectIds = new Set([...report.attempted, ...report.waiting].map(({ objectId }) => objectId))
    for (const objectId of objectIds) {
      recordedOf.add(objectId)
      if (pending.has(objectId)) failing.add(objectId)
      else if (!busy.has(objectId)) failing.delete(objectId)
    }
    // What is stored of these is not what was read.
    const kept = again.filter(({ objectId }) => !objectIds.has(objectId))
    const isRead = kept.length < again.length
    again = kept
    const failed = new Set<string>()
    for (const { objectId, nextAttemptAt: next } of report.attempted) {
      if (next === null) continue
      failed.add(objectId)
      dueAt = Math.min(dueAt, Number(next))
    }
    // What waited for another may be due now.
    if (isRead || [...pending].some((objectId) => !failed.has(objectId))) dueAt = Number.NEGATIVE_INFINITY
  }

  function look(): void {
    wantsLook = true
    if (!isLooking && !isStopped && performance.now() >= nextLookAt) lookOn().catch(onFault)
  }

  async function lookOn(): Promise<void> {
    isLooking = true
    try {
      while (wantsLook && !isStopped) {
        await lookNow()
        // Reading may wait for nothing, and there may be a million to read.
        await new Promise((resolve) => setImmediate(resolve))
      }
      faults = 0
    } catch (error) {
      nextLookAt = performance.now() + Math.min(afterFaultMs * 2 ** faults++, longestAfterFaultMs)
      onFault(error)
    } finally {
      isLooking = false
    }
  }

  async function lookNow(): Promise<void> {
    wantsLook = false
    if (signer === null || performance.now() - signerReadAt > signerKeptMs) {
      signer = signerOf(secretsInForce(service, endpoint))
      signerReadAt = performance.now()
    }
    if (isDue()) await takeAgain()
    if (isBehind() && !isStopped) await readEvents()
    if (isStopped) return
    storePassed()
    onReady()
  }

  /** Whether there is something to take up again, and room for it; a probe takes what is next, whenever that is due. */
  function isDue(): boolean {
    const isTime = dueAt <= service.wallClock() || (isProbe && !hasProbed && dueAt !== Number.POSITIVE_INFINITY)
    return isTime && again.length < retriesRead
  }

  function isBehind(): boolean {
    const isRoom = open.length < (isBlocked ? mostOpen : eventsRead / 2)
    return isRoom && read < latest() && read - passedTo() < mostAhead
  }

  /** Stores the cursor, where nothing else is to be recorded, now and then. */
  function storePassed(): void {
    if (read === cursor || open.length > 0) return
    if (isStopped || performance.now() - cursorStoredAt >= cursorEveryMs) record()
  }

  /** Reads what is due. What is recorded meanwhile may be due before all that was found. */
  async function takeAgain(): Promise<void> {
    dueAt = Number.POSITIVE_INFINITY
    let nextAt = Number.NEGATIVE_INFINITY
    try {
      nextAt = await readAgain()
    } finally {
      dueAt = Math.min(dueAt, nextAt)
    }
  }

  /** Has what is due taken up again; when the next is. */
  async function readAgain(): Promise<number> {
    const now = BigInt(service.wallClock())
    const [by, limit] = [isProbe ? endOfTime : now, retriesRead * 2]
    recordedOf.clear()
    const due = await dueDeliveries(service.db, { ...whose, now: by, limit })
    const next = await nextDelivery(service.db, { ...whose, after: by })
    const isKnown = new Set(again.map(({ sequence }) => sequence))
    const fresh = due.filter(({ sequence }) => !isKnown.has(sequence)).slice(0, retriesRead)
    const messages = await messagesOf(
      context,
      fresh.map(({ sequence }) => sequence),
    )
    if (isStopped) return Number.POSITIVE_INFINITY
    let isMore = due.length === limit
    for (const { sequence, objectId, attempts, attemptsBefore } of fresh) {
      const message = messages.get(sequence)
      const isStale = busy.has(objectId) || recordedOf.has(objectId)
      if (isStale) isMore = true
      if (isStale || message === undefined) continue
      failing.add(objectId)
      again.push({ sequence, objectId, message, tries: attempts - attemptsBefore, known: attempts })
    }
    return isMore ? Number(now) : next?.nextAttemptAt == null ? Number.POSITIVE_INFINITY : Number(next.nextAttemptAt)
  }

  async function readEvents(): Promise<void> {
    const limit = isSparse ? sparseEventsRead : eventsRead
    const { events, messages } = await feed({ after: read, limit, latest: latest() })
    const own = events.filter((event) => isFor(endpoint, event))
    const sequences = own.map(({ sequence }) => sequence)
    const pending = sequences.length === 0 ? [] : await pendingObjects(service.db, { ...whose, sequences })
    const stored = pending.length === 0 ? [] : await deliveriesNumbered(service.db, { ...whose, sequences })
    const written = await messages(own)
    if (isStopped) return
    const isPending = new Set(stored.flatMap(({ sequence, status }) => (status === 'pending' ? [sequence] : [])))
    for (const message of written) {
      const { sequence } = message
      // What is pending already goes its own way.
      if (isPending.has(sequence)) continue
      open.push({ sequence, objectId: message.object.id, message, tries: 0, known: null })
    }
    read = events.at(-1)?.sequence ?? read
    isSparse = own.length * 8 < events.length
    if (events.length > 0 && read < latest()) wantsLook = true
    const known = new Set([...open.map(({ objectId }) => objectId), ...busy.keys()])
    for (const { objectId } of pending) failing.add(objectId)
    for (const objectId of failing) if (!known.has(objectId)) failing.delete(objectId)
  }

  function tick(): void {
    if (isStopped) return
    storePassed()
    // Its owner may have moved its clock on, and with that what is stored of when it is due.
    if (service.mode === 'sandbox' && dueAt !== Number.POSITIVE_INFINITY) dueAt = Number.NEGATIVE_INFINITY
    if (isDue() || isBehind()) look()
    if (open.length > 0 || again.length > 0) onReady()
  }

  function stop(): Promise<void> {
    isStopped = true
    storePassed()
    endIfOver()
    return ended.promise
  }

  function endIfOver(hasFailed = false): void {
    if (isStopped && inFlight.size === 0 && !isRecording && (hasFailed || !hasUnrecorded())) ended.resolve()
  }

  return { endpoint, isDoubtful: () => failures > 0 || !hasSucceeded || tookLong, begin, look, tick, stop }
}

/** Later than anything is due. */
const endOfTime = 2n ** 52n

/** Whether an endpoint gets an event: of its types and its format's, and of tests its own. */
function isFor({ id, types, format }: StoredWebhookEndpoint, { type, objectId }: Event): boolean {
  if (type === 'webhook.test') return objectId === id
  return (types.length === 0 || types.includes(type)) && isSent(format, type)
}

async function messagesOf(context: Context, sequences: readonly number[]): Promise<Map<number, EventMessage>> {
  if (sequences.length === 0) return new Map()
  const { db, merchantId } = context
  const told = await toldEvents(context, await eventsNumbered(db, { merchantId, sequences }))
  return new Map(told.map((each) => [each.sequence, eventMessage(each)]))
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref()
  })
}
