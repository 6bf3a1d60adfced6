import { z } from 'zod'
import { limit, parseInput, rejectField } from '../../core/input.ts'
import type { EventType } from '../../database/tables.ts'
import type { Context } from '../../operations/context.ts'
import type { Event } from '../outbox/event.ts'
import { eventId, maxEventSequence, optionalEventTypes, sequenceOfEventId } from '../outbox/event.ts'
import { eventBatchSize, streamEvents, subscribeToEvents } from '../outbox/event-poller.ts'
import { readEvents, readEventsOfTypes, requireKnownSequence } from '../outbox/read-events.ts'
import { eventsBySequence } from '../outbox/repository.ts'
import type { HydratedEvent } from './event-payload.ts'
import { hydrateEvents } from './event-payload.ts'

const defaultOptions = { maxScanned: 10_000 }

export const maxWaitSeconds = 30

const sequenceInput = () =>
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

/** `after` is the sequence for the next request, even if no event matched. */
export type EventsPage = { readonly items: readonly HydratedEvent[]; readonly after: number; readonly hasMore: boolean }

/**
 * Lists events oldest first. A client that continues with `after` of the last response misses no event.
 *
 * @param input `after` is 0 or absent to begin with the first event; `wait` is the maximum duration of a long poll in
 *   seconds
 * @param options `maxScanned` is the maximum number of events that a request with a token for one customer scans
 * @throws DomainError INVALID_INPUT, also if `after` is above the latest sequence, for example after a restore from a
 *   backup
 */
export async function listEvents(
  context: Context,
  input: z.input<typeof ListEventsInput>,
  { maxScanned } = defaultOptions,
): Promise<EventsPage> {
  const { after, types, limit, wait } = parseInput(ListEventsInput, input)
  const request = { after: after ?? 0, types: new Set(types), limit, maxScanned }
  if (request.after > maxEventSequence) await requireKnownSequence(context, request.after)
  if (wait > 0) return hydratePage(context, await waitForPage(context, request, wait * 1_000))
  const page = await readPage(context, request)
  if (page.events.length === 0 && !page.hasMore) await requireKnownSequence(context, request.after)
  return hydratePage(context, page)
}

type EventPageRequest = {
  readonly after: number
  readonly types: ReadonlySet<EventType>
  readonly limit: number
  readonly maxScanned: number
}
type EventPageRows = { readonly events: readonly Event[]; readonly after: number; readonly hasMore: boolean }

async function hydratePage(context: Context, { events, after, hasMore }: EventPageRows): Promise<EventsPage> {
  return { items: await hydrateEvents(context, events), after, hasMore }
}

async function readPage(context: Context, request: EventPageRequest): Promise<EventPageRows> {
  const { after, types, limit, maxScanned } = request
  if (types.size > 0 && context.db.customerId === undefined) return readPageOfTypes(context, request)
  const matches: Event[] = []
  const batchSize = types.size === 0 ? limit + 1 : eventBatchSize
  let scanned = after
  while (scanned < after + maxScanned) {
    const { events, through, isLast } = await readEvents(context, { after: scanned, limit: batchSize })
    for (const event of events) {
      if (types.size > 0 && !types.has(event.type)) {
        scanned = event.sequence
        continue
      }
      if (matches.length === limit) return { events: matches, after: scanned, hasMore: true }
      matches.push(event)
      scanned = event.sequence
    }
    scanned = Math.max(scanned, through)
    if (isLast) return { events: matches, after: scanned, hasMore: false }
  }
  return { events: matches, after: scanned, hasMore: true }
}

async function readPageOfTypes(context: Context, { after, types, limit }: EventPageRequest): Promise<EventPageRows> {
  const { events, through, isLast } = await readEventsOfTypes(context, { after, limit: limit + 1, types: [...types] })
  const next = events[limit]
  if (next) return { events: events.slice(0, limit), after: next.sequence - 1, hasMore: true }
  return { events, after: through, hasMore: !isLast }
}

async function waitForPage(context: Context, request: EventPageRequest, waitMs: number): Promise<EventPageRows> {
  let wake = () => {}
  let hasEnded = false
  const end = () => {
    hasEnded = true
    wake()
  }
  const subscription = await subscribeToEvents(context, () => wake())
  const timer = setTimeout(end, waitMs)
  context.signal?.addEventListener('abort', end, { once: true })
  if (context.signal?.aborted) hasEnded = true
  try {
    await requireKnownSequence(context, request.after, subscription.latest())
    let page: EventPageRows = { events: [], after: request.after, hasMore: false }
    for (;;) {
      if (page.after < subscription.latest()) page = await readPage(context, { ...request, after: page.after })
      if (page.events.length > 0 || page.hasMore || hasEnded) return page
      if (page.after < subscription.latest()) continue
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
  } finally {
    clearTimeout(timer)
    context.signal?.removeEventListener('abort', end)
    subscription.stop()
  }
}

const WatchEventsInput = z.object({ after: sequenceInput(), types: optionalEventTypes() })

/**
 * Streams new events. If `after` is set, streams the existing events after that sequence first.
 *
 * @param signal ends the stream
 * @throws DomainError INVALID_INPUT, also if `after` is above the latest sequence
 */
export async function watchEvents(
  context: Context,
  input: z.input<typeof WatchEventsInput>,
  signal?: AbortSignal,
): Promise<AsyncGenerator<HydratedEvent>> {
  const { after, types } = parseInput(WatchEventsInput, input)
  const wantedTypes = new Set(types)
  const batches = await streamEvents(context, after, signal)
  return (async function* () {
    for await (const events of batches) {
      yield* await hydrateEvents(
        context,
        wantedTypes.size === 0 ? events : events.filter(({ type }) => wantedTypes.has(type)),
      )
    }
  })()
}

/** Returns the events in no particular order. The whole id of an event must match, not only the sequence in the id. */
export async function findEvents(context: Context, ids: readonly string[]): Promise<HydratedEvent[]> {
  const { db, merchantId } = context
  const sequences = ids.flatMap((id) => sequenceOfEventId(id) ?? [])
  const requestedIds = new Set(ids)
  const events = await eventsBySequence(db, { merchantId, sequences })
  return hydrateEvents(
    context,
    events.filter((event) => requestedIds.has(eventId(event))),
  )
}
