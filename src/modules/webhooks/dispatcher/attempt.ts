import { dueTimeAfter, timestamp } from '../../../core/ids-and-clock.ts'
import type { Service } from '../../../operations/context.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import { buildRequest } from '../transport/build-request.ts'
import type { EventMessage } from '../transport/message.ts'
import type { AttemptVerdict } from '../transport/retry-schedule.ts'
import { judgeResponse, nextAttemptAt } from '../transport/retry-schedule.ts'
import type { Sender, SendResult } from '../transport/send.ts'
import type { Signer } from '../transport/signing-secrets.ts'
import type { AttemptRecord } from './record-attempts.ts'

/** An event on its way to an endpoint. */
export type QueuedDelivery = {
  readonly sequence: number
  readonly objectId: string
  readonly message: EventMessage
  /** Attempts that were made since it was last asked for. */
  readonly tries: number
  /** All attempts that its delivery had when it was taken up again; `null` for one that comes from the feed. */
  readonly known: number | null
}

type AttemptOptions = {
  readonly endpoint: StoredWebhookEndpoint
  readonly sender: Sender
  readonly signer: Signer
  readonly wallClock: Service['wallClock']
  readonly random: () => number
  readonly onError: (error: unknown) => void
}

/** What came of an attempt: what is to be recorded of it, and what it says of the endpoint. */
type AttemptOutcome = { readonly record: AttemptRecord; readonly verdict: AttemptVerdict; readonly result: SendResult }

const unsentResult: SendResult = {
  status: null,
  error: { kind: 'other', message: 'The event could not be sent.' },
  durationMs: 0,
  retryAfter: null,
  answer: null,
}

/** Sends an event to an endpoint, once. */
export async function attemptDelivery(item: QueuedDelivery, means: AttemptOptions): Promise<AttemptOutcome> {
  const { endpoint, sender, signer, wallClock, random, onError: onFault } = means
  const { message, tries } = item
  const startedAt = wallClock()
  let sent: SendResult
  try {
    const post = buildRequest(message, { format: endpoint.format, signer, now: startedAt })
    sent = await sender.send(endpoint.url, post, message)
  } catch (fault) {
    // What can't be written is a failed attempt like any other: else it would hold up all that comes after it.
    onFault(fault)
    sent = unsentResult
  }
  const verdict = judgeResponse(sent.status)
  const { retryAfter } = sent
  const attempts = tries + 1
  const next = verdict.isDelivered ? null : nextAttemptAt({ attempts, now: wallClock(), retryAfter, random })
  return {
    record: toAttemptRecord({ item, startedAt, result: sent, verdict, nextAttemptAt: next }),
    verdict,
    result: sent,
  }
}

type AttemptRecordInput = {
  readonly item: QueuedDelivery
  readonly startedAt: number
  readonly result: SendResult
  readonly verdict: AttemptVerdict
  readonly nextAttemptAt: ReturnType<typeof nextAttemptAt>
}

function toAttemptRecord({
  item,
  startedAt,
  result: sent,
  verdict,
  nextAttemptAt: next,
}: AttemptRecordInput): AttemptRecord {
  const { sequence, objectId, message, known, tries } = item
  const { status, answer, error, durationMs } = sent
  return {
    sequence,
    objectId,
    happenedAt: message.timestamp,
    known,
    tries,
    attemptedAt: timestamp(startedAt),
    durationMs,
    status,
    answer,
    error: error === null ? null : `${error.kind}: ${error.message}`,
    becomes: verdict.isDelivered ? 'delivered' : next === null ? 'exhausted' : 'pending',
    nextAttemptAt: next === null ? null : dueTimeAfter(0, next),
  }
}
