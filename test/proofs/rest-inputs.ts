import * as fc from 'fast-check'
import { z } from 'zod'
import type { Route } from '../../src/rest/route.ts'
import { bankMethodBody, payoutBody, walletMethodBody } from '../support/bodies.ts'
import type { Frame } from './hostile.ts'
import { hostileFrame, hostileJson, hostileText } from './hostile.ts'

/** A request with invalid parts, and the fields that its error may name. */
export type RestInput = {
  readonly method: string
  readonly url: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | undefined
  /** Names that an error may mention: the endpoint's fields and the names in the request. */
  readonly names: readonly string[]
  /** The single invalid field of an otherwise valid request; `null` if there is not exactly one. */
  readonly spoilt: string | null
}

/** Ids of the merchant's objects, by the parameter name of the endpoint. */
export type Ids = Readonly<Record<'customer' | 'payout_method' | 'wallet' | 'webhook', readonly string[]>>

/**
 * Requests to an endpoint: valid ones with one or several hostile fields, and sometimes a hostile request as a whole.
 */
export function restInputs(route: Route, ids: Ids): fc.Arbitrary<RestInput> {
  const valid = validFields(route, ids)
  const fields = Object.entries(route.names).map(([field, wire]) => ({ wire, json: jsonOf(fieldSchema(route, field)) }))
  const spoiling = fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 6, arbitrary: fc.subarray(fields, { minLength: 1, maxLength: 1 }) },
    { weight: 3, arbitrary: fc.subarray(fields) },
  )
  const spoilt = spoiling.chain((chosen) =>
    fc.tuple(...chosen.map(({ wire, json }) => fc.tuple(fc.constant(wire), json))),
  )
  return fc
    .record({ spoilt, valid, others: otherMembers(route), frame: hostileFrame, isLast: fc.boolean() })
    .map((drawn) => requestOf(route, drawn))
}

type Member = readonly [name: string, json: string | null]

type Drawn = {
  readonly spoilt: readonly Member[]
  readonly valid: Readonly<Record<string, string>>
  readonly others: readonly Member[]
  readonly frame: Frame
  readonly isLast: boolean
}

function requestOf(route: Route, { spoilt, valid, others, frame, isLast }: Drawn): RestInput {
  const fields = new Map<string, string | null>([...Object.entries(valid).map(quoted), ...spoilt])
  const inPath = (name: string) => route.path.includes(`:${name}`)
  const carried = [...fields].filter(([name]) => !inPath(name))
  // A duplicate name: parsers take the last value, so each position holds another value.
  const members = isLast ? [...carried, ...others] : [...others, ...carried]
  const present = members.filter((member): member is [string, string] => member[1] !== null)
  const isQuery = route.method === 'GET'
  const path = route.path.replace(/:(\w+)/g, (_, name) => pathText(fields.get(name) ?? '""'))
  const query =
    isQuery && present.length > 0
      ? `?${present.map(([name, json]) => `${encoded(name)}=${queryText(json)}`).join('&')}`
      : ''
  const [only] = spoilt
  const isPlain = Object.keys(frame).length === 0 && others.length === 0
  return {
    method: frame.method ?? route.method,
    url: path + query,
    contentType: frame.contentType ?? 'application/json',
    headers: frame.headers ?? {},
    body: isQuery
      ? undefined
      : (frame.body ?? cut(`{${present.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join()}}`, frame.cut)),
    names: [...Object.values(route.names), ...present.map(([name]) => name), 'body', 'Idempotency-Key'],
    spoilt: isPlain && only && spoilt.length === 1 && !inPath(only[0]) && isFaulty(route, only) ? only[0] : null,
  }
}

/** Whether this value alone is invalid, by the field's own schema; broken JSON invalidates the whole body. */
function isFaulty(route: Route, [wire, json]: Member): boolean {
  const field = Object.keys(route.names).find((name) => route.names[name] === wire) as string
  try {
    // A query string has texts only.
    const sent = json !== null && route.method === 'GET' ? JSON.stringify(decoded(queryText(json))) : json
    const value: unknown = sent === null ? undefined : JSON.parse(sent)
    const isLiteral =
      typeof value === 'number' && route.fields.some((each) => each.field === field && each.acceptsNumber)
    return !z.safeParse(fieldSchema(route, field), isLiteral ? json?.trim() : value).success
  } catch {
    return false
  }
}

