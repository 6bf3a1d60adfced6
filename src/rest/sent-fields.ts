export type SentRequest = {
  readonly method: string
  readonly params: unknown
  readonly query: unknown
  readonly body?: unknown
}

export const fieldLocations = ['body', 'query', 'params', 'headers'] as const

export const idempotencyKeyField = 'Idempotency-Key'

export type SentField = {
  readonly location: (typeof fieldLocations)[number]
  readonly value: string | number | boolean | null
}

const maxValueLength = 255

/** The pattern for secrets includes URLs, because a URL can contain a password. */
const secretPattern = /pgw_|wh(sec|pk|sk)_|eyJ|:\/\//i

/**
 * The error response repeats a field's value, except long values, lists, objects and possible secrets, because callers
 * log error responses (ruling 122).
 *
 * @param field the name of the field in the request; `address.city` is a member of an object
 */
export function findSentField({ method, params, query, body }: SentRequest, field: string): SentField {
  if (field === idempotencyKeyField) return { location: 'headers', value: null }
  const isQuery = method === 'GET' || method === 'HEAD'
  if (hasMember(params, field)) return { location: 'params', value: toSafeValue(params[field]) }
  return { location: isQuery ? 'query' : 'body', value: toSafeValue(valueAt(isQuery ? query : body, field)) }
}

function valueAt(source: unknown, field: string): unknown {
  if (hasMember(source, field)) return source[field]
  return field.split('.').reduce((value, name) => (hasMember(value, name) ? value[name] : undefined), source)
}

function hasMember(source: unknown, name: string): source is Readonly<Record<string, unknown>> {
  return typeof source === 'object' && source !== null && Object.hasOwn(source, name)
}

function toSafeValue(value: unknown): SentField['value'] {
  if (typeof value === 'boolean') return value
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'string' && value.length <= maxValueLength && !secretPattern.test(value) ? value : null
}
