import { z } from 'zod'
import { timestamp } from '../../../core/ids-and-clock.ts'
import { optional, parseInput } from '../../../core/input.ts'
import type { IdempotentResult } from '../../../operations/context.ts'
import { strictlyLaterUpdatedAt } from '../../../operations/context.ts'
import { defineOperation } from '../../../operations/define-operation.ts'
import { runOnce } from '../../../operations/idempotency/run-once.ts'
import { revealSecret, rotateSigningKeys } from './endpoint-secrets.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { storeWebhookEndpoint } from './repository.ts'
import type { KeyedWebhookEndpoint } from './webhook-endpoint.ts'
import { WebhookEndpointIdInput } from './webhook-endpoint.ts'

const defaultOverlapHours = 24
const maxOverlapHours = 7 * 24
const hourMs = 60 * 60 * 1000

const RotateWebhookSecretInput = WebhookEndpointIdInput.extend({
  overlapHours: optional(z.int().min(0).max(maxOverlapHours)).transform((hours) => hours ?? defaultOverlapHours),
})

/**
 * An endpoint with a key pair also gets a new key pair. During `overlapHours`, requests are also signed with the
 * previous secrets and keys.
 *
 * @param input `overlapHours` is from 0 to 168 (a week), by default 24
 * @returns the endpoint with the new secret; no later response contains the secret
 */
export const rotateWebhookSecret = defineOperation(
  {
    name: 'rotateWebhookSecret',
    input: RotateWebhookSecretInput,
    scope: 'webhooks',
    movesMoney: false,
    sandboxOnly: false,
    errors: ['RESOURCE_NOT_FOUND', 'NOT_CONFIGURED'],
  },
  async (context, input): Promise<IdempotentResult<KeyedWebhookEndpoint>> => {
    const request = parseInput(RotateWebhookSecretInput, input)
    const { result, isReplayed } = await runOnce(context, 'rotateWebhookSecret', request, async (tx) => {
      const endpoint = await lockWebhookEndpoint(tx, context, request.webhookId)
      const now = context.wallClock()
      const span = { now, until: timestamp(now + request.overlapHours * hourMs) }
      const updated = {
        ...endpoint,
        ...rotateSigningKeys(context, endpoint, span),
        updatedAt: strictlyLaterUpdatedAt(context, endpoint),
      }
      await storeWebhookEndpoint(tx, updated)
      return updated
    })
    return { result: revealSecret(context, result), isReplayed }
  },
)
