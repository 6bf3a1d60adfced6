import type { z } from 'zod'
import type { ErrorCode, FieldError, FieldNames } from '../core/errors.ts'
import { externalFieldName, invalidInput } from '../core/errors.ts'
import { findFieldErrors } from '../core/input.ts'
import { numberLiteral } from '../core/net/json-text.ts'
import { snakeCase } from '../database/tables.ts'
import type { Context, IdempotentResult, Operation } from '../operations/context.ts'
import type { ApiDeclaration } from '../operations/define-operation.ts'
import type { JsonSchema, RestInputField, RestInputFields } from './input-fields.ts'
import type { Shape, ShapeMember } from './shape.ts'
import { constant, shape } from './shape.ts'

type EndpointFields<Schema extends z.ZodType, Result> = {
  readonly title: string
  readonly description: string
  readonly fields: RestInputFields<z.input<Schema>>
  readonly example: Partial<z.input<Schema>>
  readonly response: ResponseMembers<Result>
  readonly isLongPoll?: (input: z.input<Schema>) => boolean
}

export type RestEndpoint<Schema extends z.ZodType, Result> = EndpointFields<Schema, Result> & {
  readonly name: string
  readonly input: Schema
  readonly operation: (context: Context, input: z.input<Schema>) => Promise<Result>
  /** Errors that every endpoint with the same HTTP method can return are not listed. */
  readonly errors: readonly ErrorCode[]
}

type WriteEndpoint<Schema extends z.ZodType, Result> = EndpointFields<Schema, Result> & {
  readonly input?: Schema
  readonly location?: (created: Result) => string
}

export type ConvertedInput = {
  readonly input: Record<string, unknown>
  readonly names: FieldNames
  readonly errors: readonly FieldError[]
}

export type ConvertInput<Schema extends z.ZodType> = (
  input: Partial<z.input<Schema>>,
  otherMembers: Readonly<Record<string, unknown>>,
) => ConvertedInput

type ExactFields<Input, Fields> = Fields & { readonly [Field in Exclude<keyof Fields, keyof Input>]: never }

/** A response has the member `status`, followed by these members in this order (ruling 1). */
type ResponseMembers<Result> = { readonly [Part in 'message' | 'data' | 'pagination']?: ShapeMember<Result> }

/** `path` uses Fastify's syntax. `status` is the HTTP status of a successful response. */
export type Route = Pick<RestEndpoint<z.ZodType, unknown>, 'name' | 'title' | 'description' | 'errors'> & {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly status: 200 | 201
  readonly schema: z.ZodType
  readonly example: Readonly<Record<string, unknown>>
  readonly names: FieldNames
  readonly fields: readonly RouteField[]
  readonly payloadNames: ReadonlySet<string>
  readonly namesByFoldedSpelling: ReadonlyMap<string, string>
  readonly run: (context: Context, input: Record<string, unknown>) => Promise<IdempotentResult<unknown>>
  readonly writeOperation: Operation<never, IdempotentResult<unknown>, ApiDeclaration> | null
  readonly response: Shape<unknown>
  /** The media types of a download; `null` for JSON. */
  readonly types: readonly string[] | null
  readonly isLongPoll: (input: Record<string, unknown>) => boolean
  readonly location: ((created: unknown) => string) | null
  readonly convert: ConvertInput<z.ZodType> | null
}

export type Download = { readonly type: string; readonly name: string; readonly chunks: AsyncIterable<string> }

export type RouteGroup = { readonly name: string; readonly description: string; readonly routes: readonly Route[] }

type RouteField = ReturnType<typeof toRouteField>

/**
 * Requests that create a resource return 201, except payouts. The API contract does not define the HTTP statuses, so
 * the service uses the original provider's HTTP statuses (ruling 1).
 */
const createdStatus = 201

export function get<Schema extends z.ZodType, Result, Fields extends RestInputFields<z.input<Schema>>>(
  path: string,
  { operation, ...endpoint }: RestEndpoint<Schema, Result> & { fields: ExactFields<z.input<Schema>, Fields> },
): Route {
  const run: Route['run'] = async (context, input) => ({
    result: await operation(context, input as z.input<Schema>),
    isReplayed: false,
  })
  return createRoute({ method: 'GET', status: 200, path, run, writeOperation: null }, endpoint)
}

