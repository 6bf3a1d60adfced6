import { z } from 'zod'
import type { Context } from '../context.ts'
import { eventsFrom } from '../events/follow.ts'
import { someEventTypes } from '../events/some-event-types.ts'
import { parse } from '../input.ts'
import { sequenceNumber } from './list-events.ts'
import type { Told } from './told.ts'
import { toldEvents } from './told.ts'

const WatchEventsInput = z.object({ after: sequenceNumber(), types: someEventTypes() })

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
): Promise<AsyncGenerator<Told>> {
  const { after, types } = parse(WatchEventsInput, input)
  const wanted = new Set(types)
  const batches = await eventsFrom(context, after, signal)
  return (async function* () {
    for await (const events of batches) {
      yield* await toldEvents(context, wanted.size === 0 ? events : events.filter(({ type }) => wanted.has(type)))
    }
  })()
}
