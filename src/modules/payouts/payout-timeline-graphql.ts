import { enumType } from '../../graphql/schema/enums.ts'
import { addField, exposeColumn, exposeNullableColumn, loadableField, objectType, relatedListFieldByKey } from '../../graphql/schema/fields.ts'
import type { GraphqlContext } from '../../graphql/schema/graphql-context.ts'
import type { KeyedSource } from '../../graphql/schema/loader.ts'
import { loaderOfSource } from '../../graphql/schema/loader.ts'
import type { RailOrder } from '../rail-orders/rail-order.ts'
import { Payout } from './graphql.ts'
import type { TimelinePayout, TimelineStep } from './payout-timeline.ts'
import { findRailOrders, findTimelines, maxTimelineSteps, timelineStates } from './payout-timeline.ts'

const TimelineStateEnum = enumType('PayoutTimelineState', timelineStates, 'What a payout goes through.')

const PayoutTimelineStep = objectType<TimelineStep>('PayoutTimelineStep', {
  description: 'A state that a payout has come to.',
  fields: {
    state: exposeColumn('state', 'How far it was then.', TimelineStateEnum),
    at: exposeColumn('at', 'When it came to it.', 'DateTime'),
    cause: exposeNullableColumn('cause', 'Why, in the words of whoever said so: the bank, a person, or the service.'),
  },
})

/** Transfers by their order: what shows several things of a payout's way reads them once. */
const railOrderSource: KeyedSource<RailOrder | null> = {
  find: async (context, orderIds) => {
    const found = await findRailOrders(context, orderIds)
    return (orderId) => found.get(orderId) ?? null
  },
}

const railOrderLoaderFor = (context: GraphqlContext) => (orderIds: readonly string[]) =>
  loaderOfSource(context, railOrderSource).loadAll(orderIds)

const railSource: KeyedSource<string | null> = {
  find: async (context, orderIds) => {
    const transferOf = await railOrderLoaderFor(context)(orderIds)
    return (orderId) => transferOf(orderId)?.rail ?? null
  },
}

/** What a timeline must know of its payout, which the row of that holds, as a key. */
const timelineKey = {
  from: ['id', 'referenceId', 'createdAt'] as const,
  make: ({ id, referenceId, createdAt }: TimelinePayout) => `${id} ${referenceId} ${createdAt}`,
}

function parseTimelineKey(key: string): TimelinePayout {
  const [id = '', referenceId = '', createdAt = ''] = key.split(' ')
  return { id, referenceId, createdAt }
}

const timelineSource: KeyedSource<readonly TimelineStep[]> = {
  find: async (context, keys) => {
    const steps = await findTimelines(context, keys.map(parseTimelineKey), railOrderLoaderFor(context))
    return (key) => steps.get(parseTimelineKey(key).id) ?? []
  },
}

addField(
  Payout,
  'rail',
  loadableField('String', railSource, 'referenceId', 'The rail that carries it to the bank; null where people pay it.'),
)

addField(
  Payout,
  'timeline',
  relatedListFieldByKey(
    PayoutTimelineStep,
    timelineSource,
    timelineKey,
    `What it has gone through, oldest first: every state with its time and cause. Of more than ${maxTimelineSteps} steps the first and the latest.`,
  ),
)