export function postRead<Schema extends z.ZodType, Result, Fields extends RestInputFields<z.input<Schema>>>(
  path: string,
  endpoint: RestEndpoint<Schema, Result> & { fields: ExactFields<z.input<Schema>, Fields> },
): Route {
  return { ...get<Schema, Result, Fields>(path, endpoint), method: 'POST' }
}

export function download<Schema extends z.ZodType, Fields extends RestInputFields<z.input<Schema>>>(
  path: string,
  {
    types,
    ...endpoint
  }: Omit<RestEndpoint<Schema, Download>, 'response'> & {
    types: readonly string[]
    fields: ExactFields<z.input<Schema>, Fields>
  },
): Route {
  return { ...get<Schema, Download, Fields>(path, { ...endpoint, response: {} }), types }
}

const createWriteRouteBuilder =
  (method: Route['method'], status: Route['status']) =>
  <Whole extends z.ZodType, Result, Fields extends RestInputFields<z.input<Schema>>, Schema extends z.ZodType = Whole>(
    path: string,
    operation: Operation<z.input<Schema>, IdempotentResult<Result>, ApiDeclaration<Whole>>,
    { input, location, ...endpoint }: WriteEndpoint<Schema, Result> & { fields: ExactFields<z.input<Schema>, Fields> },
  ): Route => {
    const { name, errors, input: whole } = operation.declaration
    const run: Route['run'] = (context, given) => context.perform(operation, context, given as z.input<Schema>)
    const route = createRoute(
      { method, status, path, run, writeOperation: operation },
      { ...endpoint, name, errors, input: input ?? (whole as z.ZodType as Schema) },
    )
    return { ...route, location: (location as Route['location'] | undefined) ?? null }
  }

/** Declares an endpoint whose request body differs in structure from the operation's input. */
export function converted<Whole extends z.ZodType, Schema extends z.ZodType, Result>(
  { method, path }: { readonly method: 'POST' | 'PUT'; readonly path: string },
  operation: Operation<z.input<Whole>, IdempotentResult<Result>, ApiDeclaration<Whole>>,
  {
    convert,
    location,
    ...endpoint
  }: Omit<EndpointFields<Schema, Result>, 'isLongPoll'> & {
    readonly name: string
    readonly input: Schema
    readonly convert: ConvertInput<Schema>
    readonly location?: (created: Result) => string
  },
): Route {
  const { errors } = operation.declaration
  const run: Route['run'] = (context, given) => context.perform(operation, context, given as z.input<Whole>)
  const request = {
    method,
    path,
    run,
    status: method === 'POST' ? createdStatus : 200,
    writeOperation: operation,
  } as const
  const route = createRoute(request, { ...endpoint, errors })
  return {
    ...route,
    location: (location as Route['location'] | undefined) ?? null,
    convert: convert as NonNullable<Route['convert']>,
  }
}

export const post = createWriteRouteBuilder('POST', createdStatus)
export const postAction = createWriteRouteBuilder('POST', 200)
export const put = createWriteRouteBuilder('PUT', 200)
export const remove = createWriteRouteBuilder('DELETE', 200)

/** Erasing the input type is safe, because the operation parses its own input. */
function createRoute<Schema extends z.ZodType, Result>(
  { path, ...request }: Pick<Route, 'method' | 'status' | 'path' | 'run' | 'writeOperation'>,
  { input, fields, response, isLongPoll, ...endpoint }: Omit<RestEndpoint<Schema, Result>, 'operation'>,
): Route {
  const all = Object.entries<RestInputField>(fields).map(([field, options]) => toRouteField(field, options))
  const payloadNames = all.map(({ wire }) => wire).filter((wire) => !path.includes(`:${wire}`))
  return {
    ...endpoint,
    ...request,
    path,
    schema: input,
    types: null,
    location: null,
    convert: null,
    isLongPoll: (isLongPoll as Route['isLongPoll'] | undefined) ?? (() => false),
    names: Object.fromEntries(all.map(({ field, wire }) => [field, wire])),
    fields: all,
    payloadNames: new Set(payloadNames),
    namesByFoldedSpelling: new Map(payloadNames.map((wire) => [foldName(wire), wire])),
    response: shape('The response.', {
      status: constant('Marks a success.', 'success'),
      ...response,
    }) as Shape<unknown>,
  }
}

function toRouteField(field: string, input: RestInputField) {
  const options = typeof input === 'string' ? { description: input } : input
  const { name: wire = snakeCase(field), read = identity, acceptsNumber = false, ...schema } = options
  return { field, wire, read, acceptsNumber, schema: schema as JsonSchema }
}

