import type { Service } from '../../../operations/context.ts'
import { createContext } from '../../../operations/context.ts'
import { activeSecrets } from '../endpoints/endpoint-secrets.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { Sender } from '../transport/send.ts'
import type { Signer } from '../transport/signing-secrets.ts'
import { parseSigner } from '../transport/signing-secrets.ts'
import type { QueuedDelivery } from './attempt.ts'
import { attemptDelivery } from './attempt.ts'
import { createAttemptRecorder } from './attempt-recorder.ts'
import { createConcurrencyLimiter } from './endpoint-concurrency.ts'
import type { FeedCache } from './feed-cache.ts'
import { createFeedReader } from './feed-reader.ts'
import { createPollLoop } from './poll-loop.ts'
import { createDeliveryQueue } from './queue.ts'
import type { AttemptReport, RecordedAttempts } from './record-attempts.ts'
import { createRetryReader } from './retry-reader.ts'

/** For how long it is not looked which secrets are in force: one that is not any more may sign so much longer. */
const signerCacheMs = 60_000

/**
 * What is sent to one endpoint: events of the feed after its cursor, and what is to be tried again, in the order that its queue
 * keeps.
 */
export type EndpointWorker = {
  readonly endpoint: StoredWebhookEndpoint
  /** Whether it may take long: the last attempt failed or did so, or none has succeeded yet. */
  readonly isUnhealthy: () => boolean
  /** Begins the next attempt, if there is one to make now; whether it did. */
  readonly startAttempt: () => boolean
  /** Reads what may have come, or may be due. */
  readonly poll: () => void
  /** Does what has become due as time went on. */
  readonly tick: () => void
  /** Begins nothing more; resolves when what is on its way is recorded, or can't be. */
  readonly drain: () => Promise<void>
}

type EndpointWorkerOptions = {
  readonly service: Service
  readonly sender: Sender
  /** The number of the merchant's latest event. */
  readonly latest: () => number
  /** That of the merchant, for all of its lanes. */
  readonly feed: FeedCache
  /** Called when there may be something to begin. */
  readonly onReady: () => void
  /** Called when the endpoint must be read anew: it was changed, moved, or is gone. The lane has stopped. */
  readonly onChanged: () => void
  readonly onError: (error: unknown) => void
  readonly random: () => number
}

export function createEndpointWorker(endpoint: StoredWebhookEndpoint, means: EndpointWorkerOptions): EndpointWorker {
  const { service, sender, latest, feed, onReady, onChanged, onError: onFault, random } = means
  const { wallClock } = service
  const context = createContext(service, endpoint.merchantId)
  const isProbe = endpoint.status === 'disabled'
  const ended = Promise.withResolvers<void>()
  let hasProbed = false
  let signer: Signer | null = null
  let signerReadAt = 0
  let isStopped = false

  const pace = createConcurrencyLimiter(endpoint, service)
  const queue = createDeliveryQueue<QueuedDelivery>((items) => recorder.addWaitingEvents(items))
  const own = { context, endpoint, queue, isStopped: () => isStopped, onFault }
  const events = createFeedReader({ ...own, feed, latest })
  const retries = createRetryReader({ ...own, canProbe: () => isProbe && !hasProbed })
  const recorder = createAttemptRecorder({
    ...own,
    currentCursor: events.cursor,
    onRecorded: takeRecorded,
    onIdle: endIfOver,
  })
  const look = createPollLoop({ ...own, pollOnce: lookNow })

  function begin(): boolean {
    if (isStopped || signer === null || !pace.hasCapacity(queue.inFlightCount())) return false
    if (isProbe && hasProbed) return false
    if (recorder.isFull()) return false
    const wasBlocked = queue.isBlocked()
    const item = queue.takeNext()
    // What waits for something else of its object leaves room to read what does not.
    if (queue.isBlocked() && !wasBlocked) look()
    if (item === null) return false
    hasProbed = true
    send(item, signer).catch(onFault)
    return true
  }

  async function send(item: QueuedDelivery, signer: Signer): Promise<void> {
    const {
      record: attempted,
      verdict,
      result: sent,
    } = await attemptDelivery(item, { endpoint, sender, signer, wallClock, random, onError: onFault })
    pace.recordResult(verdict, sent)
    queue.finish(item)
    recorder.addAttempt(attempted, verdict.isGone)
    onReady()
  }

  function takeRecorded(report: AttemptReport, recorded: RecordedAttempts | null): void {
    const hasTried = isProbe && report.attempted.length > 0
    if (recorded === null || recorded.isMoved || recorded.isEnabled === isProbe || hasTried) {
      if (!isStopped) {
        isStopped = true
        onChanged()
      }
      return
    }
    const pending = new Set(recorded.pending)
    queue.markRecorded([...report.attempted, ...report.waiting], pending)
    retries.markRecorded(report.attempted, pending)
    look()
    onReady()
  }

  async function lookNow(): Promise<void> {
    if (signer === null || performance.now() - signerReadAt > signerCacheMs) {
      signer = parseSigner(activeSecrets(service, endpoint))
      signerReadAt = performance.now()
    }
    if (retries.isDue()) await retries.read()
    if (events.isBehind() && !isStopped && (await events.read())) look()
    if (isStopped) return
    storePassed()
    onReady()
  }

  /** Stores what was read and passed, where all of it is over. */
  function storePassed(): void {
    if (queue.openCount() === 0) recorder.storeCursor()
  }

  function tick(): void {
    if (isStopped) return
    storePassed()
    // Its owner may have moved its clock on, and with that what is stored of when it is due.
    if (service.mode === 'sandbox') retries.resetDueTime()
    if (retries.isDue() || events.isBehind()) look()
    if (queue.openCount() > 0 || queue.retryCount() > 0) onReady()
  }

  function stop(): Promise<void> {
    isStopped = true
    storePassed()
    endIfOver()
    return ended.promise
  }

  function endIfOver(): void {
    if (isStopped && queue.inFlightCount() === 0 && recorder.isDrained()) ended.resolve()
  }

  return { endpoint, isUnhealthy: pace.isUnhealthy, startAttempt: begin, poll: look, tick, drain: stop }
}
