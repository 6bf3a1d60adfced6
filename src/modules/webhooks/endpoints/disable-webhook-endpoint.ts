import { parseInput } from '../../../core/input.ts'
import type { IdempotentResult } from '../../../operations/context.ts'
import { strictlyLaterUpdatedAt } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { storeWebhookEndpoint } from './repository.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'
import { toPublicEndpoint, WebhookEndpointIdInput } from './webhook-endpoint.ts'

/**
 * An endpoint that was disabled by request is never probed. If the endpoint was already disabled, the reason changes to
 * `by_request`.
 */
export const disableWebhookEndpoint = defineOperation(
  {
    name: 'disableWebhookEndpoint',
    input: WebhookEndpointIdInput,
    scope: 'webhooks',
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND'],
  },
  async (context, input): Promise<IdempotentResult<WebhookEndpoint>> => {
    const request = parseInput(WebhookEndpointIdInput, input)
    return runOnce(context, 'disableWebhookEndpoint', request, async (tx) => {
      const endpoint = await lockWebhookEndpoint(tx, context, request.webhookId)
      if (endpoint.disabledReason === 'by_request') return toPublicEndpoint(endpoint)
      const updated = {
        ...endpoint,
        status: 'disabled',
        disabledReason: 'by_request',
        probeAt: null,
        updatedAt: strictlyLaterUpdatedAt(context, endpoint),
      } as const
      await storeWebhookEndpoint(tx, updated)
      return toPublicEndpoint(updated)
    })
  },
)
