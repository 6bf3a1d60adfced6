import { timestamp } from '../core/ids-and-clock.ts'
import { findPayoutEvents } from '../modules/payouts/find-payout-events.ts'
import type { Payout } from '../modules/payouts/payout.ts'
import { webhookEndpoints } from '../modules/webhooks/endpoints/list.ts'
import { webhookDeliveries } from '../modules/webhooks/endpoints/list-webhook-deliveries.ts'
import type { WebhookDelivery } from '../modules/webhooks/endpoints/webhook-delivery.ts'
import type { Context } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { shortIdLink, statusBadge, table } from './components.ts'
import type { PageRequest } from './console-page.ts'
import { attemptList } from './webhook-page.ts'

/** What the merchant's endpoints were told of a payout, and how that went. */
export async function payoutDeliveriesTable(asked: PageRequest, context: Context, payout: Payout): Promise<Html> {
  const { items } = await webhookEndpoints.slice(context, { first: 100 })
  const events = await findPayoutEvents(context, [payout.id])
  const found = []
  // Deliveries are found by the times of their events: only what is due has an index by its object.
  for (const { createdAt } of [payout, ...events]) {
    const ids = items.map(({ id }) => id)
    const inThatMillisecond = { createdFrom: createdAt, createdBefore: nextMillisecond(createdAt), first: 100 }
    const slices = await webhookDeliveries.slicesOf('endpoint')(context, ids, inThatMillisecond)
    found.push(...[...slices.values()].flatMap((slice) => slice.items.filter(({ objectId }) => objectId === payout.id)))
  }
  const urls = new Map(items.map(({ id, url }) => [id, url]))
  return table(
    'Webhooks about it',
    ['Event', 'Endpoint', 'Status', 'Attempts'],
    found.map((delivery) => deliveryRow(asked, delivery, urls)),
    'No endpoint was sent anything of it, or what was sent is not kept any more.',
  )
}

function deliveryRow(
  { urlFor: to }: PageRequest,
  delivery: WebhookDelivery,
  urls: ReadonlyMap<string, string>,
): readonly Html[] {
  const { endpointId } = delivery
  return [
    html`${delivery.eventType} <span class="faint">number ${delivery.sequence}</span>`,
    html`${shortIdLink(to(`/webhooks/${endpointId}`), endpointId)} ${urls.get(endpointId) ?? ''}`,
    statusBadge(delivery.status),
    attemptList(delivery),
  ]
}

function nextMillisecond(at: string): string {
  return timestamp(Date.parse(at) + 1)
}
