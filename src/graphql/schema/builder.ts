import SchemaBuilder from '@pothos/core'
import RelayPlugin from '@pothos/plugin-relay'
import type { GraphQLScalarTypeConfig } from 'graphql'
import { GraphQLError } from 'graphql'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import type { GraphqlContext } from './graphql-context.ts'

export const idDescription = 'The global id: opaque, unique among all types, and permanent.'

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
      description: 'The items, each with its cursor.',
    },
    nodeFieldOptions: { nullable: false, description: 'The item itself.' },
    cursorFieldOptions: { description: 'The position of this item in the list, for `after` and `before`.' },
    pageInfoFieldOptions: { description: 'Whether there are more items, and the cursors to request them.' },
    hasNextPageFieldOptions: { description: 'Whether items follow the last one of this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether items precede the first one of this page.' },
    startCursorFieldOptions: { description: 'The cursor of the first item of this page; null if it is empty.' },
    endCursorFieldOptions: { description: 'The cursor of the last item of this page; null if it is empty.' },
    pageInfoTypeOptions: { description: 'How to page through a list, forwards or backwards.' },
    defaultEdgeTypeOptions: { description: 'An item of a list, with its cursor.' },
    nodeTypeOptions: { description: 'An object with a global id, which `node` fetches.' },
    idFieldOptions: { description: idDescription },
  },
})

export type SchemaTypes = (typeof builder)['$inferSchemaTypes']

builder.queryType({ description: 'The data that the merchant of the API key can read.' })
builder.subscriptionType({
  description:
    'Changes that the merchant of the API key can subscribe to, as server-sent events (`Accept: text/event-stream`).',
})
builder.mutationType({
  description:
    'The changes that the merchant of the API key can make. Each mutation returns a union: its payload, or the error that explains why nothing changed.',
})

builder.scalarType('UUID', {
  description: 'A UUID in lower case, such as `019a2b4c-5d6e-7f80-9a1b-2c3d4e5f6071`: the id that the REST paths use.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc9562',
  parseValue: stringParser('UUID'),
})

builder.scalarType('Amount', {
  description:
    'An exact amount as a string of at most ten digits before and eight after the point, such as `"25.50"`. Responses always have eight places: `"25.50000000"`. Never a number, which would be rounded.',
  serialize: formatAmount,
  parseValue: stringParser('Amount'),
})

builder.scalarType('Decimal', {
  description: 'An exact decimal as a string, such as a rate or a fiat amount: `"1545.5"`.',
  parseValue: stringParser('Decimal'),
})

builder.scalarType('DateTime', {
  description: 'A time in ISO 8601, such as `2026-01-31T08:30:00.000Z`. Responses are in UTC with milliseconds.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  parseValue: stringParser('DateTime'),
})

builder.scalarType('Date', {
  description: 'A date in ISO 8601, such as `1991-04-17`.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: (value) => String(value).slice(0, 10),
  parseValue: stringParser('Date'),
})

builder.scalarType('JSON', {
  description: 'A JSON object. Only in responses, never in inputs.',
  serialize: (value) => value,
})

/** Accepts any string, because the operation's error identifies the invalid field. */
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
