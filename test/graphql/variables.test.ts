import * as fc from 'fast-check'
import type { GraphQLInputType } from 'graphql'
import {
  buildSchema,
  GraphQLInputObjectType,
  GraphQLInt,
  GraphQLSchema,
  getVariableValues,
  isEnumType,
  isInputObjectType,
  isInputType,
  isIntrospectionType,
  isListType,
  isNonNullType,
  Kind,
  parse,
} from 'graphql'
import { expect, test } from 'vitest'
import { coerceVariables, createVariablesReader } from '../../src/graphql/documents/variables.ts'
import { sandboxSchema } from '../../src/server/graphql/schema.ts'

const inputs = Object.values(sandboxSchema.getTypeMap())
  .filter((type) => isInputType(type) && !isIntrospectionType(type))
  .map(({ name }) => name)
  .sort()

/** JSON values of all kinds, with those that are often mistaken for others. */
const anyJson = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(0, 1, 2 ** 31, 1.5, '', '25.50', 'USDC', true, false, null, [], {}, [null], ['a'], 'ERC20'),
  fc.constantFrom<unknown>({ length: 1 }, JSON.parse('{"__proto__": 1}'), { toString: 'a' }, { constructor: null }),
)

/** Mostly valid values of the type. */
function valueFor(type: GraphQLInputType, depth = 0): fc.Arbitrary<unknown> {
  if (isNonNullType(type)) return valueFor(type.ofType, depth)
  if (isListType(type))
    return fc.oneof(fc.array(valueFor(type.ofType, depth), { maxLength: 3 }), valueFor(type.ofType, depth))
  if (isEnumType(type)) return fc.constantFrom(...type.getValues().map(({ name }) => name))
  if (!isInputObjectType(type) || depth > 3) return anyJson
  const fields = Object.values(type.getFields())
  const inner = (field: (typeof fields)[number]) =>
    fc.oneof({ weight: 20, arbitrary: valueFor(field.type, depth + 1) }, { weight: 1, arbitrary: anyJson })
  const shape = fc.record(Object.fromEntries(fields.map((field) => [field.name, inner(field)])), { requiredKeys: [] })
  const oneField = fc.oneof(...fields.map((field) => inner(field).map((value) => ({ [field.name]: value }))))
  const filled = fc.record(Object.fromEntries(fields.map((field) => [field.name, inner(field)])))
  const strays = fc.oneof(
    { weight: 9, arbitrary: fc.constant({}) },
    { weight: 1, arbitrary: fc.constant({ stray: 1 }) },
  )
  return fc
    .tuple(fc.oneof(shape, filled, oneField), strays)
    .map(([some, others]) => ({ ...(some as object), ...(others as object) }))
}

/** Removes prototypes, because graphql-js creates objects without one. */
function plain(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? value.map(plain) : Object.entries(value).map(([name, inner]) => [name, plain(inner)])
}

function bothRead(text: string, given: Record<string, unknown>): [ours: unknown, theirs: unknown] {
  const [operation] = parse(text).definitions
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation')
  const ours = createVariablesReader(sandboxSchema, operation)(given)
  const theirs = getVariableValues(sandboxSchema, operation.variableDefinitions ?? [], given)
  return [ours && plain(ours.coerced), 'variableValues' in theirs ? plain(theirs.variableValues?.coerced) : null]
}

test.each(inputs)('variables of the type %s are coerced to the same values as by graphql-js', (name) => {
  const type = sandboxSchema.getType(name)
  if (!isInputType(type)) throw new Error(`${name} is no input`)
  for (const written of [name, `${name}!`, `[${name}]`, `[${name}!]!`]) {
    const some = fc.oneof({ weight: 4, arbitrary: valueFor(type) }, { weight: 1, arbitrary: anyJson })
    const value = written.startsWith('[') ? fc.oneof(fc.array(some, { maxLength: 3 }), some) : some
    fc.assert(
      fc.property(fc.option(value, { nil: undefined }), (given) => {
        const [ours, theirs] = bothRead(
          `query ($v: ${written}) { __typename }`,
          given === undefined ? {} : { v: given },
        )
        expect(ours).toEqual(theirs)
      }),
      { numRuns: 40 },
    )
  }
})

