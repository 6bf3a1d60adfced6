import type { GraphQLScalarTypeConfig } from 'graphql'
import { GraphQLError } from 'graphql'
import { formatAmount } from '../../core/money/amount.ts'
import { builder } from './builder.ts'

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
