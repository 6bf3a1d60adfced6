// Values that the service's own rows never have: wrong types, nested lists, and fields without a declared
// column.
import * as fc from 'fast-check'
import type { GraphQLOutputType } from 'graphql'
import {
  GraphQLEnumType,
  GraphQLInterfaceType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  type GraphQLScalarType,
  GraphQLSchema,
  GraphQLUnionType,
  getNamedType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { expect, test, vi } from 'vitest'
import { createEngine } from '../../src/graphql/execution/engine.ts'
import { createContext } from '../../src/operations/context.ts'
import { sandboxSchema } from '../../src/server/graphql/schema.ts'
import { startApp } from '../support/app.ts'
import { bothWays } from './support/execution-comparison.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 8 })

/** Values as resolvers return them, by type name. */
const returned: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  ID: fc.base64String({ maxLength: 12 }),
  String: anyText,
  UUID: anyText,
  Decimal: anyText,
  DateTime: anyText,
  Date: anyText,
  Amount: fc.bigInt({ min: 0n, max: 10n ** 18n }),
  Int: fc.integer(),
  Float: fc.double({ noNaN: true, noDefaultInfinity: true }),
  Boolean: fc.boolean(),
  JSON: fc.jsonValue({ maxDepth: 2 }).filter((value) => value !== null),
  Mood: fc.constantFrom('glad', 2, true),
}

/** Values that some type rejects, or that graphql-js coerces. */
const unexpected = fc.constantFrom<unknown>(0, 7, -1.5, Number.NaN, '', 'glad', 'GLAD', true, false, null, undefined)

const Mood = new GraphQLEnumType({
  name: 'Mood',
  values: { GLAD: { value: 'glad' }, SO_SO: { value: 2 }, SAD: { value: true } },
})
const leaves = Object.keys(returned).map((name) => (name === 'Mood' ? Mood : sandboxSchema.getType(name))) as Nullable[]

type Nullable = GraphQLScalarType | GraphQLEnumType | GraphQLObjectType | GraphQLInterfaceType | GraphQLUnionType

const wrappers: Readonly<Record<string, (type: Nullable) => GraphQLOutputType>> = {
  plain: (type) => type,
  required: (type) => new GraphQLNonNull(type),
  list: (type) => new GraphQLList(type),
  requiredItems: (type) => new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(type))),
  lists: (type) => new GraphQLList(new GraphQLList(type)),
  requiredLists: (type) => new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(new GraphQLList(type)))),
}

/** Fields of a type in every wrapper; each shows the column of its name. */
function inEveryWrapper(type: Nullable) {
  return Object.entries(wrappers).map(([wrapper, wrap]) => {
    const name = `${type.name}_${wrapper}`
    return [name, { type: wrap(type), extensions: { fieldSource: { kind: 'column', column: name } } }] as const
  })
}

const ofType = { from: ['type'], typeOf: ({ type }: { readonly type: string }) => type }
const abstract = { resolveType: ({ type }: { readonly type: string }) => type, extensions: { rowType: ofType } }

const fieldsOfRow = () => Object.fromEntries([...[...leaves, Row, Face, Either].flatMap(inEveryWrapper)])
const Face: GraphQLInterfaceType = new GraphQLInterfaceType({ name: 'Face', fields: fieldsOfRow, ...abstract })
const Row: GraphQLObjectType = new GraphQLObjectType({ name: 'Row', interfaces: [Face], fields: fieldsOfRow })
const Other: GraphQLObjectType = new GraphQLObjectType({ name: 'Other', interfaces: [Face], fields: fieldsOfRow })
const Either: GraphQLUnionType = new GraphQLUnionType({ name: 'Either', types: [Row, Other], ...abstract })
const Untold = new GraphQLUnionType({ name: 'Untold', types: [Row], resolveType: () => 'Row' })

/** The return value of the root field. */
let root: unknown = null
const resolve = () => root
const rootField = (type: GraphQLOutputType, fieldSource: object | null = { kind: 'resolver', resolve }) => ({
  type,
  resolve,
  ...(fieldSource && { extensions: { fieldSource } }),
})

