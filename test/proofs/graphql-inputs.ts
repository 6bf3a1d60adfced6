import * as fc from 'fast-check'
import type { GraphQLArgument, GraphQLField, GraphQLInputField, GraphQLInputType, GraphQLSchema } from 'graphql'
import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isUnionType,
} from 'graphql'
import { toGlobalId } from '../../src/graphql/schema/global-ids.ts'
import { hostileFrame, hostileJson, hostileText } from './hostile.ts'
import { cut } from './rest-inputs.ts'

/** A GraphQL request with invalid parts, and the fields that its error may name. */
export type GraphqlInput = {
  readonly method: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
  /** Names that an error may mention: arguments and input fields of the schema, and the request's parts. */
  readonly names: ReadonlySet<string>
  /** Whether the document is valid, and therefore selects the fields of an error. */
  readonly asksForFields: boolean
}

/** The merchant's objects: their schema type and their UUID. */
export type Things = readonly { readonly type: string; readonly uuid: string }[]

/** Requests for every field with arguments, most with hostile values in valid ones, some with a hostile document. */
export function graphqlInputs(schema: GraphQLSchema, things: Things): fc.Arbitrary<GraphqlInput> {
  const names = new Set([...inputNames(schema), 'query', 'variables', 'operationName', 'extensions', 'body'])
  // Destructive fields get few objects, so that others remain.
  const few = things.filter((_, i) => i % 8 === 0)
  const requests = fieldsWithArguments(schema).map((each) =>
    requestFor(each, /^(close|delete)/.test(each.field.name) ? few : things),
  )
  return fc
    .record({ asked: fc.oneof(...requests), frame: hostileFrame, parameters: hostileParameters })
    .map(({ asked, frame, parameters }) => ({
      method: frame.method ?? 'POST',
      contentType: frame.contentType ?? 'application/json',
      headers: frame.headers ?? {},
      body: frame.body ?? cut(bodyOf({ ...asked.parameters, ...parameters }), frame.cut),
      names,
      asksForFields: asked.isWhole && !('query' in parameters),
    }))
}

/** The members of a request as JSON. */
type Parameters = Readonly<Record<string, string>>

function bodyOf(parameters: Parameters): string {
  return `{${Object.entries(parameters)
    .map(([name, json]) => `${JSON.stringify(name)}:${json}`)
    .join()}}`
}

/** Nothing, most of the time, or hostile JSON that replaces a part of the request. */
const hostileParameters: fc.Arbitrary<Parameters> = fc.oneof(
  { weight: 30, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('query', 'operationName', 'variables', 'extensions', '__proto__', 'id'), hostileJson)
      .map(([name, json]) => ({ [name]: json })),
  },
)

/** A field with arguments, its operation type, and its object if it is not a root field. */
export type FieldTarget = {
  readonly field: GraphQLField<unknown, unknown>
  readonly operation: string
  readonly on: string | null
}

/** Every field with arguments: root fields, and those of an object that is reached by its id. */
export function fieldsWithArguments(schema: GraphQLSchema): FieldTarget[] {
  const roots = [
    ['query', schema.getQueryType()],
    ['mutation', schema.getMutationType()],
    ['subscription', schema.getSubscriptionType()],
  ] as const
  const ofRoots = roots.flatMap(([operation, type]) =>
    Object.values(type?.getFields() ?? {}).map((field) => ({ field, operation, on: null })),
  )
  const node = schema.getType('Node')
  const types = isInterfaceType(node) ? schema.getPossibleTypes(node) : []
  const ofThings = types.flatMap((type) =>
    Object.values(type.getFields()).map((field) => ({ field, operation: 'query', on: type.name })),
  )
  return [...ofRoots, ...ofThings].filter(({ field }) => field.args.length > 0)
}

/** Every name of an argument or an input field. */
function inputNames(schema: GraphQLSchema): string[] {
  return Object.values(schema.getTypeMap()).flatMap((type) => {
    if (isInputObjectType(type)) return Object.keys(type.getFields())
    if (!isObjectType(type)) return []
    return Object.values(type.getFields()).flatMap(({ args }) => args.map(({ name }) => name))
  })
}

/** A request for one field, with its arguments as variables. */
function requestFor({ field, operation, on }: FieldTarget, things: Things) {
  const query = documentFor({ field, operation, on })
  const values = fc.record(Object.fromEntries(field.args.map((arg) => [arg.name, valuesFor(arg, things)])), {
    requiredKeys: field.args.filter(isRequired).map(({ name }) => name),
  })
  const thing = on === null ? fc.constant({}) : idOf(on, things).map((id) => ({ thing: id }))
  const spoils = fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 6, arbitrary: fc.array(spoil, { minLength: 1, maxLength: 1 }) },
    { weight: 3, arbitrary: fc.array(spoil, { minLength: 1, maxLength: 6 }) },
  )
  return fc.record({ values, thing, spoils, sent: hostileDocument(query) }).map(({ values, thing, spoils, sent }) => ({
    parameters: { query: JSON.stringify(sent), variables: spoiltJson({ ...values, ...thing }, spoils) },
    isWhole: sent === query,
  }))
}

/** A document that selects the field, with every argument from a variable of the same name. */
export function documentFor({ field, operation, on }: FieldTarget): string {
  const given = [...field.args.map(({ name, type }) => `$${name}: ${type}`), ...(on === null ? [] : ['$thing: ID!'])]
  const args = field.args.map(({ name }) => `${name}: $${name}`).join(', ')
  const selection = `${field.name}(${args})${selectionOf(field)}`
  const inner = on === null ? selection : `node(id: $thing) {... on ${on} {${selection}}}`
  return `${operation} (${given.join(', ')}) {${inner}}`
}

