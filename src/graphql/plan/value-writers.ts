import type { GraphQLOutputType, GraphQLScalarType } from 'graphql'
import { isEnumType, isListType, isNonNullType, isScalarType } from 'graphql'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import { escapeJsonString } from '../../core/net/escape-json.ts'
import { mapMaybe } from '../../database/query.ts'
import type { JsonTexts, PlanRun, WriteLevel } from './runtime.ts'
import { fallBackToGraphqlJs } from './runtime.ts'

/** Writes values of a type that lists others or takes null, with what writes those of its named type. */
export function wrapWriter(type: GraphQLOutputType, named: WriteLevel): WriteLevel {
  if (isNonNullType(type)) return requireNonNull(nonNullWriter(type.ofType, named))
  return nullableWriter(nonNullWriter(type, named))
}

function nonNullWriter(type: GraphQLOutputType, named: WriteLevel): WriteLevel {
  return isListType(type) ? listWriter(wrapWriter(type.ofType, named)) : named
}

function isAbsent(value: unknown): boolean {
  return value === null || value === undefined
}

function requireNonNull(write: WriteLevel): WriteLevel {
  return (values, run) => {
    if (values.some(isAbsent)) fallBackToGraphqlJs()
    return write(values, run)
  }
}

function nullableWriter(write: WriteLevel): WriteLevel {
  return (values, run) => {
    if (!values.some(isAbsent)) return write(values, run)
    const present = values.filter((value) => !isAbsent(value))
    if (present.length === 0) return values.map(() => 'null')
    return mapMaybe(write(present, run), (texts) => {
      let next = 0
      return values.map((value) => (isAbsent(value) ? 'null' : (texts[next++] as string)))
    })
  }
}

/** Lists are written together, so that whatever their items need is loaded at once. */
function listWriter(write: WriteLevel): WriteLevel {
  return (lists, run) => {
    if (!lists.every(Array.isArray)) fallBackToGraphqlJs()
    const items = lists.length === 1 ? (lists[0] as readonly unknown[]) : lists.flat(1)
    return mapMaybe(items.length === 0 ? [] : write(items, run), (texts) => {
      let next = 0
      return lists.map((list) => {
        const end = next + (list as readonly unknown[]).length
        let text = ''
        for (; next < end; next++) text += text === '' ? `[${texts[next]}` : `,${texts[next]}`
        return text === '' ? '[]' : `${text}]`
      })
    })
  }
}

/** Writes rows of several types, those of each together. */
export function writerByType(typeOf: (row: unknown) => string, writers: ReadonlyMap<string, WriteLevel>): WriteLevel {
  return (rows, run) => {
    const types = rows.map(typeOf)
    const [first] = types
    if (first !== undefined && types.every((type) => type === first)) return requireWriterOf(writers, first)(rows, run)
    return writeMixedTypes(rows, types, writers, run)
  }
}

async function writeMixedTypes(
  rows: readonly unknown[],
  types: readonly string[],
  writers: ReadonlyMap<string, WriteLevel>,
  run: PlanRun,
): Promise<JsonTexts> {
  const groups = new Map<string, number[]>()
  for (const [place, type] of types.entries()) {
    const places = groups.get(type)
    if (places) places.push(place)
    else groups.set(type, [place])
  }
  const texts: string[] = new Array(rows.length).fill('')
  await Promise.all(
    [...groups].map(async ([type, places]) => {
      const written = await requireWriterOf(writers, type)(
        places.map((place) => rows[place]),
        run,
      )
      for (const [i, place] of places.entries()) texts[place] = written[i] as string
    }),
  )
  return texts
}

function requireWriterOf(writers: ReadonlyMap<string, WriteLevel>, type: string): WriteLevel {
  const write = writers.get(type)
  if (!write) fallBackToGraphqlJs()
  return write
}

/** Writes a value that has no fields. */
export type SerializeLeaf = (value: unknown) => string

/**
 * How values are written: as JSON, or where each `isText` without the quotation marks, which then are a part of what always
 * stands around it. To put together three texts for each value takes a fifth of the time in which an answer is written.
 */
export type LeafWriter = { readonly write: SerializeLeaf; readonly isText: boolean }

/**
 * What writes the values of a type that has no fields, as its `serialize` would have them. Whatever is not of the kind that
 * resolvers give is left to graphql-js, which knows how to turn it into one or what to say.
 */
export function leafWriterOf(type: GraphQLOutputType): LeafWriter {
  return isNonNullType(type)
    ? nonNullLeafWriter(type.ofType)
    : { write: nullableSerializer(quotedSerializer(nonNullLeafWriter(type))), isText: false }
}

/** The same with the quotation marks. */
export function leafSerializer(type: GraphQLOutputType): SerializeLeaf {
  return quotedSerializer(leafWriterOf(type))
}

/** Values that are there; what writes them takes null for one of the wrong kind. */
function nonNullLeafWriter(type: GraphQLOutputType): LeafWriter {
  if (isListType(type)) return { write: listSerializer(leafSerializer(type.ofType)), isText: false }
  if (isEnumType(type)) {
    const names = new Map(type.getValues().map(({ name, value }) => [value, name]))
    return { write: (value) => names.get(value) ?? fallBackToGraphqlJs(), isText: true }
  }
  if (!isScalarType(type)) fallBackToGraphqlJs()
  const write = stringSerializers[type.name]
  return write ? { write, isText: true } : { write: otherSerializers[type.name] ?? jsonSerializer(type), isText: false }
}

function quotedSerializer({ write, isText }: LeafWriter): SerializeLeaf {
  return isText ? (value) => `"${write(value)}"` : write
}

function nullableSerializer(write: SerializeLeaf): SerializeLeaf {
  return (value) => (value === null || value === undefined ? 'null' : write(value))
}

function listSerializer(write: SerializeLeaf): SerializeLeaf {
  return (value) => (Array.isArray(value) ? `[${value.map(write).join()}]` : fallBackToGraphqlJs())
}

function serializeString(value: unknown): string {
  return typeof value === 'string' ? escapeJsonString(value) : fallBackToGraphqlJs()
}

/** Those of which there are many in an answer. */
const stringSerializers: Readonly<Record<string, SerializeLeaf>> = {
  // Global ids are base64, in which nothing is ever escaped.
  ID: (value) => (typeof value === 'string' ? value : fallBackToGraphqlJs()),
  String: serializeString,
  UUID: serializeString,
  Decimal: serializeString,
  DateTime: serializeString,
  Amount: (value) => (typeof value === 'bigint' ? formatAmount(value as Amount) : fallBackToGraphqlJs()),
}

const otherSerializers: Readonly<Record<string, SerializeLeaf>> = {
  Boolean: (value) => (typeof value === 'boolean' ? String(value) : fallBackToGraphqlJs()),
}

function jsonSerializer(type: GraphQLScalarType): SerializeLeaf {
  return (value) =>
    value === null || value === undefined ? fallBackToGraphqlJs() : JSON.stringify(type.coerceOutputValue(value))
}
