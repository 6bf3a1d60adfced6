import { readFileSync } from 'node:fs'
import type { GraphQLFieldMap, GraphQLNamedType, GraphQLSchema } from 'graphql'
import {
  buildSchema,
  getNamedType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isIntrospectionType,
  isListType,
  isObjectType,
  isUnionType,
  printType,
  validateSchema,
} from 'graphql'
import { describe, expect, test } from 'vitest'
import { schemaPath } from '../../api-changes.ts'
import { schemaText } from '../../codegen.ts'
import { sandboxSchema, schemaFor } from '../../src/server/graphql/schema.ts'

/** Lists that are not connections, each with the reason for its bound. */
const boundedLists: Record<string, string> = {
  'ApiKey.scopes': 'the values of an enum',
  'AssetCode.networks': 'the networks of one asset, of which five exist',
  'AttentionPage.nodes': 'the requested number, at most 100',
  'BankPayoutMethod.checks': 'one for each identifier of an account',
  'CreateClientTokenPayload.scopes': 'the values of an enum',
  'EventPage.nodes': 'the requested number, at most 100',
  'FieldRequirement.allowedValues': 'the values of an enum',
  'FieldRequirement.checks': 'one for each identifier of an account',
  'InvalidInputError.fields': 'the fields of one input',
  'Payout.checks': 'one for each identifier of an account',
  'Payout.events': 'two at most: completed, then returned',
  'Payout.timeline': 'the first and the latest, twenty together',
  'PayoutAttention.actions': 'the values of an enum',
  'PayoutMethodRequirements.fields': 'the fields of one input',
  'PayoutQuote.warnings': 'one for each identifier of an account',
  'SearchPage.nodes': 'as many as `first`, at most 50',
  'Query.nodes': 'as many as ids are given, of which there may be 100',
  'Wallet.addresses': 'given when the wallet is opened',
  'Wallet.pendingDeposits': 'the latest twenty',
  'WalletPayoutMethod.checks': 'one for each identifier of an address',
  'WebhookDelivery.attempts': 'the latest twenty',
  'WebhookEndpoint.types': 'the values of an enum',
}

test('schema.graphql matches the schema of the code', () => {
  const committed = readFileSync(new URL(`../../${schemaPath}`, import.meta.url), 'utf8')
  expect(committed, 'schema.graphql is not up to date: run npm run codegen').toBe(schemaText(sandboxSchema))
})

test('the schema is valid before it is printed and after it is parsed again', () => {
  expect(validateSchema(sandboxSchema)).toEqual([])
  expect(schemaText(buildSchema(schemaText(sandboxSchema)))).toBe(schemaText(sandboxSchema))
})

describe('descriptions of the schema', () => {
  test('every element of the schema has a description that is a sentence', () => {
    expect(partsOf(sandboxSchema).length).toBeGreaterThan(700)
    expect(undescribed(sandboxSchema)).toEqual([])
  })

  test.each([
    ['no descriptions at all', 'type Query { size: Int }', ['Query', 'Query.size']],
    [
      'a description with a lower-case beginning',
      '"What can be asked." type Query { "how large it is." size: Int }',
      ['Query.size'],
    ],
    [
      'a description without a full stop',
      '"What can be asked." type Query { "How large it is" size: Int }',
      ['Query.size'],
    ],
    [
      'a description that repeats the name',
      '"What can be asked." type Query { "How large is." howLargeIs: Int }',
      ['Query.howLargeIs'],
    ],
    ['a description of two words', '"What can be asked." type Query { "Its size." size: Int }', ['Query.size']],
    [
      'an argument without a description',
      '"What can be asked." type Query { "How large it is." size(unit: Int): Int }',
      ['Query.size(unit)'],
    ],
    [
      'an enum value without a description',
      '"What can be asked." type Query { "How large it is." size: Size } "How large it is." enum Size { BIG }',
      ['Size.BIG'],
    ],
    [
      'an input field without a description',
      '"What can be asked." type Query { "How large it is." size: Int } "Which one it is." input Which { of: Int }',
      ['Which.of'],
    ],
    [
      'a directive without a description',
      '"What can be asked." type Query { "How large it is." size: Int } directive @large on FIELD',
      ['@large'],
    ],
  ])('the check of descriptions reports %s', (_, source, found) => {
    expect(undescribed(buildSchema(source))).toEqual(found)
  })
})

