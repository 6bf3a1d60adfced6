import { timestamp } from '../../../core/ids-and-clock.ts'
import { parseInput } from '../../../core/input.ts'
import type { IdempotentResult } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { recordEvent } from '../../outbox/record-event.ts'
import { lockWebhookEndpoint, requireEnabled } from './get-webhook-endpoint.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { toPublicEndpoint, WebhookEndpointIdInput } from './webhook-endpoint.ts'

/** Only the tested endpoint receives the event `webhook.test`, even if the endpoint does not subscribe to that type. */
export const testWebhookEndpoint = defineOperation(
  {
    name: 'testWebhookEndpoint',
    input: WebhookEndpointIdInput,
    scope: 'webhooks',
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'WEBHOOK_DISABLED'],
  },
  async (context, input): Promise<IdempotentResult<WebhookEndpoint>> => {
    const request = parseInput(WebhookEndpointIdInput, input)
    return runOnce(context, 'testWebhookEndpoint', request, async (tx) => {
      const endpoint = toPublicEndpoint(requireEnabled(await lockWebhookEndpoint(tx, context, request.webhookId)))
      const at = timestamp(context.now())
      await recordEvent(tx, context, { type: 'webhook.test', objectId: endpoint.id, at, data: endpoint })
      return endpoint
    })
  },
)
