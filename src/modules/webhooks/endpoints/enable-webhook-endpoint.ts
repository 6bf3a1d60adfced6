import type { z } from 'zod'
import { defineEnum } from '../../../core/api/enum-descriptions.ts'
import type { FieldError } from '../../../core/errors.ts'
import { dueTimeAfter } from '../../../core/ids-and-clock.ts'
import { hasValue, oneOf, optional, parseInput } from '../../../core/input.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context, IdempotentResult } from '../../../operations/context.ts'
import { strictlyLaterUpdatedAt } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { latestEventSequence, requireKnownSequence } from '../../outbox/read-events.ts'
import { initialHealth } from './create-webhook-endpoint.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { dropDeliveries, retryDeliveriesNow, storeWebhookEndpoint } from './repository.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { eventSequence, toPublicEndpoint, WebhookEndpointIdInput } from './webhook-endpoint.ts'

export const webhookStartPositions = defineEnum({
  resume: 'After the last sent event, so that missed events are sent.',
  now: 'With new events only. Missed events are skipped, and scheduled retries are dropped.',
})

const EnableWebhookEndpointInput = WebhookEndpointIdInput.extend({
  from: optional(oneOf(webhookStartPositions)),
  after: optional(eventSequence()),
})

/**
 * Moves the endpoint's cursor even if the endpoint is already enabled. Scheduled retries run immediately, except that
 * `from: 'now'` drops scheduled retries.
 *
 * @param input has at most one of `from` (by default `resume`) and `after` (the sequence of an event, or 0)
 * @throws DomainError INVALID_INPUT, also if `after` is above the sequence of the latest event
 */
export const enableWebhookEndpoint = defineOperation(
  {
    name: 'enableWebhookEndpoint',
    input: EnableWebhookEndpointInput,
    scope: 'webhooks',
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND'],
  },
  async (context, input): Promise<IdempotentResult<WebhookEndpoint>> => {
    const request = parseInput(EnableWebhookEndpointInput, input, findStartConflict(input))
    return runOnce(context, 'enableWebhookEndpoint', request, async (tx) => {
      const endpoint = await lockWebhookEndpoint(tx, context, request.webhookId)
      const { merchantId, id: endpointId } = endpoint
      const cursor = await resolveStart(tx, context, { ...request, cursor: endpoint.cursor })
      if (request.from === 'now') await dropDeliveries(tx, { merchantId, endpointId })
      else await retryDeliveriesNow(tx, { merchantId, endpointId, nextAttemptAt: dueTimeAfter(0, context.wallClock()) })

      const updated = { ...endpoint, ...initialHealth, cursor, updatedAt: strictlyLaterUpdatedAt(context, endpoint) }
      await storeWebhookEndpoint(tx, updated)
      return toPublicEndpoint(updated)
    })
  },
)

function findStartConflict({ from, after }: z.input<typeof EnableWebhookEndpointInput>): FieldError[] {
  const message = 'must not be given together with from'
  return hasValue(from) && hasValue(after) ? [{ field: 'after', code: 'INVALID_PARAMETER', message }] : []
}

type StartPosition = { from: string | null; after: number | null; cursor: number }

async function resolveStart(tx: Tx, context: Context, { from, after, cursor }: StartPosition): Promise<number> {
  const feed = { db: tx, merchantId: context.merchantId }
  if (from === 'now') return latestEventSequence(feed)
  return after === null ? cursor : requireKnownSequence(feed, after)
}
