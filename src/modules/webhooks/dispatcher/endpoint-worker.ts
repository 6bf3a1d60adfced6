import { setImmediate as nextTurn } from 'node:timers/promises'
import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import type { Context } from '../../../operations/context.ts'
import { activeSecrets } from '../endpoints/endpoint-secrets.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { Sender } from '../transport/send.ts'
import type { Signer } from '../transport/standard-webhooks.ts'
import { parseSigner } from '../transport/standard-webhooks.ts'
import type { QueuedDelivery } from './attempt.ts'
import { attemptDelivery } from './attempt.ts'
import { createConcurrencyLimiter } from './endpoint-concurrency.ts'
import type { FeedCache } from './feed-reader.ts'
import { createFeedReader, readMessages } from './feed-reader.ts'
import { createDeliveryQueue } from './queue.ts'
import type { AttemptRecord, AttemptReport, RecordedAttempts, WaitingEvent } from './record-attempts.ts'
import { recordAttempts } from './record-attempts.ts'
import { dueDeliveries, nextDueTime } from './repository.ts'

/** Signing secrets are cached for a minute, even if they expire earlier. */
const signerCacheMs = 60_000

const retryBatchSize = 16

const farFutureMs = 2 ** 52

/**
 * The first and the maximum backoff after a failed poll. Polls can fail for days, for example if the encryption key of
 * a signing secret is missing.
 */
const [pollBackoffMs, maxPollBackoffMs] = [1_000, 60_000]

const flushRetryMs = 1_000

/**
 * If 64 outcomes of attempts are not yet recorded, no new attempt starts, because a crash would repeat all unrecorded
 * attempts.
 */
const maxBuffered = 64

/** For endpoints that receive few events, the cursor is stored at most once per interval. */
const cursorFlushIntervalMs = 5_000

/**
 * Values of `nextRetryAt`. `immediately` means that the retry schedule must be read. `never` means that no retry is
 * scheduled.
 */
const [immediately, never] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]

type Batch = { readonly attempted: AttemptRecord[]; readonly waiting: WaitingEvent[]; isGone: boolean }

type PollState = { isRequested: boolean; isActive: boolean; failures: number; backoffUntil: number }

/** In the state `failed`, the latest write of outcomes has failed. */
type FlushState = 'idle' | 'flushing' | 'failed'

/**
 * Delivers the webhooks of one endpoint, at least once and in order for each object. A poll reads events and due
 * retries into the worker's queue, and the scheduler starts delivery attempts. A flush stores a batch of outcomes and
 * the cursor in one transaction.
 */
export type EndpointWorker = {
  readonly endpoint: StoredWebhookEndpoint
  readonly isUnhealthy: () => boolean
  readonly startAttempt: () => boolean
  readonly poll: () => void
  readonly tick: () => void
  /** Resolves when the outcomes of attempts in flight are recorded, or when recording has failed. */
  readonly drain: () => Promise<void>
}

type EndpointWorkerOptions = {
  readonly context: Context
  readonly sender: Sender
  readonly latest: () => number
  readonly feed: FeedCache
  readonly onReady: () => void
  /** `onChanged` must drain and replace the worker. */
  readonly onChanged: () => void
  readonly onError: (error: unknown) => void
  readonly random: () => number
}

