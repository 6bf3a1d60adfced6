import { defineList } from '../../../lists/define-list.ts'
import type { Service } from '../../../operations/context.ts'
import { unhealthyEndpoints } from './repository.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'

export const webhookEndpoints = defineList({
  name: 'webhook_endpoints',
  noun: 'Webhook endpoint',
  table: 'webhookEndpoints',
  select: (endpoints) =>
    endpoints.select([
      ...(['webhookEndpoints.merchantId', 'webhookEndpoints.id', 'webhookEndpoints.sequence'] as const),
      ...(['webhookEndpoints.url', 'webhookEndpoints.types', 'webhookEndpoints.format'] as const),
      ...(['webhookEndpoints.description', 'webhookEndpoints.status', 'webhookEndpoints.disabledReason'] as const),
      ...(['webhookEndpoints.publicKey', 'webhookEndpoints.cursor', 'webhookEndpoints.failures'] as const),
      ...(['webhookEndpoints.failingSince', 'webhookEndpoints.probeAt'] as const),
      ...(['webhookEndpoints.createdAt', 'webhookEndpoints.updatedAt'] as const),
    ]),
  order: 'webhookEndpoints.sequence',
  createdAt: 'webhookEndpoints.createdAt',
  conditions: {},
  filters: {},
})

export type UnhealthyEndpoint = Pick<
  WebhookEndpoint,
  'merchantId' | 'id' | 'url' | 'status' | 'disabledReason' | 'failures' | 'failingSince'
>

/** Lists endpoints of all merchants, longest failing first. */
export async function listUnhealthyEndpoints({ db }: Service, limit: number): Promise<readonly UnhealthyEndpoint[]> {
  return unhealthyEndpoints(db, { limit })
}