function identity(value: unknown): unknown {
  return value
}

export type RequestParts = {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly bodyText: string | null
}

/**
 * Ignores unknown field names. A misspelt field name in the body is an error, because ignoring `customerId` would act
 * for the wrong owner (ruling 13).
 *
 * @param headerErrors errors of the headers, which are reported together with the errors of the fields
 * @param onIgnored called with the ignored names of a body, before any error is thrown (ruling 103)
 * @throws DomainError INVALID_INPUT with all errors of the request (ruling 3), also if the body is not an object or a
 *   query parameter is repeated
 */
export function unpackInput(
  route: Route,
  { params, query, body, bodyText }: RequestParts,
  { headerErrors, onIgnored }: { headerErrors: readonly FieldError[]; onIgnored: (names: readonly string[]) => void },
): Record<string, unknown> {
  const { method, schema, fields, names } = route
  const isQuery = method === 'GET'
  const source = isQuery ? asRecord(query) : bodyFields(body)
  const inPath = asRecord(params)

  const input: Record<string, unknown> = {}
  for (const { field, wire, read, acceptsNumber } of fields) {
    const from = Object.hasOwn(inPath, wire) ? inPath : source
    if (!Object.hasOwn(from, wire)) continue
    const value = from[wire]
    const isLiteral = acceptsNumber && typeof value === 'number' && bodyText !== null
    input[field] = isLiteral ? numberLiteral(bodyText, wire) : read(value)
  }
  const nameErrors = isQuery ? repeatedParameters(route, source) : unknownFields(route, source, onIgnored)
  const errors = [...headerErrors, ...nameErrors]
  if (errors.length > 0) throw invalidInput([...errors, ...findOtherFieldErrors(schema, input, { names, errors })])
  return input
}

/** @param otherMembers the members of the body that are not fields of the endpoint */
export function convertInput(
  { convert, names, writeOperation }: Route,
  sent: Record<string, unknown>,
  otherMembers: Readonly<Record<string, unknown>>,
): ConvertedInput {
  if (convert === null) return { input: sent, names, errors: [] }
  const converted = convert(sent, otherMembers)
  if (converted.errors.length === 0 || writeOperation === null) return converted
  // Ruling 3.
  return {
    ...converted,
    errors: [...converted.errors, ...findFieldErrors(writeOperation.declaration.input, converted.input)],
  }
}

/** Does not report a field as missing if its name is misspelt. */
function findOtherFieldErrors(
  schema: z.ZodType,
  input: object,
  { names, errors }: { names: FieldNames; errors: readonly FieldError[] },
): FieldError[] {
  const reported = errors.map(({ field }) => foldName(field))
  return findFieldErrors(schema, input)
    .map((error) => ({ ...error, field: externalFieldName(error.field, names) }))
    .filter(({ field }) => !reported.includes(foldName(field)))
}

function bodyFields(body: unknown): Record<string, unknown> {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return asRecord(body)
  throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message: 'must be a JSON object' }])
}

function asRecord(value: unknown): Record<string, unknown> {
  return (value ?? {}) as Record<string, unknown>
}

function repeatedParameters({ payloadNames }: Route, query: Record<string, unknown>): FieldError[] {
  return [...payloadNames]
    .filter((wire) => Array.isArray(query[wire]))
    .map((wire) => ({ field: wire, code: 'INVALID_PARAMETER', message: 'must be given once' }))
}

function unknownFields(
  { payloadNames, namesByFoldedSpelling }: Route,
  body: Record<string, unknown>,
  onIgnored: (names: readonly string[]) => void,
): FieldError[] {
  const errors: FieldError[] = []
  const ignored: string[] = []
  for (const key of Object.keys(body)) {
    // Calling `foldName` for every name would more than double the loop's time.
    if (payloadNames.has(key)) continue
    const wire = namesByFoldedSpelling.get(foldName(key))
    if (wire === undefined) ignored.push(key)
    // Lists at most 20 misspelt names, because a body can have thousands.
    else if (errors.length < 20) {
      errors.push({ field: key, code: 'INVALID_PARAMETER', message: `is not a field: write ${wire}` })
    }
  }
  if (ignored.length > 0) onIgnored(ignored)
  return errors
}

function foldName(name: string): string {
  return name.toLowerCase().replace(/[_\-\s]/g, '')
}
