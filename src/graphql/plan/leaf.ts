import type { GraphQLOutputType, GraphQLScalarType } from 'graphql'
import { isEnumType, isListType, isNonNullType, isScalarType } from 'graphql'
import { escaped } from '../../doors/escaped.ts'
import type { Amount } from '../../money/amount.ts'
import { formatAmount } from '../../money/amount.ts'
import { leaveToGraphqlJs } from './written.ts'

/** Writes a value that has no fields. */
export type WriteLeaf = (value: unknown) => string

/**
 * What writes the values of a type that has no fields, as its `serialize` would have them. Whatever is not of the kind that
 * resolvers give is left to graphql-js, which knows how to turn it into one or what to say.
 */
export function leafWriter(type: GraphQLOutputType): WriteLeaf {
  return isNonNullType(type) ? present(type.ofType) : orNull(present(type))
}

/** Writes values that are there; what writes them takes null for one of the wrong kind. */
function present(type: GraphQLOutputType): WriteLeaf {
  if (isListType(type)) return listed(leafWriter(type.ofType))
  if (isEnumType(type)) {
    const texts = new Map(type.getValues().map(({ name, value }) => [value, JSON.stringify(name)]))
    return (value) => texts.get(value) ?? leaveToGraphqlJs()
  }
  return isScalarType(type) ? (scalars[type.name] ?? serialized(type)) : leaveToGraphqlJs
}

function orNull(write: WriteLeaf): WriteLeaf {
  return (value) => (value === null || value === undefined ? 'null' : write(value))
}

function listed(write: WriteLeaf): WriteLeaf {
  return (value) => (Array.isArray(value) ? `[${value.map(write).join()}]` : leaveToGraphqlJs())
}

function text(value: unknown): string {
  return typeof value === 'string' ? `"${escaped(value)}"` : leaveToGraphqlJs()
}

/** Those of which there are many in an answer. */
const scalars: Readonly<Record<string, WriteLeaf>> = {
  // Global ids are base64, in which nothing is ever escaped.
  ID: (value) => (typeof value === 'string' ? `"${value}"` : leaveToGraphqlJs()),
  String: text,
  UUID: text,
  Decimal: text,
  DateTime: text,
  Amount: (value) => (typeof value === 'bigint' ? `"${formatAmount(value as Amount)}"` : leaveToGraphqlJs()),
  Boolean: (value) => (typeof value === 'boolean' ? String(value) : leaveToGraphqlJs()),
}

function serialized(type: GraphQLScalarType): WriteLeaf {
  return (value) =>
    value === null || value === undefined ? leaveToGraphqlJs() : JSON.stringify(type.coerceOutputValue(value))
}
