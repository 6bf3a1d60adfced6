import type { z } from 'zod'
import type { FieldNames } from '../core/api/error-message.ts'
import { externalFieldName } from '../core/api/error-message.ts'
import type { ErrorCode, FieldError } from '../core/errors.ts'
import { invalidInput } from '../core/errors.ts'
import { findFieldErrors } from '../core/input.ts'
import { numberLiteral } from '../core/net/json-text.ts'
import { snakeCase } from '../database/tables.ts'
import type { Context, IdempotentResult, Operation } from '../operations/context.ts'
import type { JsonSchema, RestInputField, RestInputFields } from './input-fields.ts'
import type { Shape, ShapeMember } from './shape.ts'
import { constant, shape } from './shape.ts'

/** What an endpoint is beside its method and path: an operation, what it takes and answers, and what is said of all that. */
export type RestEndpoint<Schema extends z.ZodType, Result, Answered = Result> = {
  /** The name that programs know it by. */
  readonly name: string
  /** What it does, in a few words. */
  readonly title: string
  readonly description: string
  /** The operation's own schema of its input, or what of it the endpoint takes. */
  readonly input: Schema
  readonly operation: Operation<z.input<Schema>, Answered>
  readonly fields: RestInputFields<z.input<Schema>>
  /** An input that is answered with success. */
  readonly example: Partial<z.input<Schema>>
  /** What the operation itself can refuse with, beside what the door does for every endpoint of its method. */
  readonly errors: readonly ErrorCode[]
  readonly response: ResponseMembers<Result>
  /** Whether the answer to such an input may be held until something happens: then it counts among the merchant's streams. */
  readonly isLongPoll?: (input: z.input<Schema>) => boolean
}

/** Fields that an input does not have are none. */
type ExactFields<Input, Fields> = Fields & { readonly [Field in Exclude<keyof Fields, keyof Input>]: never }

/** What is answered besides `status`, in this order (ruling 1). */
type ResponseMembers<Result> = { readonly [Part in 'message' | 'data' | 'pagination']?: ShapeMember<Result> }

/** One endpoint: `path` in Fastify's syntax, `status` that of a success. */
export type Route = Pick<RestEndpoint<z.ZodType, unknown>, 'name' | 'title' | 'description' | 'errors'> & {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  readonly status: 200 | 201
  readonly schema: z.ZodType
  readonly example: Readonly<Record<string, unknown>>
  /** The wire name of each field of the input. */
  readonly names: FieldNames
  readonly fields: readonly RouteField[]
  /** The wire names of the fields that the query or body carries; the others are in the path. */
  readonly payloadNames: ReadonlySet<string>
  /** The same, each by its folded spelling. */
  readonly namesByFoldedSpelling: ReadonlyMap<string, string>
  readonly run: (context: Context, input: Record<string, unknown>) => Promise<IdempotentResult<unknown>>
  /** The operation that it has performed, where it writes. */
  readonly writeOperation: Operation<never, IdempotentResult<unknown>> | null
  readonly response: Shape<unknown>
  /** The media types that it answers in where that is a file, in the place of JSON; its result is a `Download` then. */
  readonly types: readonly string[] | null
  readonly isLongPoll: (input: Record<string, unknown>) => boolean
}

/** A file that is written while it is read: its media type, what to call it, and its text, some at a time. */
export type Download = { readonly type: string; readonly name: string; readonly chunks: AsyncIterable<string> }

/** The endpoints of a noun, under the heading by which they are read about. */
export type RouteGroup = { readonly name: string; readonly description: string; readonly routes: readonly Route[] }

/** A field of the input: its name there and on the wire, what is said of it beyond its schema, and what reads its value. */
type RouteField = ReturnType<typeof toRouteField>

/** Creations answer 201, but for payouts: the contract does not say, and the service that it describes does so (ruling 1). */
const createdStatus = 201

/** An endpoint that reads, which it does here. */
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

/** An endpoint that answers with a file, of one of some media types. */
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
  <Schema extends z.ZodType, Result, Fields extends RestInputFields<z.input<Schema>>>(
    path: string,
    {
      operation,
      ...endpoint
    }: RestEndpoint<Schema, Result, IdempotentResult<Result>> & { fields: ExactFields<z.input<Schema>, Fields> },
  ): Route => {
    const run: Route['run'] = (context, input) => context.perform(operation, context, input as z.input<Schema>)
    return createRoute({ method, status, path, run, writeOperation: operation }, endpoint)
  }

export const post = createWriteRouteBuilder('POST', createdStatus)
/** A POST that makes nothing of its own, or a payout. */
export const postAction = createWriteRouteBuilder('POST', 200)
export const put = createWriteRouteBuilder('PUT', 200)
export const remove = createWriteRouteBuilder('DELETE', 200)

