import type { ObjectRef } from '@pothos/core'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { GraphqlInputFields, InputOf } from './inputs.ts'
import { argumentsOf, withLocalIds } from './inputs.ts'

type SubscriptionDeclaration<Args extends GraphqlInputFields, Row> = {
  readonly description: string
  readonly args: Args
  readonly events: (
    context: GraphqlContext,
    input: InputOf<Args>,
    signal: AbortSignal | undefined,
  ) => Promise<AsyncIterable<Row>>
  /** A client that reconnects sends the id of its last event as `Last-Event-ID`. */
  readonly eventIdOf?: (row: Row) => string
}

export function addSubscription<Args extends GraphqlInputFields, Row extends object>(
  name: string,
  type: ObjectRef<SchemaTypes, Row>,
  { description, args, events, eventIdOf }: SubscriptionDeclaration<Args, Row>,
): void {
  builder.subscriptionField(name, (t) =>
    t.field({
      type: type as ObjectRef<SchemaTypes, object>,
      description,
      args: argumentsOf(t, args),
      subscribe: async (_, graphqlArgs, context, { getAbortSignal }) => {
        const input = withLocalIds(args, graphqlArgs) as InputOf<Args>
        return withFreshLoaders(context, await events(context, input, getAbortSignal()), eventIdOf)
      },
      resolve: (row) => row as object,
    }),
  )
}

/** Clears the loaders before each event, so that the event is resolved from current rows. */
async function* withFreshLoaders<Event>(
  context: GraphqlContext,
  events: AsyncIterable<Event>,
  eventIdOf: ((event: Event) => string) | undefined,
): AsyncGenerator<Event> {
  for await (const event of events) {
    if (eventIdOf && context.stream) context.stream.latestEventId = eventIdOf(event)
    context.loaders.clear()
    yield event
  }
}
