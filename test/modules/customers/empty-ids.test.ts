import {
  type GraphQLInputField,
  type GraphQLInputType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isNonNullType,
  isScalarType,
} from 'graphql'
import { beforeAll, describe, expect, test } from 'vitest'
import { sandboxSchema } from '../../../src/server/graphql/schema.ts'
import { routes } from '../../../src/server/rest/routes.ts'
import type { App } from '../../support/app.ts'
import { everyEngineAndWorkers, startApp } from '../../support/app.ts'
import { readStoredRows } from '../../support/stored.ts'

/** The ids in a body that decide whose money or thing it is (ruling 20). */
const deciding = ['customer_id', 'wallet_id', 'payout_method_id']
const empties = ['', ' ', '\t\n']

/** Those of payout methods, where an empty one is null: `test/contract/provider.test.ts` has them. */
const ofPayoutMethods = [
  'createBankPayoutMethod',
  'updateBankPayoutMethod',
  'createWalletPayoutMethod',
  'deletePayoutMethod',
]

/** Every other endpoint that takes one in its body. */
const places = routes
  .filter(({ method, name }) => method !== 'GET' && !ofPayoutMethods.includes(name))
  .flatMap((route) => deciding.filter((field) => route.payloadNames.has(field)).map((field) => ({ ...route, field })))

/**
 * Every field of an input of a mutation or of a quote that may be left out and is an id, by its path. The payout that
 * `simulatePayout` or `cancelPayout` is about decides nothing: by an empty id none is found (ruling 5).
 */
const fields = inputsOf()
  .filter(({ name }) => !['simulatePayout', 'cancelPayout', ...ofPayoutMethods].includes(name))
  .flatMap(({ name, operation, input }) => optionalIds(input).map((path) => ({ name, operation, input, path })))

describe.each(everyEngineAndWorkers)('ruling 20: an empty id on %s', (engine) => {
  let app: App
  beforeAll(() => {
    expect(places.map(({ path, field }) => `${path} ${field}`)).toHaveLength(3)
    expect(fields.length).toBeGreaterThanOrEqual(8)
  })

  test('is 400 wherever a REST body has one, but of payout methods, and changes nothing', async () => {
    app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const before = await readStoredRows(app)
    for (const { method, path, names, example, field } of places) {
      const body = Object.fromEntries(Object.entries(example).map(([name, value]) => [names[name], value]))
      for (const empty of empties) {
        const url = path.replace(/:\w+/, app.merchant.id)
        const answer = await app.rest(method, url, { body: { ...body, [field]: empty } })
        const { code, details } = answer.body.error
        expect([path, empty, answer.status, code]).toEqual([path, empty, 400, 'INVALID_INPUT'])
        expect(details.fields).toMatchObject([{ field, code: 'MISSING_REQUIRED_FIELD' }])
      }
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('is INVALID_INPUT wherever a GraphQL input may have one, but of payout methods, and changes nothing', async () => {
    app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const before = await readStoredRows(app)
    for (const { name, operation, input, path } of fields) {
      for (const empty of empties) {
        const variables = { input: filledIn(input, path, empty) }
        const query = `${operation}($input: ${input}!) { ${name}(input: $input) { __typename ... on UserError { code } ... on InvalidInputError { fields { field } } } }`
        const { data, errors } = await app.graphql(query, variables)
        expect([name, errors]).toEqual([name, []])
        expect([name, empty, data[name]]).toEqual([
          name,
          empty,
          {
            __typename: 'InvalidInputError',
            code: 'INVALID_INPUT',
            fields: expect.arrayContaining([{ field: path.join('.') }]),
          },
        ])
      }
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('in a query parameter is none at all, as is one in a filter of GraphQL refused', async () => {
    app = await startApp(engine)
    expect((await app.rest('GET', '/api/payout/methods?customer_id=')).status).toBe(200)
    for (const empty of empties) {
      for (const filter of [{ walletId: empty }, { owner: { customerId: empty } }]) {
        const query = 'query($filter: PayoutFilter) { payouts(filter: $filter) { nodes { uuid } } }'
        const { errors } = await app.graphql(query, { filter })
        expect([filter, errors[0]?.extensions.code]).toEqual([filter, 'INVALID_INPUT'])
      }
    }
  })
})

function inputsOf() {
  const roots = [
    ...Object.values(sandboxSchema.getMutationType()?.getFields() ?? {}).map((field) => ({
      field,
      operation: 'mutation',
    })),
    ...Object.values(sandboxSchema.getQueryType()?.getFields() ?? {}).map((field) => ({ field, operation: 'query' })),
  ]
  return roots.flatMap(({ field: { name, args }, operation }) => {
    const input = args.find((arg) => arg.name === 'input')?.type
    return input ? [{ name, operation, input: getNamedType(input) as GraphQLInputType }] : []
  })
}

function optionalIds(input: GraphQLInputType): string[][] {
  return fieldsOf(input).flatMap((field) => {
    const type = getNamedType(field.type)
    if (isInputObjectType(type)) return optionalIds(type).map((path) => [field.name, ...path])
    return isScalarType(type) && type.name === 'ID' && !isNonNullType(field.type) ? [[field.name]] : []
  })
}

/** An input with what it requires, and `value` at `path`; of a choice of one only that. */
function filledIn(input: GraphQLInputType, [name, ...rest]: readonly string[], value: string): object {
  const named = fieldsOf(input).filter((field) => isNonNullType(field.type) || field.name === name)
  return Object.fromEntries(
    named.map((field) => {
      const type = getNamedType(field.type) as GraphQLInputType
      if (field.name !== name) return [field.name, plausible(field, type, String(input))]
      return [field.name, rest.length === 0 ? value : filledIn(type, rest, value)]
    }),
  )
}

function plausible(field: GraphQLInputField, type: GraphQLInputType, input: string): unknown {
  if (isInputObjectType(type)) {
    const choice = type.isOneOf ? type.getFields().bankAccount : undefined
    if (!choice) return filledIn(type, [], '')
    const account = getNamedType(choice.type) as GraphQLInputType
    return { bankAccount: { ...filledIn(account, [], ''), recipientCurrency: 'NGN', recipientCountry: 'NIGERIA' } }
  }
  if (isEnumType(type)) return type.getValues()[0]?.name
  if (field.name === 'amount') return '1'
  if (field.name === 'currency') return input.includes('WalletPayoutMethod') ? 'USDC' : 'NGN'
  return field.name === 'walletAddress' ? '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' : '0690000032'
}

function fieldsOf(input: GraphQLInputType): GraphQLInputField[] {
  return isInputObjectType(input) ? Object.values(input.getFields()) : []
}
