import { z } from 'zod'
import { parseInput } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import { optionalEventTypes } from '../outbox/event.ts'
import { streamEvents } from '../outbox/event-poller.ts'
import type { HydratedEvent } from './event-payload.ts'
import { hydrateEvents } from './event-payload.ts'
import { sequenceInput } from './list-events.ts'

const WatchEventsInput = z.object({ after: sequenceInput(), types: optionalEventTypes() })

/**
 * Events as they happen, in order and without an end; with `after` first what happened since.
 *
 * @param signal ends it
 * @throws Refusal INVALID_INPUT, also for a number that is later than the latest
 */
export async function watchEvents(
  context: Context,
  input: z.input<typeof WatchEventsInput>,
  signal?: AbortSignal,
): Promise<AsyncGenerator<HydratedEvent>> {
  const { after, types } = parseInput(WatchEventsInput, input)
  const wanted = new Set(types)
  const batches = await streamEvents(context, after, signal)
  return (async function* () {
    for await (const events of batches) {
      yield* await hydrateEvents(context, wanted.size === 0 ? events : events.filter(({ type }) => wanted.has(type)))
    }
  })()
}
