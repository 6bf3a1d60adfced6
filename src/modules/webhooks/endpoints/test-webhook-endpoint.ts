import type { z } from 'zod'
import { timestamp } from '../../../core/ids.ts'
import { parse } from '../../../core/input.ts'
import type { Context, Done } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import { recordEvent } from '../../outbox/record-event.ts'
import { lockWebhookEndpoint, requireEnabled } from './get-webhook-endpoint.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { shownEndpoint } from './webhook-endpoint.ts'
import { WebhookEndpointNamed } from './webhook-endpoint-input.ts'

/**
 * Has an endpoint tried: an event `webhook.test` happens, which no other endpoint gets, and this one whatever its types are.
 *
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND, WEBHOOK_DISABLED
 */
export async function testWebhookEndpoint(
  context: Context,
  input: z.input<typeof WebhookEndpointNamed>,
): Promise<Done<WebhookEndpoint>> {
  const request = parse(WebhookEndpointNamed, input)
  return once(context, 'testWebhookEndpoint', request, async (tx) => {
    const endpoint = shownEndpoint(requireEnabled(await lockWebhookEndpoint(tx, context, request.webhookId)))
    const at = timestamp(context.now())
    await recordEvent(tx, context, { type: 'webhook.test', objectId: endpoint.id, at, data: endpoint })
    return endpoint
  })
}
