import { valuesEnum } from '../../graphql/schema/enums.ts'
import { addField, belongingBy, column, columnOrNull, objectType, valueBehind } from '../../graphql/schema/fields.ts'
import type { GraphqlContext } from '../../graphql/schema/graphql-context.ts'
import type { Source } from '../../graphql/schema/loader.ts'
import { loaderOf } from '../../graphql/schema/loader.ts'
import type { Transfer } from '../rail-orders/rail-order.ts'
import { Payout } from './graphql.ts'
import type { Origin, TimelineStep } from './payout-timeline.ts'
import { findTimelines, findTransfers, mostSteps, timelineStates } from './payout-timeline.ts'

const TimelineStateEnum = valuesEnum('PayoutTimelineState', timelineStates, 'What a payout goes through.')

const PayoutTimelineStep = objectType<TimelineStep>('PayoutTimelineStep', {
  description: 'A state that a payout has come to.',
  fields: {
    state: column('state', 'How far it was then.', TimelineStateEnum),
    at: column('at', 'When it came to it.', 'DateTime'),
    cause: columnOrNull('cause', 'Why, in the words of whoever said so: the bank, a person, or the service.'),
  },
})

/** Transfers by their order: what shows several things of a payout's way reads them once. */
const transfers: Source<Transfer | null> = {
  find: async (context, orderIds) => {
    const found = await findTransfers(context, orderIds)
    return (orderId) => found.get(orderId) ?? null
  },
}

const transfersFor = (context: GraphqlContext) => (orderIds: readonly string[]) =>
  loaderOf(context, transfers).loadAll(orderIds)

const rails: Source<string | null> = {
  find: async (context, orderIds) => {
    const transferOf = await transfersFor(context)(orderIds)
    return (orderId) => transferOf(orderId)?.rail ?? null
  },
}

/** What a timeline must know of its payout, which the row of that holds, as a key. */
const origin = {
  from: ['id', 'referenceId', 'createdAt'] as const,
  make: ({ id, referenceId, createdAt }: Origin) => `${id} ${referenceId} ${createdAt}`,
}

function originOf(key: string): Origin {
  const [id = '', referenceId = '', createdAt = ''] = key.split(' ')
  return { id, referenceId, createdAt }
}

const timelines: Source<readonly TimelineStep[]> = {
  find: async (context, keys) => {
    const steps = await findTimelines(context, keys.map(originOf), transfersFor(context))
    return (key) => steps.get(originOf(key).id) ?? []
  },
}

addField(
  Payout,
  'rail',
  valueBehind('String', rails, 'referenceId', 'The rail that carries it to the bank; null where people pay it.'),
)

addField(
  Payout,
  'timeline',
  belongingBy(
    PayoutTimelineStep,
    timelines,
    origin,
    `What it has gone through, oldest first: every state with its time and cause. Of more than ${mostSteps} steps the first and the latest.`,
  ),
)