const schema = new GraphQLSchema({
  query: new GraphQLObjectType({
    name: 'Query',
    fields: {
      row: rootField(Row),
      soon: rootField(Row, { kind: 'resolver', resolve: async () => root }),
      rows: rootField(wrappers.requiredItems?.(Row) as GraphQLOutputType),
      either: rootField(new GraphQLList(Either)),
      face: rootField(Face),
      leaf: rootField(Mood),
      withoutRowType: rootField(Untold),
      undeclared: rootField(Row, null),
    },
  }),
  types: [Row, Other],
})

/** The selected fields of a type by name, each with its own selection. */
type Selected = ReadonlyMap<string, { readonly type: GraphQLOutputType; readonly within: Selected | null }>

function selections(depth: number): fc.Arbitrary<Selected> {
  const fields = Object.values(Row.getFields()).filter(({ type }) => depth > 0 || isLeafType(getNamedType(type)))
  const leading = fields.filter(({ type }) => !isLeafType(getNamedType(type)))
  const name = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...fields) },
    { weight: 2, arbitrary: fc.constantFrom(...(leading.length > 0 ? leading : fields)) },
  )
  return fc
    .uniqueArray(name, { minLength: 1, maxLength: 4, selector: (field) => field.name })
    .chain((chosen) =>
      fc.tuple(
        ...chosen.map(({ name, type }) =>
          (isLeafType(getNamedType(type)) ? fc.constant(null) : selections(depth - 1)).map(
            (within) => [name, { type, within }] as const,
          ),
        ),
      ),
    )
    .map((entries) => new Map(entries))
}

function textOf(type: GraphQLOutputType, selected: Selected): string {
  const fields = [...selected]
    .map(([name, { type: inner, within }]) => `${name}${within ? textOf(inner, within) : ''}`)
    .join(' ')
  const named = getNamedType(type)
  // Each member of a union has the same selection, the second one in another order.
  return isObjectType(named) || named === Face
    ? `{${fields}}`
    : `{... on Row{${fields}} __typename ... on Other{__typename ${fields}}}`
}

/** Values of a type; with `isClean` all are as resolvers return them. */
function values(type: GraphQLOutputType, within: Selected | null, isClean: boolean): fc.Arbitrary<unknown> {
  if (!isClean && isLeafType(getNamedType(type)))
    return fc.oneof(
      { weight: 12, arbitrary: valuesAsReturned(type, within, isClean) },
      { weight: 1, arbitrary: unexpected },
    )
  if (!isClean)
    return fc.oneof(
      { weight: 20, arbitrary: valuesAsReturned(type, within, isClean) },
      { weight: 1, arbitrary: fc.constantFrom<unknown>(null, undefined, ...(isListType(type) ? ['text', 7] : [])) },
    )
  return valuesAsReturned(type, within, isClean)
}

function valuesAsReturned(type: GraphQLOutputType, within: Selected | null, isClean: boolean): fc.Arbitrary<unknown> {
  if (isNonNullType(type)) return present(type.ofType, within, isClean)
  return fc.oneof(
    { weight: 4, arbitrary: present(type, within, isClean) },
    { weight: 1, arbitrary: fc.constantFrom(null, undefined) },
  )
}

function present(type: GraphQLOutputType, within: Selected | null, isClean: boolean): fc.Arbitrary<unknown> {
  if (isListType(type)) return fc.array(values(type.ofType, within, isClean), { maxLength: 3 })
  if (within === null) return returned[(type as typeof Mood).name] as fc.Arbitrary<unknown>
  const columns = [...within].map(([name, inner]) => [name, values(inner.type, inner.within, isClean)] as const)
  const types = isObjectType(type) ? [type.name] : ['Row', 'Other', ...(isClean ? [] : ['Mood', 'nothing'])]
  return fc.record({ ...Object.fromEntries(columns), type: fc.constantFrom(...types) })
}

const queries = schema.getQueryType()?.getFields() ?? {}

