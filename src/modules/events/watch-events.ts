import { z } from 'zod'
import { parse } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'
import { eventsFrom } from '../outbox/event-poller.ts'
import { someEventTypes } from '../outbox/some-event-types.ts'
import type { Told } from './event-payload.ts'
import { toldEvents } from './event-payload.ts'
import { sequenceNumber } from './list-events.ts'

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
