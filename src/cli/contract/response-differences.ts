import { parseUuid } from '../../core/ids-and-clock.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'

/** `path` identifies a member of the response, for example `data[].addresses`. */
export type Difference = { readonly path: string; readonly expected: string; readonly actual: string }

const timestampPattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

const formats: Readonly<Record<string, { readonly isValid: (text: string) => boolean; readonly name: string }>> = {
  uuid: { isValid: (text) => parseUuid(text) !== null, name: 'a UUID' },
  'date-time': { isValid: (text) => timestampPattern.test(text), name: 'a time in UTC with milliseconds' },
}

export function findDifferences(schema: JsonSchema, value: unknown, path = ''): Difference[] {
  const { oneOf, items, properties } = schema
  if (oneOf !== undefined) return findUnionDifferences(oneOf, value, path)
  const expected = describeSchema(schema)
  if (!hasType(schema, value)) return [{ path, expected, actual: describeValue(value) }]
  if (value === null) return []
  if (Array.isArray(value)) return items ? value.flatMap((item) => findDifferences(items, item, `${path}[]`)) : []
  if (typeof value === 'object') return properties ? findMemberDifferences(schema, value, path) : []
  return isAllowed(schema, value) ? [] : [{ path, expected, actual: describeValue(value) }]
}

/** A union is an object whose member `type` selects one of the schemas. */
function findUnionDifferences(schemas: readonly JsonSchema[], value: unknown, path: string): Difference[] {
  const type = typeof value === 'object' && value !== null ? (value as { type?: unknown }).type : undefined
  const typesOf = ({ properties }: JsonSchema) => properties?.type?.enum ?? []
  const schema = schemas.find((each) => typesOf(each).includes(type))
  if (schema) return findDifferences(schema, value, path)
  const expected = `one of ${schemas.flatMap(typesOf).join(', ')}`
  return [{ path: memberPath(path, 'type'), expected, actual: describeValue(type) }]
}

function findMemberDifferences({ properties = {}, required = [] }: JsonSchema, value: object, path: string) {
  const differences: Difference[] = []
  const members = new Map(Object.entries(value))
  for (const [name, schema] of Object.entries(properties)) {
    const child = memberPath(path, name)
    if (members.has(name)) differences.push(...findDifferences(schema, members.get(name), child))
    else if (required.includes(name)) {
      differences.push({ path: child, expected: describeSchema(schema), actual: 'no such member' })
    }
  }
  for (const name of members.keys()) {
    if (Object.hasOwn(properties, name)) continue
    differences.push({
      path: memberPath(path, name),
      expected: 'no such member',
      actual: describeValue(members.get(name)),
    })
  }
  const expectedOrder = Object.keys(properties).filter((name) => members.has(name))
  const actualOrder = [...members.keys()].filter((name) => Object.hasOwn(properties, name))
  if (expectedOrder.join() !== actualOrder.join()) {
    differences.push({
      path,
      expected: `members in the order ${expectedOrder.join(', ')}`,
      actual: actualOrder.join(', '),
    })
  }
  return differences
}

function memberPath(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`
}

function hasType({ type }: JsonSchema, value: unknown): boolean {
  if (type === undefined) return true
  const types = typeof type === 'string' ? [type] : type
  const actual = typeOf(value)
  return types.includes(actual) || (types.includes('integer') && Number.isInteger(value))
}

function isAllowed({ enum: values, format, pattern }: JsonSchema, value: unknown): boolean {
  if (values !== undefined && !values.includes(value)) return false
  if (typeof value !== 'string') return true
  if (format !== undefined && formats[format]?.isValid(value) === false) return false
  return pattern === undefined || new RegExp(pattern).test(value)
}

function typeOf(value: unknown): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

function describeSchema({ type, enum: values, format, pattern, oneOf }: JsonSchema): string {
  if (values !== undefined) return `one of ${values.map(String).join(', ')}`
  const types = typeof type === 'string' ? [type] : (type ?? ['value'])
  const [first = 'value', ...others] = types
  const name =
    formats[format ?? '']?.name ?? (pattern === String.raw`^\d+\.\d{8}$` ? 'a decimal of eight places' : null)
  const main = oneOf ? 'object' : (name ?? first)
  return [main, ...others].join(' or ')
}

function describeValue(value: unknown): string {
  const type = typeOf(value)
  if (type === 'null' || type === 'undefined') return type === 'null' ? 'null' : 'no such member'
  const text = JSON.stringify(value)
  return `${type} ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`
}
