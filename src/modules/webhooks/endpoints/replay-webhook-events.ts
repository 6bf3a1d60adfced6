import { z } from 'zod'
import type { FieldFault } from '../../../core/errors.ts'
import { invalidInput, notFound } from '../../../core/errors.ts'
import { dueAfter, timestamp } from '../../../core/ids.ts'
import { instant, isGiven, optional, parse } from '../../../core/input.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context, Done } from '../../../operations/context.ts'
import { timeOfNextChange } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import type { Event } from '../../outbox/event.ts'
import { eventId, sequenceOfEventId } from '../../outbox/event.ts'
import { requireKnown } from '../../outbox/latest-event.ts'
import { eventsNumbered } from '../../outbox/repository.ts'
import { isSent } from '../transport/formats.ts'
import { lockWebhookEndpoint, requireEnabled } from './get-webhook-endpoint.ts'
import { spanOfEvents } from './list-webhook-deliveries.ts'
import { sendAgain, storeWebhookEndpoint } from './repository.ts'
import type { StoredWebhookEndpoint, WebhookEndpoint } from './webhook-endpoint.ts'
import { shownEndpoint } from './webhook-endpoint.ts'
import { eventNumber, WebhookEndpointNamed } from './webhook-endpoint-input.ts'

export const ReplayWebhookEventsInput = WebhookEndpointNamed.extend({
  eventId: optional(z.string()),
  after: optional(eventNumber()),
  since: optional(instant()),
})
type Request = z.output<typeof ReplayWebhookEventsInput>

/**
 * Has events sent to an endpoint again, whatever became of them: one, whatever the endpoint's types are, or all after a
 * sequence or since a time, in the order in which they happened. What was tried before stays in the log.
 *
 * @param input exactly one of `eventId`, `after` and `since`; from a time on it may begin up to a minute earlier, because
 *   clocks of several processes may differ so much
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND (endpoint),
 *   WEBHOOK_DISABLED, RESOURCE_NOT_FOUND (event), INVALID_INPUT for an event that the endpoint's format does not have, or a
 *   sequence that no event has yet
 */
export async function replayWebhookEvents(
  context: Context,
  input: z.input<typeof ReplayWebhookEventsInput>,
): Promise<Done<WebhookEndpoint>> {
  const request = parse(ReplayWebhookEventsInput, input, choiceFaults(input))
  return once(context, 'replayWebhookEvents', request, async (tx) => {
    const endpoint = requireEnabled(await lockWebhookEndpoint(tx, context, request.webhookId))
    if (request.eventId !== null) {
      await replayOne(tx, context, { endpoint, event: await findEvent(tx, context, request.eventId) })
    }
    const cursor =
      request.eventId === null ? Math.min(endpoint.cursor, await startOf(tx, context, request)) : endpoint.cursor
    // By this the sender notices that there is something to send.
    const updated = { ...endpoint, cursor, updatedAt: timeOfNextChange(context, endpoint) }
    await storeWebhookEndpoint(tx, updated)
    return shownEndpoint(updated)
  })
}

function choiceFaults({ eventId, after, since }: z.input<typeof ReplayWebhookEventsInput>): FieldFault[] {
  const given = Object.entries({ eventId, after, since }).filter(([, value]) => isGiven(value))
  if (given.length === 1) return []
  if (given.length === 0) {
    const message = 'must be given, or after, or since'
    return [{ field: 'eventId', code: 'MISSING_REQUIRED_FIELD', message }]
  }
  const message = 'must not be given together with another of eventId, after and since'
  return given.slice(1).map(([field]) => ({ field, code: 'INVALID_PARAMETER', message }))
}

/** @throws Refusal RESOURCE_NOT_FOUND, also for what is no id, and for what only another endpoint gets */
async function findEvent(tx: Tx, { merchantId }: Context, given: string): Promise<Event> {
  const sequence = sequenceOfEventId(given)
  const [event] = sequence === null ? [] : await eventsNumbered(tx, { merchantId, sequences: [sequence] })
  if (event === undefined || eventId(event) !== given) throw notFound('Event')
  return event
}

async function replayOne(
  tx: Tx,
  context: Context,
  { endpoint, event }: { endpoint: StoredWebhookEndpoint; event: Event },
): Promise<void> {
  if (event.type === 'webhook.test' && event.objectId !== endpoint.id) throw notFound('Event')
  const { merchantId, id: endpointId, format } = endpoint
  if (!isSent(format, event.type)) {
    const message = `must be of a type that the format ${format} has, which ${event.type} is not`
    throw invalidInput([{ field: 'eventId', code: 'INVALID_PARAMETER', message }])
  }
  const now = context.wallClock()
  const { sequence, objectId } = event
  const times = { nextAttemptAt: dueAfter(0, now), createdAt: timestamp(now) }
  await sendAgain(tx, { merchantId, endpointId, sequence, objectId, ...times })
}

/** The sequence after which events are sent again. */
async function startOf(tx: Tx, context: Context, { after, since }: Request): Promise<number> {
  const { merchantId } = context
  if (after !== null) return requireKnown({ db: tx, merchantId }, after)
  const { above } = await spanOfEvents({ db: tx, merchantId }, { createdFrom: since, createdBefore: null })
  return above
}
