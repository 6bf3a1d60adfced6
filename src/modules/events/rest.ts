import { notInContract } from '../../rest/input-fields.ts'
import { boolean, integer } from '../../rest/json-types.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { get } from '../../rest/route.ts'
import { listOf, member, shape } from '../../rest/shape.ts'
import { eventTypes } from '../outbox/event.ts'
import { event, eventDescriptions } from './event-shape.ts'
import type { EventsPage } from './list-events.ts'
import { ListEventsInput, listEvents, maxWaitSeconds } from './list-events.ts'

const anyTypePattern = eventTypes.map((type) => type.replaceAll('.', '\\.')).join('|')

export const eventEndpoints: RouteGroup = {
  name: 'Events',
  description: 'The event feed: all changes, in order and without gaps.',
  routes: [
    get('/api/events', {
      name: 'listEvents',
      title: 'Read what happened',
      description: `Lists the events after a sequence, oldest first. A client that stores the last \`sequence\` misses no event: the numbers have no gaps, and an event becomes visible together with its change. Events are never deleted. ${notInContract}`,
      input: ListEventsInput,
      operation: listEvents,
      fields: {
        after: {
          type: 'integer',
          minimum: 0,
          default: 0,
          description: 'Only events after this `sequence`.',
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
          description: 'The maximum number of events.',
        },
        wait: {
          type: 'integer',
          minimum: 0,
          maximum: maxWaitSeconds,
          default: 0,
          description: 'The number of seconds to wait for an event if there is none (long polling).',
        },
      },
      example: { after: 0, limit: 2 },
      errors: [],
      isLongPoll: ({ wait }) => Number(wait) > 0,
      response: {
        data: member(({ items }: EventsPage) => items, listOf(eventDescriptions.page, event)),
        pagination: shape<EventsPage>('Where to continue.', {
          after: member(({ after }) => after, integer(eventDescriptions.nextAfter, 1235)),
          hasMore: member(({ hasMore }) => hasMore, boolean(eventDescriptions.hasMore, false)),
        }),
      },
    }),
  ],
}
