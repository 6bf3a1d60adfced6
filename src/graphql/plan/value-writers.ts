import type { GraphQLOutputType, GraphQLScalarType } from 'graphql'
import { isEnumType, isListType, isNonNullType, isScalarType } from 'graphql'
import { mapMaybe } from '../../core/maybe-promise.ts'
import type { Amount } from '../../core/money/amount.ts'
import { formatAmount } from '../../core/money/amount.ts'
import { escapeJsonString } from '../../core/net/json-text.ts'
import type { JsonTexts, PlanRun, WriteLevel } from './runtime.ts'
import { fallBackToGraphqlJs } from './runtime.ts'

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

/** Writes the items of all lists in one call, so that one query loads the related rows of all items. */
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
  for (const [position, type] of types.entries()) {
    const positions = groups.get(type)
    if (positions) positions.push(position)
    else groups.set(type, [position])
  }
  const texts: string[] = new Array(rows.length).fill('')
  await Promise.all(
    [...groups].map(async ([type, positions]) => {
      const written = await requireWriterOf(writers, type)(
        positions.map((position) => rows[position]),
        run,
      )
      for (const [i, position] of positions.entries()) texts[position] = written[i] as string
    }),
  )
  return texts
}

function requireWriterOf(writers: ReadonlyMap<string, WriteLevel>, type: string): WriteLevel {
  const write = writers.get(type)
  if (!write) fallBackToGraphqlJs()
  return write
}

export type SerializeLeaf = (value: unknown) => string

/**
 * If `isText` is true, `write` returns a string without quotation marks, because the quotation marks are part of the
 * constant JSON text around the value. Adding quotation marks to each value would take a fifth of the response's time.
 */
export type LeafWriter = { readonly write: SerializeLeaf; readonly isText: boolean }

/**
 * Returns a writer with the same results as the type's `serialize`. For a value of an unexpected type, the writer falls
 * back to graphql-js, which converts the value or reports an error.
 */
export function leafWriterOf(type: GraphQLOutputType): LeafWriter {
  return isNonNullType(type)
    ? nonNullLeafWriter(type.ofType)
    : { write: nullableSerializer(quotedSerializer(nonNullLeafWriter(type))), isText: false }
}

export function leafSerializer(type: GraphQLOutputType): SerializeLeaf {
  return quotedSerializer(leafWriterOf(type))
}

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

const stringSerializers: Readonly<Record<string, SerializeLeaf>> = {
  // Global ids are base64, which needs no escaping in JSON.
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