function selectionOf({ type }: GraphQLField<unknown, unknown>): string {
  const named = getNamedType(type)
  if (isLeafType(named)) return ''
  if (isUnionType(named) && named.getTypes().some(({ name }) => name === 'InvalidInputError')) {
    return ' {__typename ... on UserError {code} ... on InvalidInputError {fields {field}}}'
  }
  return named.name.endsWith('Connection') ? ' {totalCount nodes {__typename}}' : ' {__typename}'
}

/** A document, unchanged most of the time, or truncated, or with an insertion. */
function hostileDocument(query: string): fc.Arbitrary<string> {
  const place = fc.nat(query.length)
  const inserted = fc.oneof(
    hostileText,
    fc.constantFrom('{', '}', '(', ')', '...', '@skip(if: true)', '$x', '"""', '#', '\ud800'),
  )
  return fc.oneof(
    { weight: 20, arbitrary: fc.constant(query) },
    { weight: 1, arbitrary: place.map((at) => query.slice(0, at)) },
    {
      weight: 1,
      arbitrary: fc.tuple(place, inserted).map(([at, text]) => query.slice(0, at) + text + query.slice(at)),
    },
  )
}

/** A hostile value and its position: which value it replaces, or joins under another name. */
type Spoil = { readonly place: number; readonly json: string; readonly name: string | null }

const spoil: fc.Arbitrary<Spoil> = fc.record({
  place: fc.nat(),
  json: hostileJson,
  name: fc.oneof(
    { weight: 8, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', ''), hostileText) },
  ),
})

/** The values as JSON, with hostile JSON in some positions. */
function spoiltJson(values: object, spoils: readonly Spoil[]): string {
  const places: { holder: Record<string, unknown>; name: string }[] = []
  const copy = structuredClone(values) as Record<string, unknown>
  const collect = (holder: Record<string, unknown>) => {
    for (const [name, value] of Object.entries(holder)) {
      places.push({ holder, name })
      if (typeof value === 'object' && value !== null) collect(value as Record<string, unknown>)
    }
  }
  collect(copy)
  for (const [i, { place, name }] of spoils.entries()) {
    const chosen = places[place % places.length]
    if (!chosen) continue
    const { holder } = chosen
    // A JSON list has no names.
    const spoilt = Array.isArray(holder) ? chosen.name : (name ?? chosen.name)
    // Uses defineProperty, because `__proto__` may be the name.
    Object.defineProperty(holder, spoilt, { value: mark(i), enumerable: true, configurable: true, writable: true })
  }
  return spoils.reduce((text, { json }, i) => text.replace(`"${mark(i)}"`, () => json), JSON.stringify(copy))
}

function mark(i: number): string {
  return `the ${i}th place`
}

/** Valid values for an argument or an input field; ids and codes belong to existing objects. */
function valuesFor(
  input: GraphQLArgument | GraphQLInputField,
  things: Things,
  type = input.type,
): fc.Arbitrary<unknown> {
  if (isNonNullType(type)) return valuesFor(input, things, type.ofType)
  if (isListType(type)) return fc.array(valuesFor(input, things, type.ofType), { maxLength: 4 })
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map(({ name }) => name))
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields())
    if (type.isOneOf) return fc.oneof(...fields.map((field) => fc.record({ [field.name]: valuesFor(field, things) })))
    return fc.record(Object.fromEntries(fields.map((field) => [field.name, valuesFor(field, things)])), {
      requiredKeys: fields.filter(isRequired).map(({ name }) => name),
    })
  }
  return scalarOf(type, input.name, things)
}

function isRequired({ type }: { readonly type: GraphQLInputType }): boolean {
  return isNonNullType(type)
}

function scalarOf(type: GraphQLInputType, name: string, things: Things): fc.Arbitrary<unknown> {
  const texts: Readonly<Record<string, readonly string[]>> = {
    accountNumber: ['0690000032'],
    bankCode: ['044'],
    bankName: ['Access Bank'],
    currency: ['NGN', 'ZAR', 'USDC', 'USDT'],
    walletAddress: ['0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'],
  }
  switch (String(type)) {
    case 'ID':
    case 'UUID':
      // `payoutMethodId` takes either kind of method; an id with an unspecific name may be of any type.
      return idOf(
        name.replace(/Id$/, '').replace(/^./, (first) => first.toUpperCase()),
        things,
      )
    case 'Int':
      return fc.integer({ min: 0, max: 101 })
    case 'Boolean':
      return fc.boolean()
    case 'Amount':
      return fc.constantFrom('0.01', '1', '25.50', '0.00000001')
    case 'DateTime':
      return fc.date({ noInvalidDate: true }).map((date) => date.toISOString())
    default:
      return texts[name]
        ? fc.constantFrom(...texts[name])
        : fc.oneof(fc.string({ minLength: 1, maxLength: 20 }), hostileText)
  }
}

/** The id, in either form, of an object of this type, or of any object if there is none. */
function idOf(type: string, things: Things): fc.Arbitrary<string> {
  const fitting = things.filter((thing) => thing.type.endsWith(type))
  return fc
    .tuple(fc.constantFrom(...(fitting.length > 0 ? fitting : things)), fc.boolean())
    .map(([{ type, uuid }, isGlobal]) => (isGlobal ? toGlobalId(type, uuid) : uuid))
}