test('the generated variables include valid and invalid values', () => {
  const read = { good: 0, bad: 0 }
  for (const name of inputs) {
    const type = sandboxSchema.getType(name) as GraphQLInputType
    for (const v of fc.sample(valueFor(type), 100)) {
      read[bothRead(`query ($v: ${name}!) { __typename }`, { v })[0] === null ? 'bad' : 'good']++
    }
  }
  expect(Math.min(read.good, read.bad)).toBeGreaterThan(inputs.length * 5)
})

test.each([
  ['a default', 'query ($v: Int = 20) { __typename }', {}],
  ['an explicit null with a default', 'query ($v: Int = 20) { __typename }', { v: null }],
  ['a default of a non-null type', 'query ($v: Int! = 20) { __typename }', {}],
  ['null for a non-null type', 'query ($v: Int! = 20) { __typename }', { v: null }],
  ['a single value as the default of a list', 'query ($v: [ID!] = "a") { __typename }', {}],
  ['an absent non-null variable', 'query ($v: Int!) { __typename }', {}],
  ['an undeclared variable', 'query ($v: Int) { __typename }', { w: 1 }],
  ['a variable named like a member of Object.prototype', 'query ($toString: Int, $__proto__: Int) { __typename }', {}],
  [
    'a provided variable named like a member of Object.prototype',
    'query ($__proto__: Int) { __typename }',
    JSON.parse('{"__proto__": 7}'),
  ],
])('%s is coerced to the same value as by graphql-js', (_, text, given) => {
  const [ours, theirs] = bothRead(text, given)
  expect(ours).toEqual(theirs)
})

test('the default value of a variable is frozen at every depth, because all requests share it', () => {
  const [operation] = parse('query ($v: PayoutFilter = {owner: {customerId: "a"}}) { __typename }').definitions
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation')
  const value = createVariablesReader(sandboxSchema, operation)({})?.coerced.v as { owner: object }
  expect([value, Object.isFrozen(value), Object.isFrozen(value.owner)]).toEqual([
    { owner: { customerId: 'a' } },
    true,
    true,
  ])
})

test('an error about an invalid value suggests similar values unless the variables exceed 10,000 characters', () => {
  const document = parse('query ($v: PayoutStatus, $w: String) { __typename }')
  const messageFor = (variableValues?: Record<string, unknown>) => {
    const coerced = coerceVariables({ schema: sandboxSchema, document, ...(variableValues && { variableValues }) })
    return 'errors' in coerced ? coerced.errors.map(({ message }) => message).join() : null
  }
  const variablesOf = (length: number) => {
    const variables = { v: 'FAILD', w: '' }
    return { ...variables, w: 'x'.repeat(length - JSON.stringify(variables).length) }
  }
  expect(messageFor(variablesOf(10_000))).toContain('Did you mean the enum value "FAILED"')
  expect(messageFor(variablesOf(10_001))).toMatch(/^((?!Did you mean).)+$/)
  expect(messageFor()).toBeNull()
})

test('createVariablesReader rejects a variable of an output type, and an input type with default values', () => {
  const schema = buildSchema('input Sized { size: Int = 1 } type Query { by(sized: Sized): Int }')
  const read = (type: string, of = schema) => {
    const [operation] = parse(`query ($v: ${type}) { __typename }`).definitions
    if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('no operation')
    return createVariablesReader(of, operation)({ v: {} })
  }
  expect(() => read('Query')).toThrow('must be validated')
  expect(() => read('Sized')).toThrow('defaults of input fields')
  const coded = new GraphQLInputObjectType({ name: 'Coded', fields: { size: { type: GraphQLInt, defaultValue: 1 } } })
  expect(() => read('Coded', new GraphQLSchema({ types: [coded] }))).toThrow('defaults of input fields')
})
