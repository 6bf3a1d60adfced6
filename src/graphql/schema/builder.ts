import SchemaBuilder from '@pothos/core'
import RelayPlugin from '@pothos/plugin-relay'
import type { GraphQLScalarTypeConfig } from 'graphql'
import { GraphQLError } from 'graphql'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
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

builder.scalarType('UUID', {
  description: 'A UUID in lower case, such as `019a2b4c-5d6e-7f80-9a1b-2c3d4e5f6071`: the id that the REST paths use.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc9562',
  parseValue: stringParser('UUID'),
})

builder.scalarType('Amount', {
  description:
    'An exact amount as a string of at most ten digits before and eight after the point, such as `"25.50"`. Answers always have eight places: `"25.50000000"`. Never a number, which would be rounded.',
  serialize: formatAmount,
  parseValue: stringParser('Amount'),
})

builder.scalarType('Decimal', {
  description: 'An exact decimal as a string, such as a rate or a fiat amount: `"1545.5"`.',
  parseValue: stringParser('Decimal'),
})

builder.scalarType('DateTime', {
  description: 'A moment in ISO 8601, such as `2026-01-31T08:30:00.000Z`. Answers are in UTC with milliseconds.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  parseValue: stringParser('DateTime'),
})

builder.scalarType('Date', {
  description: 'A day in ISO 8601, such as `1991-04-17`.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (value) => String(value).slice(0, 10),
  parseValue: stringParser('Date'),
})

builder.scalarType('JSON', {
  description: 'An object as JSON has it. It is shown only, never taken.',
  serialize: (value) => value,
})

/** Takes a string as it is: the operation reads it and refuses what has the wrong form, naming the field. */
function stringParser(scalar: string): NonNullable<GraphQLScalarTypeConfig<string, unknown>['parseValue']> {
  return (value) => {
    if (typeof value === 'string') return value
    throw new GraphQLError(`${scalar} must be a string, such as ${examples[scalar]}.`)
  }
}

const examples: Record<string, string> = {
  UUID: '"019a2b4c-5d6e-7f80-9a1b-2c3d4e5f6071"',
  Amount: '"25.50"',
  Decimal: '"1545.5"',
  DateTime: '"2026-01-31T08:30:00.000Z"',
  Date: '"1991-04-17"',
}