/** A document, and the return value of its root field. */
const documents = (isClean: boolean) =>
  fc.constantFrom('row', 'soon', 'rows', 'either', 'face').chain((name) => {
    const type = queries[name]?.type as GraphQLOutputType
    return selections(2).chain((selected) =>
      values(type, selected, isClean).map((value) => ({ query: `{${name}${textOf(type, selected)}}`, value })),
    )
  })

test('a plan serializes any resolver result as graphql-js does', async () => {
  const app = await startApp('sqlite')
  const { planned, reference } = bothWays(app.service, app.merchant.id, schema)
  await fc.assert(
    fc.asyncProperty(documents(true), async ({ query, value }) => {
      root = value
      const one = await planned({ query })
      const other = await reference({ query })
      fc.pre(!other.text.includes('QUERY_TOO_COMPLEX'))
      expect(one).toEqual({ ...other, isPlanned: true })
    }),
    { numRuns: 150 },
  )
})

test('a plan delegates invalid resolver results to graphql-js', async () => {
  const app = await startApp('sqlite')
  const { planned, reference } = bothWays(app.service, app.merchant.id, schema)
  await fc.assert(
    fc.asyncProperty(documents(false), async ({ query, value }) => {
      root = value
      expect((await planned({ query })).text).toEqual((await reference({ query })).text)
    }),
    { numRuns: 150 },
  )
})

test.each([
  ['a value without fields at the root', '{leaf}', 'glad', 'GLAD'],
  [
    'a union without a declared row type',
    '{withoutRowType{... on Row{String_plain}}}',
    { String_plain: 'text' },
    'text',
  ],
  ['a field without a declared column', '{undeclared{String_plain}}', { String_plain: 'text' }, 'text'],
])('graphql-js executes %s, for which no plan exists', async (_, query, value, text) => {
  const app = await startApp('sqlite')
  const engine = createEngine(schema, { executor: 'planned' })
  root = value
  const onPlanFault = vi.fn()
  const context = { ...createContext(app.service, app.merchant.id), onPlanFault }
  const outcome = await engine.run({ query, operationName: null, variables: {} }, context)
  expect(outcome?.result).toHaveProperty('data')
  expect(JSON.stringify(outcome?.result)).toContain(`"${text}"`)
  expect(onPlanFault).not.toHaveBeenCalled()
})

test.each([
  ['a string for a list', '{row{String_list}}', { String_list: 'text' }],
  ['a Set for a list, which graphql-js accepts', '{row{String_list}}', { String_list: new Set(['a', 'b']) }],
  ['an object for a list', '{row{Row_list{String_plain}}}', { Row_list: { String_plain: 'a' } }],
  ['a string for the inner list of two nested lists', '{row{String_lists}}', { String_lists: [['a'], 'text'] }],
  ['undefined for a non-null field', '{row{String_required}}', { String_required: null }],
  ['undefined in a list of non-null items', '{row{Int_requiredItems}}', { Int_requiredItems: [1, undefined] }],
  ['undefined for a non-null list', '{row{Row_requiredLists{String_plain}}}', {}],
  [
    'undefined in a list of non-null objects',
    '{row{Row_requiredItems{__typename}}}',
    { Row_requiredItems: [{}, null] },
  ],
  ['null for a non-null object of an abstract type', '{row{JSON_required}}', { JSON_required: null }],
  ['undefined for a non-null object of an abstract type', '{row{JSON_required}}', {}],
  ['a number for a string', '{row{String_plain}}', { String_plain: 7 }],
  ['a number for a boolean', '{row{Boolean_plain}}', { Boolean_plain: 1 }],
  ['a value that is not in the enum', '{row{Mood_plain}}', { Mood_plain: 'GLAD' }],
  ['a string for a number', '{row{Int_plain}}', { Int_plain: 'x' }],
  ['a type that is not in the union', '{row{Either_plain{__typename}}}', { Either_plain: { type: 'Query' } }],
])('a plan delegates %s to graphql-js', async (_, query, value) => {
  const app = await startApp('sqlite')
  const { planned, reference } = bothWays(app.service, app.merchant.id, schema)
  root = value
  expect(await planned({ query })).toEqual({ ...(await reference({ query })), isPlanned: false })
})
