import type { Context } from '../../operations/context.ts'
import type { Event } from '../outbox/event.ts'
import type { EventMessage } from '../webhooks/transport/build-request.ts'
import type { WebhookFormat } from '../webhooks/transport/formats.ts'
import { cancelledPayoutType } from '../webhooks/transport/formats.ts'
import type { HydratedEvent } from './event-payload.ts'
import { hydrateEvents } from './event-payload.ts'
import { toEventMessage } from './event-shape.ts'
import type { StablestackTransaction } from './stablestack-payload.ts'
import { loadStablestackTransactions } from './stablestack-payload.ts'
import { stablestackTransaction } from './stablestack-shape.ts'

export async function loadMessages(
  context: Context,
  events: readonly Event[],
  format: WebhookFormat,
): Promise<readonly EventMessage[]> {
  return messageLoaders[format](context, await hydrateEvents(context, events))
}

type MessageLoader = (context: Context, events: readonly HydratedEvent[]) => Promise<readonly EventMessage[]>

const loadOwnMessages: MessageLoader = async (_, events) => events.map(toEventMessage)

const messageLoaders: Record<WebhookFormat, MessageLoader> = {
  standard: loadOwnMessages,
  thin: loadOwnMessages,
  stablestack: async (context, events) => {
    const transactions = await loadStablestackTransactions(context, events)
    return events.map((event) => toStablestackMessage(event, transactions.get(event.sequence)))
  },
}

/**
 * A test event has no transaction. The `object` of a test event is the webhook endpoint, with the fields of the REST
 * API.
 */
function toStablestackMessage(event: HydratedEvent, transaction: StablestackTransaction | undefined): EventMessage {
  const message = toEventMessage(event)
  if (transaction === undefined) return message
  const type = isCancellation(transaction) ? cancelledPayoutType : message.type
  return { ...message, type, data: stablestackTransaction.write(transaction) }
}

function isCancellation({ status }: StablestackTransaction): boolean {
  return status === 'CANCELLED'
}
