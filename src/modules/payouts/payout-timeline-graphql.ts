import { enumType } from '../../graphql/schema/enums.ts'
import {
  addField,
  exposeColumn,
  exposeNullableColumn,
  loadableField,
  objectType,
  relatedListFieldByKey,
} from '../../graphql/schema/fields.ts'
import type { GraphqlContext } from '../../graphql/schema/graphql-context.ts'
import type { KeyedSource } from '../../graphql/schema/loader.ts'
import { loaderOfSource } from '../../graphql/schema/loader.ts'
import type { RailOrder } from '../rail-orders/rail-order.ts'
import { Payout } from './graphql.ts'
import type { TimelinePayout, TimelineStep } from './payout-timeline.ts'
import { findRailOrders, findTimelines, maxTimelineSteps, timelineStates } from './payout-timeline.ts'

const TimelineStateEnum = enumType('PayoutTimelineState', timelineStates, 'A state in the timeline of a payout.')

const PayoutTimelineStep = objectType<TimelineStep>('PayoutTimelineStep', {
  description: 'A step in the timeline of a payout.',
  fields: {
    state: exposeColumn('state', 'The state that the payout reached.', TimelineStateEnum),
    at: exposeColumn('at', 'When the payout reached the state.', 'DateTime'),
    cause: exposeNullableColumn('cause', 'The reason, as given by the bank, an operator or the service.'),
  },
})

const railOrderSource: KeyedSource<RailOrder | null> = {
  find: async (context, orderIds) => {
    const orders = await findRailOrders(context, orderIds)
    return (orderId) => orders.get(orderId) ?? null
  },
}

const railOrderLoaderFor = (context: GraphqlContext) => (orderIds: readonly string[]) =>
  loaderOfSource(context, railOrderSource).loadAll(orderIds)

const railSource: KeyedSource<string | null> = {
  find: async (context, orderIds) => {
    const orderOf = await railOrderLoaderFor(context)(orderIds)
    return (orderId) => orderOf(orderId)?.rail ?? null
  },
}

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
  loadableField('String', railSource, 'referenceId', 'The rail that carries the payout; null if an operator pays it.'),
)

addField(
  Payout,
  'timeline',
  relatedListFieldByKey(
    PayoutTimelineStep,
    timelineSource,
    timelineKey,
    `Every state with its time and cause, oldest first. Of more than ${maxTimelineSteps} steps, the first and the latest ${maxTimelineSteps / 2}.`,
  ),
)
