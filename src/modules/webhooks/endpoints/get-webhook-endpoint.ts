import type { z } from 'zod'
import { DomainError, notFound } from '../../../core/errors.ts'
import { parseUuid } from '../../../core/ids-and-clock.ts'
import type { Tx } from '../../../database/query.ts'
import type { Context } from '../../../operations/context.ts'
import { webhookEndpoints } from './list.ts'
import { lockWebhookEndpointById } from './repository.ts'
import type { StoredWebhookEndpoint, WebhookEndpoint, WebhookEndpointIdInput } from './webhook-endpoint.ts'

/** @throws DomainError RESOURCE_NOT_FOUND, also for a malformed id (ruling 5) */
export async function getWebhookEndpoint(
  context: Context,
  { webhookId }: z.input<typeof WebhookEndpointIdInput>,
): Promise<WebhookEndpoint> {
  return webhookEndpoints.get(context, webhookId)
}

/** @throws DomainError RESOURCE_NOT_FOUND */
export async function lockWebhookEndpoint(
  tx: Tx,
  { merchantId }: Context,
  webhookId: string,
): Promise<StoredWebhookEndpoint> {
  const id = parseUuid(webhookId)
  const row = id && (await lockWebhookEndpointById(tx, { merchantId, id }))
  if (!row) throw notFound('Webhook endpoint')
  return row
}

/** @throws DomainError WEBHOOK_DISABLED, because a disabled endpoint receives no events (ruling 72) */
export function requireEnabled(endpoint: StoredWebhookEndpoint): StoredWebhookEndpoint {
  if (endpoint.status === 'enabled') return endpoint
  throw new DomainError('WEBHOOK_DISABLED', 'The webhook endpoint is disabled: enable it first.')
}
