import { dueAfter, timestamp } from '../../../core/ids.ts'
import type { Service } from '../../../operations/context.ts'
import type { StoredWebhookEndpoint } from '../endpoints/webhook-endpoint.ts'
import { writePost } from '../transport/build-request.ts'
import type { EventMessage } from '../transport/message.ts'
import type { Judgement } from '../transport/retry-schedule.ts'
import { judge, nextAttemptAt } from '../transport/retry-schedule.ts'
import type { Sender, Sent } from '../transport/send.ts'
import type { Signer } from '../transport/signing-secrets.ts'
import type { Attempted } from './record-attempts.ts'

/** An event on its way to an endpoint. */
export type Item = {
  readonly sequence: number
  readonly objectId: string
  readonly message: EventMessage
  /** Attempts that were made since it was last asked for. */
  readonly tries: number
  /** All attempts that its delivery had when it was taken up again; `null` for one that comes from the feed. */
  readonly known: number | null
}

type Means = {
  readonly endpoint: StoredWebhookEndpoint
  readonly sender: Sender
  readonly signer: Signer
  readonly wallClock: Service['wallClock']
  readonly random: () => number
  readonly onFault: (error: unknown) => void
}

/** What came of an attempt: what is to be recorded of it, and what it says of the endpoint. */
type Outcome = { readonly attempted: Attempted; readonly verdict: Judgement; readonly sent: Sent }

const unsent: Sent = {
  status: null,
  error: { kind: 'other', message: 'The event could not be sent.' },
  durationMs: 0,
  retryAfter: null,
  answer: null,
}

/** Sends an event to an endpoint, once. */
export async function attempt(item: Item, means: Means): Promise<Outcome> {
  const { endpoint, sender, signer, wallClock, random, onFault } = means
  const { message, tries } = item
  const startedAt = wallClock()
  let sent: Sent
  try {
    const post = writePost(message, { format: endpoint.format, signer, now: startedAt })
    sent = await sender.send(endpoint.url, post, message)
  } catch (fault) {
    // What can't be written is a failed attempt like any other: else it would hold up all that comes after it.
    onFault(fault)
    sent = unsent
  }
  const verdict = judge(sent.status)
  const { retryAfter } = sent
  const attempts = tries + 1
  const next = verdict.isDelivered ? null : nextAttemptAt({ attempts, now: wallClock(), retryAfter, random })
  return { attempted: attemptedOf({ item, startedAt, sent, verdict, next }), verdict, sent }
}

type Made = {
  readonly item: Item
  readonly startedAt: number
  readonly sent: Sent
  readonly verdict: Judgement
  readonly next: ReturnType<typeof nextAttemptAt>
}

function attemptedOf({ item, startedAt, sent, verdict, next }: Made): Attempted {
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
    nextAttemptAt: next === null ? null : dueAfter(0, next),
  }
}
