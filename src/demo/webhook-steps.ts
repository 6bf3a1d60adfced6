import { dueTimeAfter, timestamp } from '../core/ids-and-clock.ts'
import type { Event } from '../modules/outbox/event.ts'
import { eventId } from '../modules/outbox/event.ts'
import { latestEventSequence, readEvents } from '../modules/outbox/read-events.ts'
import { recordAttempts } from '../modules/webhooks/dispatcher/record-attempts.ts'
import { createWebhookEndpoint } from '../modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { attemptDelaysMs } from '../modules/webhooks/transport/retry-schedule.ts'
import type { Context } from '../operations/context.ts'
import { receiverPath } from '../server/rest/service-endpoints.ts'
import { dayMs, hourMs } from './demo-history.ts'
import type { SeedStep } from './history-steps.ts'
import type { SeededRandom } from './load/fake-data.ts'
import { createRandom } from './load/fake-data.ts'

/** A service that starts replaces the port 4000 in this URL with the configured port. */
const sandboxReceiverEndpoint = {
  url: `http://127.0.0.1:4000${receiverPath}`,
  description: 'The sandbox itself: its deliveries show what it received',
}

const endpointAgeMs = 60 * dayMs

/** Only the latest events have webhook deliveries, so that the service starts quickly. */
const loggedMs = 5 * dayMs
const maxLoggedEvents = 400

const outage = { fromMs: 30 * hourMs, forMs: 0.4 * hourMs }

type SeedAttempt = { readonly status: number | null; readonly answer: string | null; readonly error: string | null }

export async function webhookSteps(context: Context, now: number): Promise<readonly SeedStep[]> {
  const random = createRandom(7)
  const latest = await latestEventSequence(context)
  const { events } = await readEvents(context, { after: latest - maxLoggedEvents, limit: maxLoggedEvents })
  const logged = events.filter(({ time }) => Number(time) > now - loggedMs)
  let endpointId = ''
  const create = async () => {
    endpointId = (await createWebhookEndpoint(context, sandboxReceiverEndpoint)).result.id
  }
  const freeAt = new Map<string, number>()
  const attempts = logged.flatMap((event) => {
    const planned = planAttempts(random, { event, freeAt: freeAt.get(event.objectId) ?? 0, now })
    freeAt.set(event.objectId, (planned.at(-1)?.at ?? 0) + 1_000)
    return planned.map(({ at, ...attempt }, place) => ({
      at,
      run: () => record(context, { endpointId, event, attempt, place, isLast: place === planned.length - 1, latest }),
    }))
  })
  return [{ at: now - endpointAgeMs, run: create }, ...attempts]
}

type PlannedAttempt = SeedAttempt & { readonly at: number }

function planAttempts(
  random: SeededRandom,
  { event, freeAt, now }: { event: Event; freeAt: number; now: number },
): readonly PlannedAttempt[] {
  const delivered = { status: answered.ok, answer: `received ${eventId(event)}\n`, error: null }
  const attempts: PlannedAttempt[] = []
  let at = Math.max(Number(event.time) + random.integer(20, 400), freeAt)
  for (;;) {
    const isDown = at > now - outage.fromMs && at < now - outage.fromMs + outage.forMs
    const isSlow = attempts.length === 0 && random.chance(0.02)
    if (!isDown && !isSlow) return [...attempts, { at, ...delivered }]
    attempts.push({ at, ...(isDown ? unavailable : timedOut) })
    at += attemptDelaysMs[attempts.length] ?? dayMs
  }
}

const answered = { ok: 200, unavailable: 503 }

const unavailable = { status: answered.unavailable, answer: 'Service Unavailable\n', error: null }
const timedOut = { status: null, answer: null, error: 'timeout: No complete response arrived within 15 seconds.' }

type RecordedAttempt = {
  readonly endpointId: string
  readonly event: Event
  readonly attempt: SeedAttempt
  readonly place: number
  readonly isLast: boolean
  readonly latest: number
}

function record(context: Context, { endpointId, event, attempt, place, isLast, latest }: RecordedAttempt) {
  const { sequence, objectId, time } = event
  const next = dueTimeAfter(attemptDelaysMs[place + 1] ?? dayMs, context.wallClock())
  return recordAttempts(context, {
    endpointId,
    attempted: [
      {
        ...{ sequence, objectId, ...attempt },
        happenedAt: timestamp(Number(time)),
        attemptedAt: timestamp(context.wallClock()),
        durationMs: attempt.error === null ? 3 + (sequence % 23) : 15_000,
        storedAttempts: place === 0 ? null : place,
        attemptsInSchedule: place,
        outcome: isLast ? 'delivered' : 'pending',
        nextAttemptAt: isLast ? null : next,
      },
    ],
    waiting: [],
    cursor: { from: latest, to: latest },
    isGone: false,
  })
}
