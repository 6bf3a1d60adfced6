import { integer, truth } from '../../rest/forms.ts'
import { addition } from '../../rest/reference.ts'
import type { Group } from '../../rest/route.ts'
import { get } from '../../rest/route.ts'
import { from, listOf, shape } from '../../rest/shape.ts'
import { eventTypes } from '../outbox/event.ts'
import { event } from './event-shape.ts'
import type { EventsPage } from './list-events.ts'
import { ListEventsInput, listEvents, longestWait } from './list-events.ts'

const anyType = eventTypes.map((type) => type.replaceAll('.', '\\.')).join('|')

export const eventEndpoints: Group = {
  name: 'Events',
  description: 'What happened, in one feed without gaps and in its order.',
  routes: [
    get('/api/events', {
      name: 'listEvents',
      title: 'Read what happened',
      description: `Lists what happened after an event, oldest first. Whoever remembers the last \`sequence\` that it has seen misses nothing: numbers have no gaps, and an event is there as soon as what it tells of is, never later. Events are kept for ever. ${addition}`,
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
          pattern: `^(${anyType})(,(${anyType}))*$`,
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
          maximum: longestWait,
          default: 0,
          description: 'Seconds for which the answer is held until there is something.',
        },
      },
      example: { after: 0, limit: 2 },
      refusals: [],
      isHeld: ({ wait }) => Number(wait) > 0,
      answer: {
        data: from(({ items }: EventsPage) => items, listOf('The events, oldest first.', event)),
        pagination: shape<EventsPage>('Where to go on.', {
          after: from(
            ({ after }) => after,
            integer('What to ask for next as `after`, also where nothing was found.', 1235),
          ),
          hasMore: from(({ hasMore }) => hasMore, truth('Whether there may be more at once.', false)),
        }),
      },
    }),
  ],
}
