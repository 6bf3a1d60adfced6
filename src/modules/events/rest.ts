import { notInContract } from '../../rest/input-fields.ts'
import { boolean, integer } from '../../rest/json-types.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get } from '../../rest/route.ts'
import { listOf, member, shape } from '../../rest/shape.ts'
import { eventTypes } from '../outbox/event.ts'
import { event } from './event-shape.ts'
import type { EventsPage } from './list-events.ts'
import { ListEventsInput, listEvents, maxWaitSeconds } from './list-events.ts'

const anyTypePattern = eventTypes.map((type) => type.replaceAll('.', '\\.')).join('|')

export const eventEndpoints: RouteGroup = {
  name: 'Events',
  description: 'What happened, in one feed without gaps and in its order.',
  routes: [
    get('/api/events', {
      name: 'listEvents',
      title: 'Read what happened',
      description: `Lists what happened after an event, oldest first. Whoever remembers the last \`sequence\` that it has seen misses nothing: numbers have no gaps, and an event is there as soon as what it tells of is, never later. Events are kept for ever. ${notInContract}`,
      input: ListEventsInput,
      operation: listEvents,
      fields: {
        after: {
          type: 'integer',
          minimum: 0,
          default: 0,
          description: 'The `sequence` of the last event that is known.',
        },
        types: {
          type: 'string',
          pattern: `^(${anyTypePattern})(,(${anyTypePattern}))*$`,
          examples: ['payout.completed,payout.failed'],
          description: `Only events of these types, separated by commas: ${eventTypes.map((type) => `\`${type}\``).join(', ')}.`,
          read: (text: unknown) =>
            typeof text === 'string' && text !== '' ? text.split(',').map((type) => type.trim()) : text,
        },
        limit: {
          type: 'integer',
          minimum: 1,
          maximum: 100,
          default: 20,
          description: 'How many are answered at most.',
        },
        wait: {
          type: 'integer',
          minimum: 0,
          maximum: maxWaitSeconds,
          default: 0,
          description: 'Seconds for which the answer is held until there is something.',
        },
      },
      example: { after: 0, limit: 2 },
      errors: [],
      isLongPoll: ({ wait }) => Number(wait) > 0,
      response: {
        data: member(({ items }: EventsPage) => items, listOf('The events, oldest first.', event)),
        pagination: shape<EventsPage>('Where to go on.', {
          after: member(
            ({ after }) => after,
            integer('What to ask for next as `after`, also where nothing was found.', 1235),
          ),
          hasMore: member(({ hasMore }) => hasMore, boolean('Whether there may be more at once.', false)),
        }),
      },
    }),
  ],
}
