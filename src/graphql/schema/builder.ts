import SchemaBuilder from '@pothos/core'
import RelayPlugin from '@pothos/plugin-relay'
import type { Amount } from '../../core/money/amount.ts'
import type { GraphqlContext } from './graphql-context.ts'

/** How the `id` of every node describes itself. */
export const idDescription = 'The global id: opaque, unique among all types, and the same for ever.'

/** The schema, to which each module adds its types, queries and mutations. */
export const builder = new SchemaBuilder<{
  Context: GraphqlContext
  DefaultFieldNullability: false
  DefaultEdgesNullability: { list: false; items: false }
  Scalars: {
    ID: { Input: string; Output: string }
    UUID: { Input: string; Output: string }
    Amount: { Input: string; Output: Amount }
    Decimal: { Input: string; Output: string }
    DateTime: { Input: string; Output: string }
    Date: { Input: string; Output: string }
    JSON: { Input: never; Output: unknown }
  }
}>({
  plugins: [RelayPlugin],
  defaultFieldNullability: false,
  relay: {
    cursorType: 'String',
    nodeQueryOptions: false,
    nodesQueryOptions: false,
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'The items, each with the cursor of its place.',
    },
    nodeFieldOptions: { nullable: false, description: 'The item itself.' },
    cursorFieldOptions: { description: 'Where this item stands in the list: pass it as `after` or `before`.' },
    pageInfoFieldOptions: { description: 'Whether there is more, and the cursors to ask for it.' },
    hasNextPageFieldOptions: { description: 'Whether items follow the last one here.' },
    hasPreviousPageFieldOptions: { description: 'Whether items come before the first one here.' },
    startCursorFieldOptions: { description: 'The cursor of the first item here; null when there is none.' },
    endCursorFieldOptions: { description: 'The cursor of the last item here; null when there is none.' },
    pageInfoTypeOptions: { description: 'How to go on from a part of a list, forwards or backwards.' },
    defaultEdgeTypeOptions: { description: 'An item of a list, with its place.' },
    nodeTypeOptions: {
      description: 'Anything that can be fetched again by its global id.',
    },
    idFieldOptions: { description: idDescription },
  },
})

/** The types of the schema as the builder knows them. */
export type SchemaTypes = (typeof builder)['$inferSchemaTypes']

builder.queryType({ description: 'What the merchant of the API key can read.' })
builder.subscriptionType({
  description: 'What the merchant of the API key can watch, as server-sent events (`Accept: text/event-stream`).',
})
builder.mutationType({
  description:
    'What the merchant of the API key can change. Each mutation answers a union: its payload, or the error that says why nothing changed.',
})
