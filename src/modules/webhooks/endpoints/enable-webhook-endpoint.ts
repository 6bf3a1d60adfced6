import type { z } from 'zod'
import { describedValues } from '../../../core/api/enum-descriptions.ts'
import type { FieldFault } from '../../../core/errors.ts'
import { dueAfter } from '../../../core/ids.ts'
import { isGiven, oneOf, optional, parse } from '../../../core/input.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context, Done } from '../../../operations/context.ts'
import { timeOfNextChange } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import { latestOf, requireKnown } from '../../outbox/latest-event.ts'
import { untried } from './create-webhook-endpoint.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { dropDeliveries, hastenDeliveries, storeWebhookEndpoint } from './repository.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { shownEndpoint } from './webhook-endpoint.ts'
import { eventNumber, WebhookEndpointNamed } from './webhook-endpoint-input.ts'

/** From where an endpoint that is enabled goes on. */
export const webhookStarts = describedValues({
  resume: 'Where it was: it gets all that happened meanwhile.',
  now: 'With what happens next: it does not get what happened before, nor what was to be tried again.',
})

export const EnableWebhookEndpointInput = WebhookEndpointNamed.extend({
  from: optional(oneOf(webhookStarts)),
  after: optional(eventNumber()),
})

/**
 * Has events sent to an endpoint: from where it was, from now on, or all after a sequence. One that is enabled already may be
 * moved so too. What waits for another attempt is tried at once.
 *
 * @param input at most one of `from`, which is `resume` where nothing else is said, and `after`, a sequence or 0
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND, INVALID_INPUT for a
 *   sequence that no event has yet
 */
export async function enableWebhookEndpoint(
  context: Context,
  input: z.input<typeof EnableWebhookEndpointInput>,
): Promise<Done<WebhookEndpoint>> {
  const request = parse(EnableWebhookEndpointInput, input, bothFault(input))
  return once(context, 'enableWebhookEndpoint', request, async (tx) => {
    const endpoint = await lockWebhookEndpoint(tx, context, request.webhookId)
    const { merchantId, id: endpointId } = endpoint
    const cursor = await startOf(tx, context, { ...request, cursor: endpoint.cursor })
    if (request.from === 'now') await dropDeliveries(tx, { merchantId, endpointId })
    else await hastenDeliveries(tx, { merchantId, endpointId, nextAttemptAt: dueAfter(0, context.wallClock()) })

    const updated = { ...endpoint, ...untried, cursor, updatedAt: timeOfNextChange(context, endpoint) }
    await storeWebhookEndpoint(tx, updated)
    return shownEndpoint(updated)
  })
}

function bothFault({ from, after }: z.input<typeof EnableWebhookEndpointInput>): FieldFault[] {
  const message = 'must not be given together with from'
  return isGiven(from) && isGiven(after) ? [{ field: 'after', code: 'INVALID_PARAMETER', message }] : []
}

type Start = { from: string | null; after: number | null; cursor: number }

/** @throws Refusal INVALID_INPUT */
async function startOf(tx: Tx, context: Context, { from, after, cursor }: Start): Promise<number> {
  const asking = { db: tx, merchantId: context.merchantId }
  if (from === 'now') return latestOf(asking)
  return after === null ? cursor : requireKnown(asking, after)
}
