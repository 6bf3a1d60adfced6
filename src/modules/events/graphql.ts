import {
  addQuery,
  computedField,
  exposeColumn,
  exposeColumnAs,
  objectType,
  queryField,
  relationField,
} from '../../graphql/schema/fields.ts'
import { inputType, optional } from '../../graphql/schema/inputs.ts'
import { nodeType } from '../../graphql/schema/node.ts'
import { addSubscription } from '../../graphql/schema/subscription.ts'
import { rethrowWithFieldNames } from '../../graphql/schema/user-errors.ts'
import { Customer } from '../customers/graphql.ts'
import { sequenceOfEventId } from '../outbox/event.ts'
import { PayoutMethod } from '../payout-methods/graphql.ts'
import { Payout } from '../payouts/graphql.ts'
import { Wallet } from '../wallets/graphql.ts'
import { EventTypeEnum, WebhookEndpoint } from '../webhooks/endpoints/graphql.ts'
import type { HydratedEvent } from './event-payload.ts'
import { eventData, eventDescriptions } from './event-shape.ts'
import { findEvents, listEvents, watchEvents } from './list-events.ts'

/**
 * Lower than the default, because a GraphQL document can request many pages. The cost of a page (`cost.ts`) includes
 * the scanned events.
 */
const maxScanned = 1_000

type EventRow = HydratedEvent & {
  readonly payoutId: string | null
  readonly walletId: string | null
  readonly customerId: string | null
  readonly payoutMethodId: string | null
  readonly webhookEndpointId: string | null
}

function toEventRow(event: HydratedEvent): EventRow {
  const { object, objectId } = event
  const isDeposit = object.type === 'deposit' || object.type === 'deposit_reversal'
  const idIf = (isOfType: boolean) => (isOfType ? objectId : null)
  return {
    ...event,
    payoutId: idIf(object.type === 'payout'),
    walletId: isDeposit ? object.row.walletId : idIf(object.type === 'wallet'),
    customerId: idIf(object.type === 'customer'),
    payoutMethodId: idIf(object.type === 'payout_method'),
    webhookEndpointId: idIf(object.type === 'webhook_endpoint'),
  }
}

const Event = nodeType<EventRow>('Event', {
  description: eventDescriptions.event,
  key: {
    from: ['id'],
    keyOf: ({ id }) => id,
    parse: (text) => (sequenceOfEventId(text.toLowerCase()) === null ? null : text.toLowerCase()),
  },
  source: {
    find: async (context, ids) => {
      const rows = new Map((await findEvents(context, ids)).map((event) => [event.id, toEventRow(event)]))
      return (id) => rows.get(id) ?? null
    },
  },
  fields: {
    webhookId: exposeColumn('id', 'The id in the REST API and in webhooks: `evt_` and a UUID.'),
    type: exposeColumn('type', eventDescriptions.type, EventTypeEnum),
    timestamp: exposeColumn('timestamp', eventDescriptions.timestamp, 'DateTime'),
    sequence: exposeColumn('sequence', eventDescriptions.sequence, 'Int'),
    objectId: exposeColumn('objectId', 'The id of the object in the REST API.', 'UUID'),
    version: exposeColumn('version', eventDescriptions.version, 'Int'),
    isImported: exposeColumn('isImported', eventDescriptions.isImported, 'Boolean'),
    data: computedField('JSON', ['object'], eventDescriptions.data, (row) => JSON.parse(eventData.write(row))),
    payout: relationField(Payout, 'payoutId', 'The payout of the event, in its current state.'),
    wallet: relationField(Wallet, 'walletId', 'The wallet of the event or of its deposit, in its current state.'),
    customer: relationField(Customer, 'customerId', 'The customer of the event, in its current state.'),
    payoutMethod: relationField(
      PayoutMethod,
      'payoutMethodId',
      'The payout method of the event, in its current state; null if it is deleted.',
    ),
    webhookEndpoint: relationField(
      WebhookEndpoint,
      'webhookEndpointId',
      'The webhook endpoint of the event, in its current state; null if it is deleted.',
    ),
  },
})

const EventFilter = inputType('EventFilter', 'Events must match every field.', {
  types: optional('Only events of these types.', [EventTypeEnum]),
})

type EventPageRow = { readonly items: readonly EventRow[]; readonly after: string; readonly hasMore: boolean }

const rethrowWithArgumentNames = rethrowWithFieldNames((field) =>
  field === 'limit' ? 'first' : field.replace(/^types/, 'filter.types'),
)

const afterDescription = 'Only events after this `sequence`; absent for all from the first.'

const EventPage = objectType<EventPageRow>('EventPage', {
  description: 'A page of the event feed, oldest first. The feed only grows at its end: continue from `after`.',
  fields: {
    nodes: exposeColumnAs('items', eventDescriptions.page, [Event]),
    after: exposeColumn('after', eventDescriptions.nextAfter),
    hasMore: exposeColumn('hasMore', eventDescriptions.hasMore, 'Boolean'),
  },
})

addQuery(
  'events',
  queryField(
    EventPage,
    'The event feed, oldest first. A client that stores the last `after` misses no event.',
    {
      first: optional('The maximum number of events, 1 to 100; 20 if absent.', 'Int'),
      after: optional(afterDescription),
      filter: optional('The events to list; absent for all.', EventFilter),
    },
    async (context, { first, after, filter }) => {
      const request = { limit: first ?? undefined, after, types: filter?.types }
      const page = await listEvents(context, request, { maxScanned }).catch(rethrowWithArgumentNames)
      return { items: page.items.map(toEventRow), after: String(page.after), hasMore: page.hasMore }
    },
  ),
)

addSubscription('eventPublished', Event, {
  description:
    'Each event as it happens, in order. In an event stream each result has its sequence as `id`, so a client that reconnects with `Last-Event-ID` continues after it, whatever `after` is.',
  args: {
    after: optional('Begin with the events after this `sequence`; absent for new events only.'),
    types: optional('Only events of these types.', [EventTypeEnum]),
  },
  eventIdOf: ({ sequence }) => String(sequence),
  events: async (context, { after, types }, signal) => {
    const lastEventId = context.stream?.lastEventId || null
    const rethrowWithSource = rethrowWithFieldNames((field) =>
      field === 'after' && lastEventId !== null ? 'Last-Event-ID' : field,
    )
    const events = await watchEvents(context, { after: lastEventId ?? after, types }, signal).catch(rethrowWithSource)
    return (async function* () {
      for await (const event of events) yield toEventRow(event)
    })()
  },
})