describe('names of the schema', () => {
  test('types are PascalCase, fields and arguments camelCase, and enum values CAPITALS', () => {
    expect(misnamed(sandboxSchema)).toEqual([])
  })

  test.each([
    ['type Query { Size: Int }', ['Query.Size']],
    ['type Query { size(of_what: Int): Int }', ['Query.size(of_what)']],
    ['type Query { size: size } enum size { BIG small }', ['size', 'size.small']],
    ['type Query { size: Int } input Which { Of: Int }', ['Which.Of']],
  ])('the check of names reports a wrong style in %s', (source, found) => {
    expect(misnamed(buildSchema(source))).toEqual(found)
  })
})

test('every list of the schema is a connection unless it is bounded', () => {
  const plain = fieldsOf(sandboxSchema).filter(
    ({ owner, type }) => isListType(getNullableType(type)) && !owner.name.endsWith('Connection'),
  )
  expect(plain.map(({ path }) => path).sort()).toEqual(Object.keys(boundedLists).sort())
})

test('every connection can be read in both directions, with and without edges', () => {
  const connections = fieldsOf(sandboxSchema).filter(({ type }) => getNamedType(type).name.endsWith('Connection'))
  expect(connections.length).toBeGreaterThan(10)
  for (const { path, field, type } of connections) {
    expect(
      field.args.map(({ name, type }) => `${name}: ${type}`),
      path,
    ).toEqual(expect.arrayContaining(['after: String', 'before: String', 'first: Int', 'last: Int']))
    const item = getNamedType(type).name.replace(/Connection$/, '')
    expect(fieldTypes(getNamedType(type)), path).toEqual({
      edges: `[${item}Edge!]!`,
      nodes: `[${item}!]!`,
      pageInfo: 'PageInfo!',
      totalCount: 'Int',
    })
    expect(fieldTypes(sandboxSchema.getType(`${item}Edge`)), path).toEqual({ cursor: 'String!', node: `${item}!` })
  }
})

test.each(
  Object.values(sandboxSchema.getMutationType()?.getFields() ?? {}).map((field) => [field.name, field] as const),
)('%s has one input argument and returns a payload or a typed error', (name, { args, type }) => {
  const noun = name.charAt(0).toUpperCase() + name.slice(1)
  expect(args.map((arg) => `${arg.name}: ${arg.type}`)).toEqual([`input: ${noun}Input!`])
  expect(isInputObjectType(sandboxSchema.getType(`${noun}Input`))).toBe(true)
  expect(String(type)).toBe(`${noun}Result`)
  const union = getNamedType(type)
  const members = isUnionType(union) ? union.getTypes() : []
  const errors = members.filter((member) => member.getInterfaces().some((each) => each.name === 'UserError'))
  expect(members.filter((member) => !errors.includes(member)).map((member) => member.name)).toEqual([`${noun}Payload`])
  // Any mutation with an input can find it invalid.
  expect(errors.map((error) => error.name)).toContain('InvalidInputError')
})

test('every root field of a query or mutation is nullable, so its failure does not affect the others', () => {
  for (const root of [sandboxSchema.getQueryType(), sandboxSchema.getMutationType()]) {
    expect(Object.entries(fieldTypes(root)).filter(([, type]) => type.endsWith('!'))).toEqual([])
  }
})

test('the description of every field that is always null explains what the field is reserved for', () => {
  const { Payout } = sandboxSchema.getTypeMap()
  const fields = isObjectType(Payout) ? Payout.getFields() : {}
  for (const name of ['cryptoTransactionId', 'network', 'address', 'receiverWalletId']) {
    expect(fields[name]?.description, name).toMatch(/^Null today\. Reserved for /)
  }
})

test('the fields of a bank account have the same names in every input', () => {
  const namesOf = (name: string) => {
    const type = sandboxSchema.getType(name)
    const fields = isInputObjectType(type) ? Object.values(type.getFields()) : []
    return fields.flatMap((field) => (field.deprecationReason ? [] : [field.name]))
  }
  const own = namesOf('BankAccountInput').filter((name) => !name.startsWith('recipient'))
  expect(own.sort()).toEqual(['accountName', 'accountNumber', 'bankCode', 'bankName'])
  expect(namesOf('CreateBankPayoutMethodInput')).toEqual(expect.arrayContaining(own))
})

test('a type implements Node if and only if it has a global id', () => {
  const objects = Object.values(sandboxSchema.getTypeMap()).filter(isObjectType)
  const withId = objects.filter((type) => fieldTypes(type).id === 'ID!').map(({ name }) => name)
  const nodes = objects.filter((type) => type.getInterfaces().some(({ name }) => name === 'Node'))
  expect(withId).toEqual(nodes.map(({ name }) => name))
  expect(withId).toEqual(
    expect.arrayContaining([
      'AssetCode',
      'BankPayoutMethod',
      'Customer',
      'LedgerEntry',
      'Merchant',
      'Payout',
      'Wallet',
    ]),
  )
})

