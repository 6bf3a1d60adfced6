import type { GraphQLOutputType, GraphQLScalarType } from 'graphql'
import { isEnumType, isListType, isNonNullType, isScalarType } from 'graphql'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import { escaped } from '../../core/net/escaped.ts'
import { leaveToGraphqlJs } from './runtime.ts'

/** Writes a value that has no fields. */
export type WriteLeaf = (value: unknown) => string

/**
 * How values are written: as JSON, or where each `isText` without the quotation marks, which then are a part of what always
 * stands around it. To put together three texts for each value takes a fifth of the time in which an answer is written.
 */
export type Leaf = { readonly write: WriteLeaf; readonly isText: boolean }

/**
 * What writes the values of a type that has no fields, as its `serialize` would have them. Whatever is not of the kind that
 * resolvers give is left to graphql-js, which knows how to turn it into one or what to say.
 */
export function leafOf(type: GraphQLOutputType): Leaf {
  return isNonNullType(type) ? present(type.ofType) : { write: orNull(quoted(present(type))), isText: false }
}

/** The same with the quotation marks. */
export function leafWriter(type: GraphQLOutputType): WriteLeaf {
  return quoted(leafOf(type))
}

/** Values that are there; what writes them takes null for one of the wrong kind. */
function present(type: GraphQLOutputType): Leaf {
  if (isListType(type)) return { write: listed(leafWriter(type.ofType)), isText: false }
  if (isEnumType(type)) {
    const names = new Map(type.getValues().map(({ name, value }) => [value, name]))
    return { write: (value) => names.get(value) ?? leaveToGraphqlJs(), isText: true }
  }
  if (!isScalarType(type)) leaveToGraphqlJs()
  const write = texts[type.name]
  return write ? { write, isText: true } : { write: others[type.name] ?? serialized(type), isText: false }
}

function quoted({ write, isText }: Leaf): WriteLeaf {
  return isText ? (value) => `"${write(value)}"` : write
}

function orNull(write: WriteLeaf): WriteLeaf {
  return (value) => (value === null || value === undefined ? 'null' : write(value))
}

function listed(write: WriteLeaf): WriteLeaf {
  return (value) => (Array.isArray(value) ? `[${value.map(write).join()}]` : leaveToGraphqlJs())
}

function text(value: unknown): string {
  return typeof value === 'string' ? escaped(value) : leaveToGraphqlJs()
}

/** Those of which there are many in an answer. */
const texts: Readonly<Record<string, WriteLeaf>> = {
  // Global ids are base64, in which nothing is ever escaped.
  ID: (value) => (typeof value === 'string' ? value : leaveToGraphqlJs()),
  String: text,
  UUID: text,
  Decimal: text,
  DateTime: text,
  Amount: (value) => (typeof value === 'bigint' ? formatAmount(value as Amount) : leaveToGraphqlJs()),
}

const others: Readonly<Record<string, WriteLeaf>> = {
  Boolean: (value) => (typeof value === 'boolean' ? String(value) : leaveToGraphqlJs()),
}

function serialized(type: GraphQLScalarType): WriteLeaf {
  return (value) =>
    value === null || value === undefined ? leaveToGraphqlJs() : JSON.stringify(type.coerceOutputValue(value))
}
