import { z } from 'zod'
import type { FieldError } from '../../../core/errors.ts'
import { invalidInput, notFound } from '../../../core/errors.ts'
import { dueTimeAfter, timestamp } from '../../../core/ids-and-clock.ts'
import { hasValue, instant, optional, parseInput } from '../../../core/input.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context, IdempotentResult } from '../../../operations/context.ts'
import { strictlyLaterUpdatedAt } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import type { Event } from '../../outbox/event.ts'
import { eventId, sequenceOfEventId } from '../../outbox/event.ts'
import { requireKnownSequence } from '../../outbox/read-events.ts'
import { eventsBySequence } from '../../outbox/repository.ts'
import { isEventTypeSupported } from '../transport/formats.ts'
import { lockWebhookEndpoint, requireEnabled } from './get-webhook-endpoint.ts'
import { findEventSequenceRange } from './list-webhook-deliveries.ts'
import { requeueDelivery, storeWebhookEndpoint } from './repository.ts'
import type { StoredWebhookEndpoint, WebhookEndpoint } from './webhook-endpoint.ts'
import { eventSequence, toPublicEndpoint, WebhookEndpointIdInput } from './webhook-endpoint.ts'

const ReplayWebhookEventsInput = WebhookEndpointIdInput.extend({
  eventId: optional(z.string()),
  after: optional(eventSequence()),
  since: optional(instant()),
})
type ReplayRequest = z.output<typeof ReplayWebhookEventsInput>

/**
 * Sends one event again, or all events after a sequence number or since a time whose type the endpoint subscribes to.
 * Delivered events are also sent again.
 *
 * Errors have this precedence: RESOURCE_NOT_FOUND (endpoint), WEBHOOK_DISABLED, RESOURCE_NOT_FOUND (event),
 * INVALID_INPUT (an event type that the endpoint's format does not have, or a sequence above the latest event).
 *
 * @param input has exactly one of `eventId`, `after` and `since`. The clocks of processes can differ, so a replay since
 *   a time can include events from up to a minute earlier
 */
export const replayWebhookEvents = defineOperation(
  {
    name: 'replayWebhookEvents',
    input: ReplayWebhookEventsInput,
    scope: 'webhooks',
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'WEBHOOK_DISABLED'],
  },
  async (context, input): Promise<IdempotentResult<WebhookEndpoint>> => {
    const request = parseInput(ReplayWebhookEventsInput, input, findChoiceErrors(input))
    return runOnce(context, 'replayWebhookEvents', request, async (tx) => {
      const endpoint = requireEnabled(await lockWebhookEndpoint(tx, context, request.webhookId))
      if (request.eventId !== null) {
        await replayEvent(tx, context, { endpoint, event: await findEvent(tx, context, request.eventId) })
      }
      const cursor =
        request.eventId === null
          ? Math.min(endpoint.cursor, await findReplayStart(tx, context, request))
          : endpoint.cursor
      // The webhook dispatcher notices a changed endpoint by its `updatedAt`.
      const updated = { ...endpoint, cursor, updatedAt: strictlyLaterUpdatedAt(context, endpoint) }
      await storeWebhookEndpoint(tx, updated)
      return toPublicEndpoint(updated)
    })
  },
)

function findChoiceErrors({ eventId, after, since }: z.input<typeof ReplayWebhookEventsInput>): FieldError[] {
  const choices = Object.entries({ eventId, after, since }).filter(([, value]) => hasValue(value))
  if (choices.length === 1) return []
  if (choices.length === 0) {
    const message = 'is required if neither after nor since is given'
    return [{ field: 'eventId', code: 'MISSING_REQUIRED_FIELD', message }]
  }
  const message = 'must not be given together with another of eventId, after and since'
  return choices.slice(1).map(([field]) => ({ field, code: 'INVALID_PARAMETER', message }))
}

async function findEvent(tx: Tx, { merchantId }: Context, id: string): Promise<Event> {
  const sequence = sequenceOfEventId(id)
  const [event] = sequence === null ? [] : await eventsBySequence(tx, { merchantId, sequences: [sequence] })
  if (event === undefined || eventId(event) !== id) throw notFound('Event')
  return event
}

async function replayEvent(
  tx: Tx,
  context: Context,
  { endpoint, event }: { endpoint: StoredWebhookEndpoint; event: Event },
): Promise<void> {
  if (event.type === 'webhook.test' && event.objectId !== endpoint.id) throw notFound('Event')
  const { merchantId, id: endpointId, format } = endpoint
  if (!isEventTypeSupported(format, event.type)) {
    const message = `must be of a type that the format ${format} supports, and ${event.type} is not`
    throw invalidInput([{ field: 'eventId', code: 'INVALID_PARAMETER', message }])
  }
  const now = context.wallClock()
  const { sequence, objectId } = event
  const times = { nextAttemptAt: dueTimeAfter(0, now), createdAt: timestamp(now) }
  await requeueDelivery(tx, { merchantId, endpointId, sequence, objectId, ...times })
}

async function findReplayStart(tx: Tx, context: Context, { after, since }: ReplayRequest): Promise<number> {
  const { merchantId } = context
  if (after !== null) return requireKnownSequence({ db: tx, merchantId }, after)
  const { above } = await findEventSequenceRange({ db: tx, merchantId }, { createdFrom: since, createdBefore: null })
  return above
}
