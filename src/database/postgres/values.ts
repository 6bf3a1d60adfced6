import type { FieldDef } from 'pg'
import { camelCase } from '../tables.ts'
import type { PostgresParameter } from './compile-for-postgres.ts'

export type RowField = Pick<FieldDef, 'name' | 'dataTypeID'> & { readonly isColumn: boolean }

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

/**
 * A string that is not a UUID is replaced by the nil UUID, which no row has. PostgreSQL would reject a string that is
 * not a UUID.
 */
const nilUuid = '00000000-0000-0000-0000-000000000000'

/**
 * Encodes a value in PostgreSQL's text format.
 *
 * @param type OID of the expected type
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

function encodeArray(items: readonly unknown[], type: number): string {
  const comparable = type === typeOids.uuidArray ? items.filter((item) => uuidPattern.test(item as string)) : items
  return `{${comparable.map((item) => `"${String(item).replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/**
 * Decoded rows equal the rows of SQLite. Rows are decoded by generated code, because a loop is slower. The generated
 * code contains only column names of this program's queries, never input.
 */
export function createRowDecoder(fields: readonly RowField[]): (values: (string | null)[]) => unknown {
  const properties = fields.map((field, i) => {
    const decoder = decoderOf(field)
    const value = `values[${i}]`
    return `${camelCase(field.name)}: ${decoder ? `${value} === null ? null : ${decoder}(${value})` : value}`
  })
  const create = new Function(...Object.keys(decoders), `return (values) => ({ ${properties.join(', ')} })`)
  return create(...Object.values(decoders))
}

export function createProjectionDecoder(fields: readonly RowField[]): (values: (string | null)[]) => unknown {
  const decoded = fields.flatMap((field, index) => {
    const decoder = decoderOf(field)
    return decoder ? [{ index, decode: decoders[decoder] as (text: string) => unknown }] : []
  })
  return (values: unknown[]) => {
    for (const { index, decode } of decoded) if (values[index] !== null) values[index] = decode(values[index] as string)
    return values
  }
}

const decoders = { Number, BigInt, parseJson: JSON.parse, isoTime, integerOrText, booleanToBigint }

const decodersByType: Readonly<Record<number, keyof typeof decoders>> = {
  [typeOids.boolean]: 'booleanToBigint',
  [typeOids.bigint]: 'BigInt',
  [typeOids.smallint]: 'BigInt',
  [typeOids.integer]: 'BigInt',
  [typeOids.json]: 'parseJson',
  [typeOids.double]: 'Number',
  [typeOids.timestamp]: 'isoTime',
  [typeOids.numeric]: 'integerOrText',
}

function decoderOf({ dataTypeID, isColumn }: RowField): keyof typeof decoders | null {
  // An integer expression is decoded to a bigint, as on SQLite, because its value can exceed the range of a number.
  if (isColumn && dataTypeID === typeOids.integer) return 'Number'
  return decodersByType[dataTypeID] ?? null
}

/** Converts `2026-01-31 12:00:00.5+00` to `2026-01-31T12:00:00.500Z`. The year 0 is 1 BC in PostgreSQL. */
export function isoTime(text: string): string {
  const [, date = '', time = '', fraction = ''] = /^(\S+) (\d\d:\d\d:\d\d)(?:\.(\d+))?\+00/.exec(text) ?? []
  const day = text.endsWith(' BC') ? `0000${date.slice(4)}` : date
  return `${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`
}

/** A sum of amounts has the type numeric. A number with decimal places stays a string. */
function integerOrText(text: string): bigint | string {
  return /^-?\d+$/.test(text) ? BigInt(text) : text
}

function booleanToBigint(text: string): bigint {
  return text === 't' ? 1n : 0n
}
