import type { Service } from '../../../operations/context.ts'
import { unhealthyEndpoints } from './repository.ts'
import type { WebhookEndpoint } from './webhook-endpoint.ts'

/** An endpoint that does not get what it should. */
export type UnhealthyEndpoint = Pick<
  WebhookEndpoint,
  'merchantId' | 'id' | 'url' | 'status' | 'disabledReason' | 'failures' | 'failingSince'
>

/** Endpoints of all merchants that fail, or were disabled because they did, for an operator: the longest first, `limit` at most. */
export async function listUnhealthyEndpoints({ db }: Service, limit: number): Promise<readonly UnhealthyEndpoint[]> {
  return unhealthyEndpoints(db, { limit })
}
