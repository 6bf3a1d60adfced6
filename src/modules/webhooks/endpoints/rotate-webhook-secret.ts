import { z } from 'zod'
import { timestamp } from '../../../core/ids.ts'
import { optional, parse } from '../../../core/input.ts'
import type { Context, Done } from '../../../operations/context.ts'
import { timeOfNextChange } from '../../../operations/context.ts'
import { once } from '../../../operations/idempotency/run-once.ts'
import { rotated, withSecret } from './endpoint-secrets.ts'
import { lockWebhookEndpoint } from './get-webhook-endpoint.ts'
import { storeWebhookEndpoint } from './repository.ts'
import type { KeyedWebhookEndpoint } from './webhook-endpoint.ts'
import { WebhookEndpointNamed } from './webhook-endpoint-input.ts'

const standardOverlapHours = 24
const longestOverlapHours = 7 * 24
const hourMs = 60 * 60 * 1000

export const RotateWebhookSecretInput = WebhookEndpointNamed.extend({
  overlapHours: optional(z.int().min(0).max(longestOverlapHours)).transform((hours) => hours ?? standardOverlapHours),
})

/**
 * Gives an endpoint a new secret, and new keys where it has such. It signs at once; what signed before does so as well for
 * another 24 hours, or for as many as are asked for, and never longer than it would have.
 *
 * @param input `overlapHours` from 0, which ends the old secret at once, to seven days
 * @returns the endpoint with the new secret, which is not shown again
 * @throws Refusal, the first that applies: INVALID_INPUT, IDEMPOTENCY_KEY_REUSED, RESOURCE_NOT_FOUND, NOT_CONFIGURED
 */
export async function rotateWebhookSecret(
  context: Context,
  input: z.input<typeof RotateWebhookSecretInput>,
): Promise<Done<KeyedWebhookEndpoint>> {
  const request = parse(RotateWebhookSecretInput, input)
  const { result, isReplayed } = await once(context, 'rotateWebhookSecret', request, async (tx) => {
    const endpoint = await lockWebhookEndpoint(tx, context, request.webhookId)
    const now = context.wallClock()
    const span = { now, until: timestamp(now + request.overlapHours * hourMs) }
    const updated = {
      ...endpoint,
      ...rotated(context, endpoint, span),
      updatedAt: timeOfNextChange(context, endpoint),
    }
    await storeWebhookEndpoint(tx, updated)
    return updated
  })
  return { result: withSecret(context, result), isReplayed }
}