/** The operation itself parses what it is given, so an input that does not fit its type is refused there. */
function createRoute<Schema extends z.ZodType, Result>(
  { path, ...own }: Pick<Route, 'method' | 'status' | 'path' | 'run' | 'writeOperation'>,
  { input, fields, response: answer, isLongPoll: isHeld, ...endpoint }: Omit<RestEndpoint<Schema, Result>, 'operation'>,
): Route {
  const all = Object.entries<RestInputField>(fields).map(([field, said]) => toRouteField(field, said))
  const carried = all.map(({ wire }) => wire).filter((wire) => !path.includes(`:${wire}`))
  return {
    ...endpoint,
    ...own,
    path,
    schema: input,
    types: null,
    isLongPoll: (isHeld as Route['isLongPoll'] | undefined) ?? (() => false),
    names: Object.fromEntries(all.map(({ field, wire }) => [field, wire])),
    fields: all,
    payloadNames: new Set(carried),
    namesByFoldedSpelling: new Map(carried.map((wire) => [foldName(wire), wire])),
    response: shape('The answer.', {
      status: constant('Says that it is a success.', 'success'),
      ...answer,
    }) as Shape<unknown>,
  }
}

function toRouteField(field: string, given: RestInputField) {
  const special = typeof given === 'string' ? { description: given } : given
  const { name: wire = snakeCase(field), read = identity, acceptsNumber: takesNumber = false, ...said } = special
  return { field, wire, read, takesNumber, said: said as JsonSchema }
}

function identity(given: unknown): unknown {
  return given
}

/** What an HTTP request carries, as the host parsed it. */
export type RequestParts = {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly bodyText: string | null
}

/**
 * The operation's input: fields in the path from there, the others from the query of a GET and the body of anything else.
 *
 * Unknown names are ignored, except in a body one that is a known name in another spelling: ignoring `customerId` would
 * act for the wrong owner (ruling 13). Those of a body are named to the caller, whatever the answer will be (ruling 103).
 *
 * @param doorFaults what is wrong with the request beside its fields, to be reported with the rest
 * @param onIgnored is called before anything is thrown, where a body has names that are ignored
 * @throws Refusal INVALID_INPUT for such a name, for a query parameter given twice, and for a body that is no object;
 *   with them whatever else is wrong with the input in itself, so that all is reported at once (ruling 3)
 */
export function unpackInput(
  route: Route,
  { params, query, body, bodyText }: RequestParts,
  { doorFaults, onIgnored }: { doorFaults: readonly FieldError[]; onIgnored: (names: readonly string[]) => void },
): Record<string, unknown> {
  const { method, schema, fields, names } = route
  const isQuery = method === 'GET'
  const source = isQuery ? asRecord(query) : bodyFields(body)
  const inPath = asRecord(params)

  const input: Record<string, unknown> = {}
  for (const { field, wire, read, takesNumber } of fields) {
    const from = Object.hasOwn(inPath, wire) ? inPath : source
    if (!Object.hasOwn(from, wire)) continue
    const given = from[wire]
    const isLiteral = takesNumber && typeof given === 'number' && bodyText !== null
    input[field] = isLiteral ? numberLiteral(bodyText, wire) : read(given)
  }
  const faultsOfNames = isQuery ? repeatedParameters(route, source) : unknownFields(route, source, onIgnored)
  const faults = [...doorFaults, ...faultsOfNames]
  if (faults.length > 0) throw invalidInput([...faults, ...findOtherFieldErrors(schema, input, { names, faults })])
  return input
}

/** What else is wrong, in the caller's names, but not that a field is missing which is there under another spelling. */
function findOtherFieldErrors(
  schema: z.ZodType,
  input: object,
  { names, faults }: { names: FieldNames; faults: readonly FieldError[] },
): FieldError[] {
  const spelt = faults.map(({ field }) => foldName(field))
  return findFieldErrors(schema, input)
    .map((fault) => ({ ...fault, field: externalFieldName(fault.field, names) }))
    .filter(({ field }) => !spelt.includes(foldName(field)))
}

function bodyFields(body: unknown): Record<string, unknown> {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return asRecord(body)
  throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message: 'must be a JSON object' }])
}

function asRecord(value: unknown): Record<string, unknown> {
  return (value ?? {}) as Record<string, unknown>
}

function repeatedParameters({ payloadNames: carried }: Route, query: Record<string, unknown>): FieldError[] {
  return [...carried]
    .filter((wire) => Array.isArray(query[wire]))
    .map((wire) => ({ field: wire, code: 'INVALID_PARAMETER', message: 'must be given once' }))
}

/** What is misspelt; the other names that are not known are passed to `onIgnored`. */
function unknownFields(
  { payloadNames: carried, namesByFoldedSpelling: spellings }: Route,
  body: Record<string, unknown>,
  onIgnored: (names: readonly string[]) => void,
): FieldError[] {
  const faults: FieldError[] = []
  const ignored: string[] = []
  for (const key of Object.keys(body)) {
    // Asked first, because folding takes longer than all else here, and most names are spelt as they should be.
    if (carried.has(key)) continue
    const wire = spellings.get(foldName(key))
    if (wire === undefined) ignored.push(key)
    // A body may hold thousands of spellings of one name; the answer need not.
    else if (faults.length < 20) {
      faults.push({ field: key, code: 'INVALID_PARAMETER', message: `is not a field: write ${wire}` })
    }
  }
  if (ignored.length > 0) onIgnored(ignored)
  return faults
}

function foldName(name: string): string {
  return name.toLowerCase().replace(/[_\-\s]/g, '')
}
