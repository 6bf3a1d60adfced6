import type { z } from 'zod'
import { parse } from '../../../core/input.ts'
import type { Context, Done } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { deleteWebhookEndpointRow } from './repository.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { shownEndpoint } from './webhook-endpoint.ts'
import { WebhookEndpointNamed } from './webhook-endpoint-input.ts'

/**
 * Deletes a webhook endpoint for good: nothing more is sent to it, and its log is not shown any more.
 *
 * @returns the endpoint as it was
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND
 */
export async function deleteWebhookEndpoint(
  context: Context,
  input: z.input<typeof WebhookEndpointNamed>,
): Promise<Done<WebhookEndpoint>> {
  const request = parse(WebhookEndpointNamed, input)
  return once(context, 'deleteWebhookEndpoint', request, async (tx) => {
    const endpoint = await lockWebhookEndpoint(tx, context, request.webhookId)
    await deleteWebhookEndpointRow(tx, endpoint)
    return shownEndpoint(endpoint)
  })
}
