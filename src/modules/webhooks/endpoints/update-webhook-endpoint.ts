import { z } from 'zod'
import { parseInput, sentFields } from '../../../core/input.ts'
import type { IdempotentResult } from '../../../operations/context.ts'
import { strictlyLaterUpdatedAt } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { findUrlFieldErrors } from '../transport/destination-policy.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { storeWebhookEndpoint } from './repository.ts'
import type { StoredWebhookEndpoint, WebhookEndpoint } from './webhook-endpoint.ts'
import { endpointFields, toPublicEndpoint, WebhookEndpointIdInput } from './webhook-endpoint.ts'

// Fields that are absent from the request keep their value; an optional field that is null or empty gets its default.
const UpdateWebhookEndpointInput = z.object({
  ...WebhookEndpointIdInput.shape,
  ...z.object(endpointFields).partial().shape,
})

/**
 * Scheduled retries use the endpoint's new URL and format. New event types apply to all events that were not sent yet.
 */
export const updateWebhookEndpoint = defineOperation(
  {
    name: 'updateWebhookEndpoint',
    input: UpdateWebhookEndpointInput,
    scope: 'webhooks',
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND'],
  },
  async (context, input): Promise<IdempotentResult<WebhookEndpoint>> => {
    const { webhookId, ...parsed } = parseInput(
      UpdateWebhookEndpointInput,
      input,
      findUrlFieldErrors(context, input.url),
    )
    const changes = sentFields(input, parsed)
    return runOnce(context, 'updateWebhookEndpoint', { webhookId, changes }, async (tx) => {
      const endpoint = await lockWebhookEndpoint(tx, context, webhookId)
      const merged = { ...endpoint, ...changes } as StoredWebhookEndpoint
      if (JSON.stringify(merged) === JSON.stringify(endpoint)) return toPublicEndpoint(endpoint)

      const updated = { ...merged, updatedAt: strictlyLaterUpdatedAt(context, endpoint) }
      await storeWebhookEndpoint(tx, updated)
      return toPublicEndpoint(updated)
    })
  },
)
