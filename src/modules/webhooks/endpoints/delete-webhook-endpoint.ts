import type { z } from 'zod'
import { parseInput } from '../../../core/input.ts'
import type { Context, IdempotentResult } from '../../../operations/context.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { deleteWebhookEndpointRow } from './repository.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { toPublicEndpoint } from './webhook-endpoint.ts'
import { WebhookEndpointIdInput } from './webhook-endpoint-input.ts'

/**
 * Deletes a webhook endpoint for good: nothing more is sent to it, and its log is not shown any more.
 *
 * @returns the endpoint as it was
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND
 */
export async function deleteWebhookEndpoint(
  context: Context,
  input: z.input<typeof WebhookEndpointIdInput>,
): Promise<IdempotentResult<WebhookEndpoint>> {
  const request = parseInput(WebhookEndpointIdInput, input)
  return runOnce(context, 'deleteWebhookEndpoint', request, async (tx) => {
    const endpoint = await lockWebhookEndpoint(tx, context, request.webhookId)
    await deleteWebhookEndpointRow(tx, endpoint)
    return toPublicEndpoint(endpoint)
  })
}
