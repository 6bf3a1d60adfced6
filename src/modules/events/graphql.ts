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
import { eventData } from './event-shape.ts'
import { findEvents, listEvents, watchEvents } from './list-events.ts'

/** Events that a page looks through for one customer, which is in its price (`cost.ts`): a document may hold many pages. */
const maxPassed = 1_000

/** An event with the ids of what it leads to. */
type EventRow = HydratedEvent & {
  readonly payoutId: string | null
  readonly walletId: string | null
  readonly customerId: string | null
  readonly payoutMethodId: string | null
  readonly webhookEndpointId: string | null
}

function toEventRow(told: HydratedEvent): EventRow {
  const { object, objectId } = told
  const isDeposit = object.type === 'deposit' || object.type === 'deposit_reversal'
  const where = (isOf: boolean) => (isOf ? objectId : null)
  return {
    ...told,
    payoutId: where(object.type === 'payout'),
    walletId: isDeposit ? object.row.walletId : where(object.type === 'wallet'),
    customerId: where(object.type === 'customer'),
    payoutMethodId: where(object.type === 'payout_method'),
    webhookEndpointId: where(object.type === 'webhook_endpoint'),
  }
}

const Event = nodeType<EventRow>('Event', {
  description: 'Something that happened to something of the merchant.',
  key: {
    from: ['id'],
    keyOf: ({ id }) => id,
    parse: (text) => (sequenceOfEventId(text.toLowerCase()) === null ? null : text.toLowerCase()),
  },
  source: {
    find: async (context, ids) => {
      const rows = new Map((await findEvents(context, ids)).map((told) => [told.id, toEventRow(told)]))
      return (id) => rows.get(id) ?? null
    },
  },
  fields: {
    webhookId: exposeColumn('id', 'The id that REST and webhooks show: `evt_` and a UUID.'),
    type: exposeColumn('type', 'What it is that happened.', EventTypeEnum),
    timestamp: exposeColumn('timestamp', 'When it happened.', 'DateTime'),
    sequence: exposeColumn('sequence', "Its number among the merchant's events, from 1 and without a gap.", 'Int'),
    objectId: exposeColumn('objectId', 'The id of what it happened to, as REST shows it.', 'UUID'),
    version: exposeColumn(
      'version',
      'Which of the events of the same object it is, counted from 1: a gap tells that one is missing.',
      'Int',
    ),
    data: computedField(
      'JSON',
      ['object'],
      'What it happened to, in the form of its REST endpoints, as it was then.',
      (row) => JSON.parse(eventData.write(row)),
    ),
    payout: relationField(Payout, 'payoutId', 'The payout that it happened to, as it is now.'),
    wallet: relationField(
      Wallet,
      'walletId',
      'The wallet that it happened to, or that a deposit was credited to or taken back from, as it is now.',
    ),
    customer: relationField(Customer, 'customerId', 'The customer that it happened to, as it is now.'),
    payoutMethod: relationField(
      PayoutMethod,
      'payoutMethodId',
      'The payout method that it happened to, as it is now; null once it is deleted.',
    ),
    webhookEndpoint: relationField(
      WebhookEndpoint,
      'webhookEndpointId',
      'The webhook endpoint that it happened to, as it is now; null once it is deleted.',
    ),
  },
})

const EventFilter = inputType('EventFilter', 'Which events: those that every field here lets through.', {
  types: optional('Only events of these types.', [EventTypeEnum]),
})

type EventPageRow = { readonly items: readonly EventRow[]; readonly after: string; readonly hasMore: boolean }

const rethrowWithArgumentNames = rethrowWithFieldNames((field) =>
  field === 'limit' ? 'first' : field.replace(/^types/, 'filter.types'),
)

const afterDescription =
  'The `sequence` of the last event that is known: what happened after it. From the first without it.'

const EventPage = objectType<EventPageRow>('EventPage', {
  description:
    'Some of what happened, oldest first: unlike other lists it only grows at its end, and is read on from there.',
  fields: {
    nodes: exposeColumnAs('items', 'The events, oldest first.', [Event]),
    after: exposeColumn('after', 'What to ask for next as `after`, also where nothing was found.'),
    hasMore: exposeColumn('hasMore', 'Whether there may be more at once.', 'Boolean'),
  },
})

addQuery(
  'events',
  queryField(
    EventPage,
    'What happened, oldest first, so that whoever remembers one number misses nothing.',
    {
      first: optional('How many at most: 1 to 100. Without it: 20.', 'Int'),
      after: optional(afterDescription),
      filter: optional('Which events to list; all without it.', EventFilter),
    },
    async (context, { first, after, filter }) => {
      const asked = { limit: first ?? undefined, after, types: filter?.types }
      const page = await listEvents(context, asked, { maxPassed }).catch(rethrowWithArgumentNames)
      return { items: page.items.map(toEventRow), after: String(page.after), hasMore: page.hasMore }
    },
  ),
)

addSubscription('eventPublished', Event, {
  description:
    'Each event as it happens, in order. Each result of an event stream has its sequence as `id`, so a client that connects again with `Last-Event-ID` goes on where it was, whatever `after` says.',
  args: {
    after: optional(
      'The `sequence` of the last event that is known: first what happened since. Without it only what happens from now on.',
    ),
    types: optional('Only events of these types.', [EventTypeEnum]),
  },
  eventIdOf: ({ sequence }) => String(sequence),
  events: async (context, { after, types }, signal) => {
    const before = context.stream?.lastEventId || null
    const refuseByPlace = rethrowWithFieldNames((field) =>
      field === 'after' && before !== null ? 'Last-Event-ID' : field,
    )
    const told = await watchEvents(context, { after: before ?? after, types }, signal).catch(refuseByPlace)
    return (async function* () {
      for await (const each of told) yield toEventRow(each)
    })()
  },
})
