import type { z } from 'zod'
import { parse } from '../../../core/input.ts'
import type { Context, Done } from '../../../operations/context.ts'
import { timeOfNextChange } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { storeWebhookEndpoint } from './repository.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { shownEndpoint } from './webhook-endpoint.ts'
import { WebhookEndpointNamed } from './webhook-endpoint-input.ts'

/**
 * Stops what is sent to an endpoint until it is enabled: it is not tried meanwhile, and no event tells of it, because whoever
 * did this knows. One that is disabled for another reason is so by request from now on.
 *
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND
 */
export async function disableWebhookEndpoint(
  context: Context,
  input: z.input<typeof WebhookEndpointNamed>,
): Promise<Done<WebhookEndpoint>> {
  const request = parse(WebhookEndpointNamed, input)
  return once(context, 'disableWebhookEndpoint', request, async (tx) => {
    const endpoint = await lockWebhookEndpoint(tx, context, request.webhookId)
    if (endpoint.disabledReason === 'by_request') return shownEndpoint(endpoint)
    const updated = {
      ...endpoint,
      status: 'disabled',
      disabledReason: 'by_request',
      probeAt: null,
      updatedAt: timeOfNextChange(context, endpoint),
    } as const
    await storeWebhookEndpoint(tx, updated)
    return shownEndpoint(updated)
  })
}
