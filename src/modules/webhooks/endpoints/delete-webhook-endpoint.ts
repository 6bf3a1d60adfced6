import { parseInput } from '../../../core/input.ts'
import type { IdempotentResult } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { deleteWebhookEndpointRow } from './repository.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { toPublicEndpoint, WebhookEndpointIdInput } from './webhook-endpoint.ts'

/** The deliveries of a deleted endpoint are no longer visible. */
export const deleteWebhookEndpoint = defineOperation(
  {
    name: 'deleteWebhookEndpoint',
    input: WebhookEndpointIdInput,
    scope: 'webhooks',
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND'],
  },
  async (context, input): Promise<IdempotentResult<WebhookEndpoint>> => {
    const request = parseInput(WebhookEndpointIdInput, input)
    return runOnce(context, 'deleteWebhookEndpoint', request, async (tx) => {
      const endpoint = await lockWebhookEndpoint(tx, context, request.webhookId)
      await deleteWebhookEndpointRow(tx, endpoint)
      return toPublicEndpoint(endpoint)
    })
  },
)
