import type { z } from 'zod'
import type { Context } from '../context.ts'
import type { Names } from '../doors/refusal-text.ts'
import { nameOf } from '../doors/refusal-text.ts'
import type { FieldFault } from '../errors.ts'
import { invalidInput } from '../errors.ts'
import { faultsOf } from '../input.ts'
import type { Page } from '../lists/page.ts'
import { totalPages } from '../lists/page.ts'
import type { JsonSchema, Reference, Replayable, SchemasOf } from './reference.ts'
import { integer, object } from './reference.ts'

/** The wire name of each field of an operation's input: a field that the operation gains and this forgets won't compile. */
export type WireNames<Input> = { readonly [Field in keyof Required<Input>]: string }

/** One endpoint of the contract: `path` in Fastify's syntax, `status` that of a success. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly path: string
  /** The operation's own schema of its input. */
  readonly schema: z.ZodType
  readonly names: Names
  /** The wire names of the fields that the query or body carries; the others are in the path. */
  readonly carried: ReadonlySet<string>
  /** The same, each by its folded spelling. */
  readonly spellings: ReadonlyMap<string, string>
  readonly status: 200 | 201
  readonly reference: Reference
  readonly run: (context: Context, input: Record<string, unknown>) => Promise<Replayable>
}

/** Creations answer 201: the contract does not say, and the service that it describes does so (ruling 1). */
const created = 201

const route =
  (method: Route['method'], status: Route['status']) =>
  <Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    names: WireNames<z.input<Schema>>,
    reference: Reference<z.input<Schema>>,
    run: (context: Context, input: z.input<Schema>) => Promise<Replayable>,
  ): Route => {
    const carried = Object.values<string>(names).filter((wire) => !path.includes(`:${wire}`))
    return {
      method,
      path,
      schema,
      names,
      carried: new Set(carried),
      spellings: new Map(carried.map((wire) => [fold(wire), wire])),
      status,
      reference,
      // The operation itself parses what it is given, so an input that does not fit its type is refused there.
      run: (context, input) => run(context, input as z.input<Schema>),
    }
  }

export const get = route('GET', 200)
export const post = route('POST', created)
export const put = route('PUT', 200)
export const remove = route('DELETE', 200)

/** What an HTTP request carries, as the host parsed it. */
export type Parts = {
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
}

/**
 * The operation's input: fields in the path from there, the others from the query of a GET and the body of anything else.
 *
 * Unknown names are ignored, except in a body one that is a known name in another spelling: ignoring `customerId` would
 * act for the wrong owner (ruling 13).
 *
 * @param doorFaults what is wrong with the request beside its fields, to be reported with the rest
 * @throws Refusal INVALID_INPUT for such a name, for a query parameter given twice, and for a body that is no object;
 *   with them whatever else is wrong with the input in itself, so that all is reported at once (ruling 3)
 */
export function unpack(
  route: Route,
  { params, query, body }: Parts,
  doorFaults: readonly FieldFault[] = [],
): Record<string, unknown> {
  const { method, schema, names } = route
  const isQuery = method === 'GET'
  const source = isQuery ? asRecord(query) : bodyFields(body)
  const inPath = asRecord(params)

  const input: Record<string, unknown> = {}
  for (const field in names) {
    const wire = names[field] as string
    const from = Object.hasOwn(inPath, wire) ? inPath : source
    if (Object.hasOwn(from, wire)) input[field] = from[wire]
  }
  const faults = [...doorFaults, ...(isQuery ? repeatedParameters(route, source) : misspeltFields(route, source))]
  if (faults.length > 0) throw invalidInput([...faults, ...otherFaults(schema, input, { names, faults })])
  return input
}

/** What else is wrong, in the caller's names, but not that a field is missing which is there under another spelling. */
function otherFaults(
  schema: z.ZodType,
  input: object,
  { names, faults }: { names: Names; faults: readonly FieldFault[] },
): FieldFault[] {
  const spelt = faults.map(({ field }) => fold(field))
  return faultsOf(schema, input)
    .map((fault) => ({ ...fault, field: nameOf(fault.field, names) }))
    .filter(({ field }) => !spelt.includes(fold(field)))
}

/** The pagination object that every list has (contract 4). */
export function pagination({ total, page, limit }: Page<unknown>) {
  return { total, page, limit, totalPages: totalPages({ total, limit }) }
}

/** Its schema, with what a list has besides. */
export function paginationSchema(more: SchemasOf<Record<string, boolean>> = {}): JsonSchema {
  return object<ReturnType<typeof pagination>>('Where the page stands in the list.', {
    total: integer('How many the whole list has.', 1),
    page: integer('Which page this is, counted from 1.', 1),
    limit: integer('How many a page has at most.', 20),
    totalPages: integer('How many pages there are; 0 for an empty list.', 1),
    ...more,
  })
}

function bodyFields(body: unknown): Record<string, unknown> {
  if (body === undefined) return {}
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return asRecord(body)
  throw invalidInput([{ field: 'body', code: 'INVALID_FORMAT', message: 'must be a JSON object' }])
}

function asRecord(value: unknown): Record<string, unknown> {
  return (value ?? {}) as Record<string, unknown>
}

function repeatedParameters({ carried }: Route, query: Record<string, unknown>): FieldFault[] {
  return [...carried]
    .filter((wire) => Array.isArray(query[wire]))
    .map((wire) => ({ field: wire, code: 'INVALID_PARAMETER', message: 'must be given once' }))
}

function misspeltFields({ carried, spellings }: Route, body: Record<string, unknown>): FieldFault[] {
  const faults: FieldFault[] = []
  for (const key of Object.keys(body)) {
    // Asked first, because folding takes longer than all else here, and most names are spelt as they should be.
    const wire = carried.has(key) ? undefined : spellings.get(fold(key))
    if (wire === undefined) continue
    faults.push({ field: key, code: 'INVALID_PARAMETER', message: `is not a field: write ${wire}` })
    // A body may hold thousands of spellings of one name; the answer need not.
    if (faults.length === 20) break
  }
  return faults
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[_\-\s]/g, '')
}