export function createEndpointWorker(endpoint: StoredWebhookEndpoint, options: EndpointWorkerOptions): EndpointWorker {
  const { context, sender, latest, feed, onReady, onChanged, onError, random } = options
  const { db, wallClock, merchantId } = context
  const key = { merchantId, endpointId: endpoint.id }
  const drained = Promise.withResolvers<void>()
  const pollState: PollState = { isRequested: false, isActive: false, failures: 0, backoffUntil: 0 }
  /** A disabled endpoint gets one delivery attempt as a probe. If the probe succeeds, the endpoint is enabled. */
  const isProbe = endpoint.status === 'disabled'
  let hasProbed = false
  let isStopped = false
  let signer: Signer | null = null
  let signerLoadedAt = 0
  let nextRetryAt = immediately
  let buffer = emptyBatch()
  let flushState: FlushState = 'idle'
  let lastFlush = { cursor: endpoint.cursor, at: 0 }

  const concurrency = createConcurrencyLimiter(endpoint, context)
  const queue = createDeliveryQueue<QueuedDelivery>(recordWaiting)
  const reader = createFeedReader({ context, endpoint, queue, feed, latest })

  /** A poll that is requested during a backoff starts when the backoff has ended. */
  async function poll(): Promise<void> {
    pollState.isRequested = true
    if (pollState.isActive || isStopped || performance.now() < pollState.backoffUntil) return
    pollState.isActive = true
    try {
      while (pollState.isRequested && !isStopped) {
        pollState.isRequested = false
        await pollOnce()
        // Yields to the event loop, because a poll that finds its events in the cache does no I/O.
        await nextTurn()
      }
      pollState.failures = 0
    } catch (error) {
      pollState.backoffUntil = performance.now() + Math.min(pollBackoffMs * 2 ** pollState.failures++, maxPollBackoffMs)
      onError(error)
    } finally {
      pollState.isActive = false
    }
  }

  async function pollOnce(): Promise<void> {
    if (signer === null || performance.now() - signerLoadedAt > signerCacheMs) {
      signer = parseSigner(activeSecrets(context, endpoint))
      signerLoadedAt = performance.now()
    }
    if (isRetryDue()) await readRetries()
    if (reader.isBehind() && !isStopped && (await reader.read())) poll()
    onReady()
  }

  function isRetryDue(): boolean {
    return nextRetryAt <= wallClock() && queue.retryCount() < retryBatchSize
  }

  async function readRetries(): Promise<void> {
    nextRetryAt = never
    let next = immediately
    try {
      next = await readDueDeliveries()
    } finally {
      // A flush may have set an earlier `nextRetryAt` while `readDueDeliveries` was running.
      nextRetryAt = Math.min(nextRetryAt, next)
    }
  }

  async function readDueDeliveries(): Promise<number> {
    const time = dueTimeAfter(0, wallClock())
    const until = isProbe ? dueTimeAfter(farFutureMs, wallClock()) : time
    // Reads twice as many due deliveries as needed, because the queue may already have some of them.
    const limit = retryBatchSize * 2
    queue.startReadingRetries()
    const due = await dueDeliveries(db, { ...key, now: until, limit })
    const next = await nextDueTime(db, { ...key, after: until })
    const unqueued = due.filter(({ sequence }) => !queue.hasRetry(sequence))
    const batch = unqueued.slice(0, retryBatchSize)
    const messages = await readMessages(context, endpoint, batch)
    let hasMore = unqueued.length > batch.length
    for (const { sequence, objectId, attempts, attemptsBefore } of batch) {
      const message = messages.get(sequence)
      if (queue.isStale(objectId)) hasMore = true
      else if (message !== undefined) {
        const attemptsInSchedule = attempts - attemptsBefore
        queue.addRetry({ sequence, objectId, message, attemptsInSchedule, storedAttempts: attempts })
      }
    }
    return hasMore ? Number(time) : next?.nextAttemptAt == null ? never : Number(next.nextAttemptAt)
  }

  function startAttempt(): boolean {
    if (isStopped || signer === null || !concurrency.hasCapacity(queue.inFlightCount())) return false
    if ((isProbe && hasProbed) || buffer.attempted.length >= maxBuffered) return false
    const wasBlocked = queue.isBlocked()
    const item = queue.takeNext()
    // All queued events wait for earlier events of their objects. The feed may have events of other objects.
    if (queue.isBlocked() && !wasBlocked) poll()
    if (item === null) return false
    hasProbed = true
    send(item, signer).catch(onError)
    return true
  }

  async function send(item: QueuedDelivery, signer: Signer): Promise<void> {
    const attempt = { endpoint, sender, signer, wallClock, random, onError }
    const { record, verdict, result } = await attemptDelivery(item, attempt)
    concurrency.recordResult(verdict, result)
    queue.finish(item)
    buffer.attempted.push(record)
    buffer.isGone ||= verdict.isGone
    flush()
    onReady()
  }

  function recordWaiting(items: readonly QueuedDelivery[]): void {
    for (const { sequence, objectId } of items) buffer.waiting.push({ sequence, objectId })
    flush()
  }

  /** If the queue has events, a later flush stores the cursor. */
  function storeCursor(): void {
    if (queue.openCount() > 0) return
    if (reader.cursor() === lastFlush.cursor) return
    if (isStopped || performance.now() - lastFlush.at >= cursorFlushIntervalMs) flush()
  }

  function flush(): void {
    if (flushState === 'flushing') return
    flushState = 'flushing'
    setImmediate(flushNow)
  }

  /** If a flush fails, the worker retries the flush, because an unrecorded delivery would be sent again. */
  async function flushNow(): Promise<void> {
    const cursor = { from: lastFlush.cursor, to: reader.cursor() }
    const report: AttemptReport = { endpointId: endpoint.id, ...buffer, cursor }
    buffer = emptyBatch()
    try {
      const recorded = await context.perform(recordAttempts, context, report)
      lastFlush = { cursor: cursor.to, at: performance.now() }
      applyRecorded(report, recorded)
      flushState = 'idle'
    } catch (error) {
      buffer = {
        attempted: [...report.attempted, ...buffer.attempted],
        waiting: [...report.waiting, ...buffer.waiting],
        isGone: report.isGone || buffer.isGone,
      }
      onError(error)
      if (!isStopped) await new Promise((resolve) => setTimeout(resolve, flushRetryMs).unref())
      flushState = 'failed'
    }
    if (hasBuffered() && (flushState === 'idle' || !isStopped)) flush()
    else resolveIfDrained()
  }

  function applyRecorded({ attempted, waiting }: AttemptReport, recorded: RecordedAttempts | null): void {
    if (recorded === null || recorded.isMoved || recorded.isEnabled === isProbe) {
      onChanged()
      return
    }
    const pending = new Set(recorded.pending)
    queue.markRecorded([...attempted, ...waiting], pending)
    const failed = new Set<string>()
    for (const { objectId, nextAttemptAt } of attempted) {
      if (nextAttemptAt === null) continue
      failed.add(objectId)
      nextRetryAt = Math.min(nextRetryAt, Number(nextAttemptAt))
    }
    // The retry schedule must be read again, because the flush may have made a waiting delivery due and the queue has
    // dropped some retries.
    if ([...pending].some((objectId) => !failed.has(objectId))) nextRetryAt = immediately
    poll()
    onReady()
  }

  function tick(): void {
    if (isStopped) return
    storeCursor()
    // Due times of retries change when a merchant advances its sandbox clock.
    if (context.mode === 'sandbox' && nextRetryAt !== never) nextRetryAt = immediately
    if (isRetryDue() || reader.isBehind()) poll()
    if (queue.openCount() > 0 || queue.retryCount() > 0) onReady()
  }

  function drain(): Promise<void> {
    isStopped = true
    storeCursor()
    resolveIfDrained()
    return drained.promise
  }

  function resolveIfDrained(): void {
    const isFlushed = flushState === 'failed' || (flushState === 'idle' && !hasBuffered())
    if (isStopped && isFlushed && queue.inFlightCount() === 0) drained.resolve()
  }

  function hasBuffered(): boolean {
    return buffer.attempted.length > 0 || buffer.waiting.length > 0
  }

  return { endpoint, isUnhealthy: concurrency.isUnhealthy, startAttempt, poll, tick, drain }
}

function emptyBatch(): Batch {
  return { attempted: [], waiting: [], isGone: false }
}
