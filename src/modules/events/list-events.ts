import { z } from 'zod'
import { limit, parseInput, rejectField } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import type { Event, EventType } from '../outbox/event.ts'
import { maxEventSequence, optionalEventTypes } from '../outbox/event.ts'
import { eventBatchSize, subscribeToEvents } from '../outbox/event-poller.ts'
import { readEvents, readEventsOfTypes, requireKnownSequence } from '../outbox/read-events.ts'
import type { HydratedEvent } from './event-payload.ts'
import { hydrateEvents } from './event-payload.ts'

/** Events that one request looks through at most for those of one customer. */
const defaultOptions = { maxPassed: 10_000 }

/** The longest that a request may be held, in seconds. */
export const maxWaitSeconds = 30

/** The number of an event, as a number or in decimal digits: what follows it is asked for. */
export const sequenceInput = () =>
  z
    .unknown()
    .optional()
    .transform((value, context): number | null => {
      if (value === undefined || value === null || value === '') return null
      const isPlain = typeof value === 'number' || typeof value === 'string'
      if (isPlain && /^(0|[1-9]\d{0,9})$/.test(String(value))) return Number(value)
      return rejectField(context, 'INVALID_PARAMETER', 'must be the sequence of an event: a whole number of at least 0')
    })

export const ListEventsInput = z.object({
  after: sequenceInput(),
  types: optionalEventTypes(),
  limit: limit(20),
  wait: z
    .unknown()
    .optional()
    .transform((value, context) => {
      if (value === undefined || value === null || value === '') return 0
      if (/^\d{1,2}$/.test(String(value)) && Number(value) <= maxWaitSeconds) return Number(value)
      return rejectField(context, 'INVALID_PARAMETER', `must be a whole number of seconds from 0 to ${maxWaitSeconds}`)
    }),
})

/** Some events, oldest first; `after` is where to go on, also where none is of the types that were asked for. */
export type EventsPage = { readonly items: readonly HydratedEvent[]; readonly after: number; readonly hasMore: boolean }

/**
 * What happened after an event, oldest first: whoever remembers one number misses nothing.
 *
 * @param input `after` 0 or absent for the first there is; with `wait` the answer is held until there is something, or so
 *   many seconds have passed
 * @param options `maxPassed` how many events it looks through at most for those of one customer
 * @throws Refusal INVALID_INPUT, also for a number that is later than the latest: its events are not there any more
 */
export async function listEvents(
  context: Context,
  input: z.input<typeof ListEventsInput>,
  { maxPassed } = defaultOptions,
): Promise<EventsPage> {
  const { after, types, limit, wait } = parseInput(ListEventsInput, input)
  const asked = { after: after ?? 0, types: new Set(types), limit, maxPassed }
  if (asked.after > maxEventSequence) await requireKnownSequence(context, asked.after)
  if (wait > 0) return hydratePage(context, await waitForPage(context, asked, wait * 1_000))
  const page = await readPage(context, asked)
  if (page.events.length === 0 && !page.hasMore) await requireKnownSequence(context, asked.after)
  return hydratePage(context, page)
}

type EventPageRequest = {
  readonly after: number
  readonly types: ReadonlySet<EventType>
  readonly limit: number
  readonly maxPassed: number
}
type EventPageRows = { readonly events: readonly Event[]; readonly after: number; readonly hasMore: boolean }

async function hydratePage(context: Context, { events, after, hasMore }: EventPageRows): Promise<EventsPage> {
  return { items: await hydrateEvents(context, events), after, hasMore }
}

/** Reads on until the page is full, there is no more, or too much was passed. */
async function readPage(context: Context, asked: EventPageRequest): Promise<EventPageRows> {
  const { after, types, limit, maxPassed } = asked
  if (types.size > 0 && context.db.customerId === undefined) return readPageOfTypes(context, asked)
  const found: Event[] = []
  const read = types.size === 0 ? limit + 1 : eventBatchSize
  let seen = after
  while (seen < after + maxPassed) {
    const { events, through, isLast } = await readEvents(context, { after: seen, limit: read })
    for (const event of events) {
      if (types.size > 0 && !types.has(event.type)) {
        seen = event.sequence
        continue
      }
      if (found.length === limit) return { events: found, after: seen, hasMore: true }
      found.push(event)
      seen = event.sequence
    }
    seen = Math.max(seen, through)
    if (isLast) return { events: found, after: seen, hasMore: false }
  }
  return { events: found, after: seen, hasMore: true }
}

/** The page of some types, by one query; one event more than asked for tells whether there are more. */
async function readPageOfTypes(context: Context, { after, types, limit }: EventPageRequest): Promise<EventPageRows> {
  const { events, through, isLast } = await readEventsOfTypes(context, { after, limit: limit + 1, types: [...types] })
  const next = events[limit]
  if (next) return { events: events.slice(0, limit), after: next.sequence - 1, hasMore: true }
  return { events, after: through, hasMore: !isLast }
}

async function waitForPage(context: Context, asked: EventPageRequest, waitMs: number): Promise<EventPageRows> {
  let wake = () => {}
  let isOver = false
  const end = () => {
    isOver = true
    wake()
  }
  const following = await subscribeToEvents(context, () => wake())
  const timer = setTimeout(end, waitMs)
  context.signal?.addEventListener('abort', end, { once: true })
  if (context.signal?.aborted) isOver = true
  try {
    await requireKnownSequence(context, asked.after, following.latest())
    let page: EventPageRows = { events: [], after: asked.after, hasMore: false }
    for (;;) {
      if (page.after < following.latest()) page = await readPage(context, { ...asked, after: page.after })
      if (page.events.length > 0 || page.hasMore || isOver) return page
      if (page.after < following.latest()) continue
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    clearTimeout(timer)
    context.signal?.removeEventListener('abort', end)
    following.stop()
  }
}