/** Additional members of a body: names with a meaning in JavaScript, duplicate names, other spellings of names. */
function otherMembers(route: Route): fc.Arbitrary<readonly Member[]> {
  const wires = Object.values(route.names)
  const name = fc.oneof(
    fc.constantFrom(
      '__proto__',
      'constructor',
      'prototype',
      'toString',
      'then',
      'toJSON',
      '',
      '0',
      '\0',
      '\ud800',
      'é',
    ),
    fc.constantFrom(...wires),
    fc.constantFrom(...wires).map((wire) => wire.toUpperCase()),
    fc.constantFrom(...wires).map((wire) => wire.replace(/_(\w)/g, (_, letter) => letter.toUpperCase())),
    hostileText,
  )
  const member = fc.tuple(name, hostileJson)
  return fc.oneof(
    { weight: 40, arbitrary: fc.constant([]) },
    { weight: 10, arbitrary: fc.array(member, { minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.constant(Array.from({ length: 5_000 }, (_, i): Member => [`a${i}`, '1'])) },
  )
}

/** The parts of a valid request, although the objects that it names may be deleted by now. */
function validFields({ method, path, names }: Route, ids: Ids): fc.Arbitrary<Record<string, string>> {
  const wires = Object.values(names)
  const body = method === 'GET' ? {} : validBodies[path]
  const named = Object.fromEntries(
    wires.flatMap((wire) => {
      const known = ids[wire.replace(/_?[iI]d$/, '') as keyof Ids]
      // Only the last one is ever deleted, so that others remain for updates.
      return known ? [[wire, fc.constantFrom(...(method === 'DELETE' ? known.slice(-1) : known.slice(0, -1)))]] : []
    }),
  )
  // A queried object must exist; half of the requests omit the owner, because the merchant can be one too.
  const requiredKeys = Object.keys(named).filter((wire) => path.includes(`:${wire}`))
  return fc.record(named, { requiredKeys }).map((chosen) => ({ ...body, ...(chosen as Record<string, string>) }))
}

/** Bodies of endpoints that create objects, by path; an update may omit every field. */
export const validBodies: Readonly<Record<string, Record<string, string>>> = {
  '/api/payout/methods/banks': bankMethodBody,
  '/api/payout/methods/wallets': walletMethodBody,
  '/api/payouts/banks': { ...payoutBody, amount: '0.01' },
  '/api/webhooks': { url: 'https://example.com/webhooks', description: 'Proof' },
  '/api/wallets': { currency: 'USDC', network: 'erc20', description: 'Proof' },
}

function fieldSchema({ schema, path }: Route, field: string): z.core.$ZodType {
  const { def } = schema._zod
  const fieldSchema = def.type === 'object' ? (def as z.core.$ZodObjectDef).shape[field] : undefined
  if (!fieldSchema) throw new Error(`the schema of ${path} has no field ${field}`)
  return fieldSchema
}

/**
 * JSON for a field by its schema, including strings and lists of values, or hostile JSON, or `null` for an absent
 * field.
 */
function jsonOf(schema: z.core.$ZodType): fc.Arbitrary<string | null> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 3, arbitrary: valuesOf(schema).map((value) => JSON.stringify(value) ?? 'null') },
    { weight: 6, arbitrary: hostileJson },
  )
}

/** Values of the type that a schema accepts, valid or invalid. */
function valuesOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = schema._zod as unknown as { def: KnownDef }
  switch (def.type) {
    case 'pipe':
      // A transform accepts any input; the schema after it determines the type.
      return valuesOf(def.in._zod.def.type === 'transform' ? def.out : def.in)
    case 'default':
    case 'optional':
    case 'nullable':
      return fc.option(valuesOf(def.innerType), { freq: 8 })
    case 'enum': {
      const value = fc.constantFrom(...Object.values(def.entries))
      return fc.oneof(
        value,
        value.map((text) => text.toLowerCase()),
        value.map((text) => `${text} `),
      )
    }
    case 'string':
      return hostileText
    case 'array':
      return fc.array(valuesOf(def.element), { maxLength: 4 })
    case 'record':
      return fc.dictionary(hostileText, valuesOf(def.valueType), { maxKeys: 4 })
    case 'boolean':
      return fc.boolean()
    case 'number':
      return fc.oneof(fc.maxSafeInteger(), fc.nat(200), fc.double())
    case 'custom':
    case 'unknown':
      return fc.oneof(fc.integer(), fc.integer().map(String), hostileText)
  }
  throw new Error(`no values are known for a schema of ${(def as z.core.$ZodTypeDef).type}`)
}

/** The parts of the endpoints' schemas. */
type KnownDef =
  | { readonly type: 'pipe'; readonly in: z.core.$ZodType; readonly out: z.core.$ZodType }
  | { readonly type: 'default' | 'optional' | 'nullable'; readonly innerType: z.core.$ZodType }
  | { readonly type: 'enum'; readonly entries: Readonly<Record<string, string>> }
  | { readonly type: 'array'; readonly element: z.core.$ZodType }
  | { readonly type: 'record'; readonly valueType: z.core.$ZodType }
  | { readonly type: 'string' | 'boolean' | 'number' | 'custom' | 'unknown' }

function quoted([name, text]: [string, string]): [string, string] {
  return [name, JSON.stringify(text)]
}

/** A value in a query string: a string as it is, anything else as JSON. */
function queryText(json: string): string {
  return encoded(textOf(json)).slice(0, 20_000)
}

/** A non-empty path segment, sometimes with invalid escapes. */
function pathText(json: string): string {
  const text = textOf(json).slice(0, 20_000)
  return text.startsWith('%') ? text : encoded(text) || '%20'
}

function textOf(json: string): string {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'string' ? value : json
  } catch {
    return json
  }
}

/** Percent-encodes a string; a lone surrogate has no encoding, and gets the bytes that careless programs send. */
function encoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return '%ED%A0%80'
  }
}

/** Decodes a value of a query string as the service does. A value with an invalid encoding stays unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** A body without the fraction `part` at its end. */
export function cut(body: string, part = 0): string {
  return part === 0 ? body : body.slice(0, Math.floor(body.length * (1 - part)))
}
