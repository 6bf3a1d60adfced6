import { z } from 'zod'
import { parse, sentFields } from '../../../core/input.ts'
import type { Context, Done } from '../../../operations/context.ts'
import { timeOfNextChange } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import { urlFaults } from './endpoint-url.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { storeWebhookEndpoint } from './repository.ts'
import type { StoredWebhookEndpoint, WebhookEndpoint } from './webhook-endpoint.ts'
import { shownEndpoint } from './webhook-endpoint.ts'
import { endpointFields, WebhookEndpointNamed } from './webhook-endpoint-input.ts'

// A field that is absent stays as it is; an optional one that is null or empty is as if it had never been given.
export const UpdateWebhookEndpointInput = z.object({
  ...WebhookEndpointNamed.shape,
  ...z.object(endpointFields).partial().shape,
})

/**
 * Changes the fields of an endpoint that are given, and no others. What waits for its next attempt is sent to the new URL, and
 * in the new format; new types hold for the events that were not sent yet.
 *
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND
 */
export async function updateWebhookEndpoint(
  context: Context,
  input: z.input<typeof UpdateWebhookEndpointInput>,
): Promise<Done<WebhookEndpoint>> {
  const { webhookId, ...parsed } = parse(UpdateWebhookEndpointInput, input, urlFaults(context, input.url))
  const changes = sentFields(input, parsed)
  return once(context, 'updateWebhookEndpoint', { webhookId, changes }, async (tx) => {
    const endpoint = await lockWebhookEndpoint(tx, context, webhookId)
    const merged = { ...endpoint, ...changes } as StoredWebhookEndpoint
    if (JSON.stringify(merged) === JSON.stringify(endpoint)) return shownEndpoint(endpoint)

    const updated = { ...merged, updatedAt: timeOfNextChange(context, endpoint) }
    await storeWebhookEndpoint(tx, updated)
    return shownEndpoint(updated)
  })
}