test('the live schema has everything except simulations', () => {
  const [live, sandbox] = [definitionsOf(schemaFor('live')), definitionsOf(schemaFor('sandbox'))]
  const own = ['AdvanceClock', 'SimulateDeposit', 'SimulatePayout'].flatMap((noun) => [
    `${noun}Input`,
    `${noun}Payload`,
    `${noun}Result`,
  ])
  expect(Object.keys(sandbox).filter((name) => !(name in live))).toEqual(own)
  for (const name of own) delete sandbox[name]

  const mutations = schemaFor('sandbox').getMutationType()?.getFields() ?? {}
  expect(Object.keys(mutations)).toEqual(expect.arrayContaining(['simulateDeposit', 'simulatePayout']))
  const {
    advanceClock: _,
    simulateDeposit: __,
    simulatePayout: ___,
    ...others
  } = fieldTypes(sandboxSchema.getMutationType())
  expect(fieldTypes(schemaFor('live').getMutationType())).toEqual(others)
  delete live.Mutation
  delete sandbox.Mutation
  expect(live).toEqual(sandbox)
})

/** Everything that needs a description: its path, name and description. */
type Part = { readonly path: string; readonly name: string; readonly description: string | null | undefined }

function partsOf(schema: GraphQLSchema): Part[] {
  const part = (path: string, { name, description }: Omit<Part, 'path'>): Part => ({ path, name, description })
  return [
    ...typesOf(schema).flatMap((type) => [
      part(type.name, type),
      ...(isEnumType(type) ? type.getValues().map((value) => part(`${type.name}.${value.name}`, value)) : []),
      ...(isInputObjectType(type)
        ? Object.values(type.getFields()).map((field) => part(`${type.name}.${field.name}`, field))
        : []),
    ]),
    ...fieldsOf(schema).flatMap(({ path, field }) => [
      part(path, field),
      ...field.args.map((arg) => part(`${path}(${arg.name})`, arg)),
    ]),
    ...schema
      .getDirectives()
      .flatMap((directive) => [
        part(`@${directive.name}`, directive),
        ...directive.args.map((arg) => part(`@${directive.name}(${arg.name})`, arg)),
      ]),
  ]
}

/** The paths without a description of at least three words. */
function undescribed(schema: GraphQLSchema): string[] {
  const wordsOf = (text: string) => text.match(/[\p{L}\p{N}]+/gu) ?? []
  return partsOf(schema)
    .filter(({ name, description }) => {
      const words = wordsOf(description ?? '')
      const isName = words.join('').toLowerCase() === name.replaceAll('_', '').toLowerCase()
      return words.length < 3 || isName || !/^`?\p{Lu}.*[.?!]$/su.test(description ?? '')
    })
    .map(({ path }) => path)
}

function misnamed(schema: GraphQLSchema): string[] {
  const isValue = (path: string) => isEnumType(schema.getType(path.split('.')[0] ?? ''))
  return partsOf(schema)
    .filter(({ path, name }) => {
      if (path === name) return !/^[A-Z][A-Za-z\d]*$/.test(name)
      return !(isValue(path) ? /^[A-Z][A-Z\d_]*$/ : /^[a-z][A-Za-z\d]*$/).test(name)
    })
    .map(({ path }) => path)
}

function fieldsOf(schema: GraphQLSchema) {
  return typesOf(schema).flatMap((owner) => {
    const fields: GraphQLFieldMap<unknown, unknown> =
      isObjectType(owner) || isInterfaceType(owner) ? owner.getFields() : {}
    return Object.values(fields).map((field) => ({
      owner,
      field,
      type: field.type,
      path: `${owner.name}.${field.name}`,
    }))
  })
}

function typesOf(schema: GraphQLSchema): GraphQLNamedType[] {
  return Object.values(schema.getTypeMap()).filter((type) => !isIntrospectionType(type))
}

function fieldTypes(type: GraphQLNamedType | null | undefined): Record<string, string> {
  const fields = isObjectType(type) ? Object.entries(type.getFields()) : []
  return Object.fromEntries(fields.map(([name, field]) => [name, String(field.type)]))
}

function definitionsOf(schema: GraphQLSchema): Record<string, string> {
  return Object.fromEntries(typesOf(schema).map((type) => [type.name, printType(type)]))
}
