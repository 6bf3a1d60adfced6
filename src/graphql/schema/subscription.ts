import type { ObjectRef } from '@pothos/core'
import type { Types } from './builder.ts'
import { builder } from './builder.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { InputFields, InputOf } from './inputs.ts'
import { argumentsOf, withLocalIds } from './inputs.ts'

/** A stream of rows: what it takes, and what finds them until the caller has gone. */
type Subscription<Args extends InputFields, Row> = {
  readonly description: string
  readonly args: Args
  readonly events: (
    context: GraphqlContext,
    input: InputOf<Args>,
    signal: AbortSignal | undefined,
  ) => Promise<AsyncIterable<Row>>
  /** By what the caller may say that it has a row, when it connects again. */
  readonly placeOf?: (row: Row) => string
}

/** Adds a subscription to rows of a type. */
export function addSubscription<Args extends InputFields, Row extends object>(
  name: string,
  type: ObjectRef<Types, Row>,
  { description, args, events, placeOf }: Subscription<Args, Row>,
): void {
  builder.subscriptionField(name, (t) =>
    t.field({
      type: type as ObjectRef<Types, object>,
      description,
      args: argumentsOf(t, args),
      subscribe: async (_, given, context, { getAbortSignal }) => {
        const input = withLocalIds(args, given) as InputOf<Args>
        return freshly(context, await events(context, input, getAbortSignal()), placeOf)
      },
      resolve: (row) => row as object,
    }),
  )
}

/** Forgets before each event what the one before has loaded. */
async function* freshly<Event>(
  context: GraphqlContext,
  events: AsyncIterable<Event>,
  placeOf: ((event: Event) => string) | undefined,
): AsyncGenerator<Event> {
  for await (const event of events) {
    if (placeOf && context.stream) context.stream.latest = placeOf(event)
    context.loaders.clear()
    yield event
  }
}
