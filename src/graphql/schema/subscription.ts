import type { ObjectRef } from '@pothos/core'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { GraphqlInputFields, InputOf } from './inputs.ts'
import { argumentsOf, withLocalIds } from './inputs.ts'

/** A stream of rows: what it takes, and what finds them until the caller has gone. */
type SubscriptionDeclaration<Args extends GraphqlInputFields, Row> = {
  readonly description: string
  readonly args: Args
  readonly events: (
    context: GraphqlContext,
    input: InputOf<Args>,
    signal: AbortSignal | undefined,
  ) => Promise<AsyncIterable<Row>>
  /** By what the caller may say that it has a row, when it connects again. */
  readonly eventIdOf?: (row: Row) => string
}

/** Adds a subscription to rows of a type. */
export function addSubscription<Args extends GraphqlInputFields, Row extends object>(
  name: string,
  type: ObjectRef<SchemaTypes, Row>,
  { description, args, events, eventIdOf: placeOf }: SubscriptionDeclaration<Args, Row>,
): void {
  builder.subscriptionField(name, (t) =>
    t.field({
      type: type as ObjectRef<SchemaTypes, object>,
      description,
      args: argumentsOf(t, args),
      subscribe: async (_, given, context, { getAbortSignal }) => {
        const input = withLocalIds(args, given) as InputOf<Args>
        return withFreshLoaders(context, await events(context, input, getAbortSignal()), placeOf)
      },
      resolve: (row) => row as object,
    }),
  )
}

/** Forgets before each event what the one before has loaded. */
async function* withFreshLoaders<Event>(
  context: GraphqlContext,
  events: AsyncIterable<Event>,
  placeOf: ((event: Event) => string) | undefined,
): AsyncGenerator<Event> {
  for await (const event of events) {
    if (placeOf && context.stream) context.stream.latestEventId = placeOf(event)
    context.loaders.clear()
    yield event
  }
}
