import { dueTimeAfter, timestamp } from '../../../core/ids-and-clock.ts'
import type { Service } from '../../../operations/context.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import type { EventMessage } from '../transport/build-request.ts'
import { buildRequest } from '../transport/build-request.ts'
import type { AttemptVerdict } from '../transport/retry-schedule.ts'
import { judgeResponse, nextAttemptAt } from '../transport/retry-schedule.ts'
import type { Sender, SendResult } from '../transport/send.ts'
import type { Signer } from '../transport/standard-webhooks.ts'
import type { AttemptRecord } from './record-attempts.ts'

export type QueuedDelivery = Pick<AttemptRecord, 'sequence' | 'objectId' | 'attemptsInSchedule' | 'storedAttempts'> & {
  readonly message: EventMessage
}

type AttemptOptions = {
  readonly endpoint: StoredWebhookEndpoint
  readonly sender: Sender
  readonly signer: Signer
  readonly wallClock: Service['wallClock']
  readonly random: () => number
  readonly onError: (error: unknown) => void
}

type AttemptOutcome = { readonly record: AttemptRecord; readonly verdict: AttemptVerdict; readonly result: SendResult }

const unsentResult: SendResult = {
  status: null,
  error: { kind: 'other', message: 'The event could not be sent.' },
  durationMs: 0,
  retryAfter: null,
  answer: null,
}

/** The promise never rejects. */
export async function attemptDelivery(item: QueuedDelivery, options: AttemptOptions): Promise<AttemptOutcome> {
  const { endpoint, sender, signer, wallClock, random, onError } = options
  const { message, ...delivery } = item
  const startedAt = wallClock()
  let result: SendResult
  try {
    const request = buildRequest(message, { format: endpoint.format, signer, now: startedAt })
    result = await sender.send(endpoint.url, request, message)
  } catch (error) {
    // If an event cannot be serialized, the delivery fails, so that the event does not block all later events.
    onError(error)
    result = unsentResult
  }
  const { status, answer, error, durationMs, retryAfter } = result
  const verdict = judgeResponse(status)
  const attempts = delivery.attemptsInSchedule + 1
  const next = verdict.isDelivered ? null : nextAttemptAt({ attempts, now: wallClock(), retryAfter, random })
  const record: AttemptRecord = {
    ...delivery,
    happenedAt: message.timestamp,
    attemptedAt: timestamp(startedAt),
    durationMs,
    status,
    answer,
    error: error === null ? null : `${error.kind}: ${error.message}`,
    outcome: verdict.isDelivered ? 'delivered' : next === null ? 'exhausted' : 'pending',
    nextAttemptAt: next === null ? null : dueTimeAfter(0, next),
  }
  return { record, verdict, result }
}
