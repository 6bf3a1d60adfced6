import type { FieldDef } from 'pg'
import { camelCase } from '../tables.ts'
import type { PostgresParameter } from './compile-for-postgres.ts'

/** What is known of a value in a row: its name and type, and whether it is a column of a table. */
export type RowField = Pick<FieldDef, 'name' | 'dataTypeID'> & { readonly isColumn: boolean }

/** PostgreSQL's numbers for the types of our columns, and of expressions over them. */
export const typeOids = {
  boolean: 16,
  bigint: 20,
  smallint: 21,
  integer: 23,
  json: 114,
  double: 701,
  timestamp: 1184,
  numeric: 1700,
  uuid: 2950,
  uuidArray: 2951,
} as const

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** No row has this id, so whatever is no UUID is held against it: to the engine that alone would be an error. */
const nilUuid = '00000000-0000-0000-0000-000000000000'

/**
 * The text that is sent for a parameter, or `null` for NULL.
 *
 * @param type the number of the type that PostgreSQL expects there
 */
export function encodeParameter(
  { name, isList, isCompared }: PostgresParameter,
  type: number,
  value: unknown,
): string | null {
  if (value === undefined) throw new Error(`the query parameter ${name} has no value`)
  if (value === null) return null
  if (isList) return encodeArray(value as readonly unknown[], type)
  if (type === typeOids.uuid && isCompared && !uuidPattern.test(value as string)) return nilUuid
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** An array literal; each item is quoted, so that none is taken for anything but its text. */
function encodeArray(items: readonly unknown[], type: number): string {
  const held = type === typeOids.uuidArray ? items.filter((item) => uuidPattern.test(item as string)) : items
  return `{${held.map((item) => `"${String(item).replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/**
 * The function that makes a row of the texts that PostgreSQL answers; the row is what SQLite would give.
 *
 * It is generated, as SQLite's, because an object literal with fixed names is made faster than one filled in a loop.
 * Every name in it is a column of ours.
 */
export function createRowDecoder(fields: readonly RowField[]): (values: (string | null)[]) => unknown {
  const made = fields.map((field, i) => {
    const reader = decoderOf(field)
    const value = `values[${i}]`
    return `${camelCase(field.name)}: ${reader ? `${value} === null ? null : ${reader}(${value})` : value}`
  })
  const make = new Function(...Object.keys(decoders), `return (values) => ({ ${made.join(', ')} })`)
  return make(...Object.values(decoders))
}

/** The same for a row that is its values: they are decoded where they are. */
export function createProjectionDecoder(fields: readonly RowField[]): (values: (string | null)[]) => unknown {
  const decoded = fields.flatMap((field, place) => {
    const reader = decoderOf(field)
    return reader ? [{ place, decode: decoders[reader] as (text: string) => unknown }] : []
  })
  return (values: unknown[]) => {
    for (const { place, decode } of decoded) if (values[place] !== null) values[place] = decode(values[place] as string)
    return values
  }
}

const decoders = { Number, BigInt, parseJson: JSON.parse, isoTime, wholeNumber, truth }

/** How a value of a type is read; what is not here is text. */
const decodersByType: Readonly<Record<number, keyof typeof decoders>> = {
  [typeOids.boolean]: 'truth',
  [typeOids.bigint]: 'BigInt',
  [typeOids.smallint]: 'BigInt',
  [typeOids.integer]: 'BigInt',
  [typeOids.json]: 'parseJson',
  [typeOids.double]: 'Number',
  [typeOids.timestamp]: 'isoTime',
  [typeOids.numeric]: 'wholeNumber',
}

function decoderOf({ dataTypeID, isColumn }: RowField): keyof typeof decoders | null {
  // An integer that is no column may be anything, as on SQLite, and is a bigint.
  if (isColumn && dataTypeID === typeOids.integer) return 'Number'
  return decodersByType[dataTypeID] ?? null
}

/** `2026-01-31 12:00:00.5+00` as `2026-01-31T12:00:00.500Z`; the year 0 is 1 BC to PostgreSQL. */
export function isoTime(text: string): string {
  const [, date = '', time = '', fraction = ''] = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00/.exec(text) ?? []
  const day = text.endsWith(' BC') ? `0000${date.slice(4)}` : date
  return `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

/** A sum of amounts is a numeric; whole numbers stay exact, anything else is the text that it came as. */
function wholeNumber(text: string): bigint | string {
  return /^-?\d+$/.test(text) ? BigInt(text) : text
}

function truth(text: string): bigint {
  return text === 't' ? 1n : 0n
}
