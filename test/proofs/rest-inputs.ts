import * as fc from 'fast-check'
import { z } from 'zod'
import type { Route } from '../../src/rest/route.ts'
import { bankMethodBody, payoutBody, walletMethodBody } from '../support/bodies.ts'
import type { Frame } from './hostile.ts'
import { hostileFrame, hostileJson, hostileText } from './hostile.ts'

/** A request to an endpoint that has something wrong with it, and what can be said of that. */
export type RestInput = {
  readonly method: string
  readonly url: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | undefined
  /** The names that a refusal may give: those that the endpoint knows, and those that were sent. */
  readonly names: readonly string[]
  /** The one field that is wrong with an otherwise valid request; `null` when there is not exactly one. */
  readonly spoilt: string | null
}

/** Ids of things that the merchant has, by the name under which an endpoint takes them. */
export type Ids = Readonly<Record<'customer' | 'payout_method' | 'wallet' | 'webhook', readonly string[]>>

/** Requests to an endpoint: valid ones, of which one field or several and now and then the whole are made hostile. */
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
  // A name that comes twice: the last one counts, so each place says something else.
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

/** Whether this value alone is wrong, by the field's own schema; broken JSON is wrong with the whole body. */
function isFaulty(route: Route, [wire, json]: Member): boolean {
  const field = Object.keys(route.names).find((name) => route.names[name] === wire) as string
  try {
    const value: unknown = json === null ? undefined : JSON.parse(json)
    return !z.safeParse(fieldSchema(route, field), value).success
  } catch {
    return false
  }
}

/** What a body may hold beside the fields: names that mean something to JavaScript, names twice, spellings of names. */
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

/** The texts of a request that nothing is wrong with, but that what it names may be gone by now. */
function validFields({ method, path, names }: Route, ids: Ids): fc.Arbitrary<Record<string, string>> {
  const wires = Object.values(names)
  const body = method === 'GET' ? {} : validBodies[path]
  const named = Object.fromEntries(
    wires.flatMap((wire) => {
      const known = ids[wire.replace(/_?[iI]d$/, '') as keyof Ids]
      // Only the last is ever deleted, so that there are others to change.
      return known ? [[wire, fc.constantFrom(...(method === 'DELETE' ? known.slice(-1) : known.slice(0, -1)))]] : []
    }),
  )
  // Of whom something is asked must be there; an owner is left out as often, because the merchant is one too.
  const requiredKeys = Object.keys(named).filter((wire) => path.includes(`:${wire}`))
  return fc.record(named, { requiredKeys }).map((chosen) => ({ ...body, ...(chosen as Record<string, string>) }))
}

/** By path, the bodies of what makes something; an update may leave out everything. */
export const validBodies: Readonly<Record<string, Record<string, string>>> = {
  '/api/payout/methods/banks': bankMethodBody,
  '/api/payout/methods/wallets': walletMethodBody,
  '/api/payouts/banks': { ...payoutBody, amount: '0.01' },
  '/api/webhooks': { url: 'https://example.com/webhooks', description: 'Proof' },
  '/api/wallets': { currency: 'USDC', network: 'erc20', description: 'Proof' },
}

function fieldSchema({ schema, path }: Route, field: string): z.core.$ZodType {
  const { def } = schema._zod
  const found = def.type === 'object' ? (def as z.core.$ZodObjectDef).shape[field] : undefined
  if (!found) throw new Error(`the schema of ${path} has no field ${field}`)
  return found
}

/** JSON for a field as its schema has it, texts and lists of values among them, or hostile, or `null` for none at all. */
function jsonOf(schema: z.core.$ZodType): fc.Arbitrary<string | null> {
  return fc.oneof(
    { weight: 1, arbitrary: fc.constant(null) },
    { weight: 3, arbitrary: valuesOf(schema).map((value) => JSON.stringify(value) ?? 'null') },
    { weight: 6, arbitrary: hostileJson },
  )
}

/** Values of the type that a schema takes, right or wrong in themselves. */
function valuesOf(schema: z.core.$ZodType): fc.Arbitrary<unknown> {
  const { def } = schema._zod as unknown as { def: KnownDef }
  switch (def.type) {
    case 'pipe':
      // What is transformed first takes anything; the schema behind it says what should come.
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

/** What the endpoints' schemas are made of. */
type KnownDef =
  | { readonly type: 'pipe'; readonly in: z.core.$ZodType; readonly out: z.core.$ZodType }
  | { readonly type: 'default' | 'optional' | 'nullable'; readonly innerType: z.core.$ZodType }
  | { readonly type: 'enum'; readonly entries: Readonly<Record<string, string>> }
  | { readonly type: 'array'; readonly element: z.core.$ZodType }
  | { readonly type: 'string' | 'boolean' | 'number' | 'custom' | 'unknown' }

function quoted([name, text]: [string, string]): [string, string] {
  return [name, JSON.stringify(text)]
}

/** A value as a query carries it: a text as it is, anything else as JSON. */
function queryText(json: string): string {
  return encoded(textOf(json)).slice(0, 20_000)
}

/** A text that is not empty as a path carries it, some with escapes that stand for nothing. */
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

/** Percent-encoded; half a surrogate pair has no encoding, and gets the bytes that careless programs give it. */
function encoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    return '%ED%A0%80'
  }
}

/** A body without the share `part` at its end. */
export function cut(body: string, part = 0): string {
  return part === 0 ? body : body.slice(0, Math.floor(body.length * (1 - part)))
}
