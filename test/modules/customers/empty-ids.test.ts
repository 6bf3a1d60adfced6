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

/** The ids in a body that choose whose money or object the request uses (ruling 20). */
const choosingIds = ['customer_id', 'wallet_id', 'payout_method_id']
const emptyIds = ['', ' ', '\t\n']

/** For payout methods an empty id is null: `test/contract/provider.test.ts` tests them. */
const payoutMethodOperations = [
  'createBankPayoutMethod',
  'updateBankPayoutMethod',
  'createWalletPayoutMethod',
  'updateWalletPayoutMethod',
  'deletePayoutMethod',
]

const endpoints = routes
  .filter(({ method, name }) => method !== 'GET' && !payoutMethodOperations.includes(name))
  .flatMap((route) =>
    choosingIds.filter((field) => route.payloadNames.has(field)).map((field) => ({ ...route, field })),
  )

/**
 * Every optional id in the input of a mutation or a quote, by its path. The payout of `simulatePayout` and
 * `cancelPayout` is not optional: an empty id finds none (ruling 5).
 */
const fields = inputsOf()
  .filter(({ name }) => !['simulatePayout', 'cancelPayout', ...payoutMethodOperations].includes(name))
  .flatMap(({ name, operation, input }) => optionalIds(input).map((path) => ({ name, operation, input, path })))

describe.each(everyEngineAndWorkers)('ruling 20: an empty id on %s', (engine) => {
  let app: App
  beforeAll(() => {
    expect(endpoints.map(({ path, field }) => `${path} ${field}`)).toHaveLength(3)
    expect(fields.length).toBeGreaterThanOrEqual(8)
  })

  test('is rejected with 400 in every REST body except the bodies of payout methods, and nothing changes', async () => {
    app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const before = await readStoredRows(app)
    for (const { method, path, names, example, field } of endpoints) {
      const body = Object.fromEntries(Object.entries(example).map(([name, value]) => [names[name], value]))
      for (const empty of emptyIds) {
        const url = path.replace(/:\w+/, app.merchant.id)
        const response = await app.rest(method, url, { body: { ...body, [field]: empty } })
        const { code, details } = response.body.error
        expect([path, empty, response.status, code]).toEqual([path, empty, 400, 'INVALID_INPUT'])
        expect(details.fields).toMatchObject([{ field, code: 'MISSING_REQUIRED_FIELD' }])
      }
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('is rejected with INVALID_INPUT in every GraphQL input except the inputs of payout methods', async () => {
    app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const before = await readStoredRows(app)
    for (const { name, operation, input, path } of fields) {
      for (const empty of emptyIds) {
        const variables = { input: buildInput(input, path, empty) }
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

  test('is ignored in a REST query parameter and rejected in a GraphQL filter', async () => {
    app = await startApp(engine)
    expect((await app.rest('GET', '/api/payout/methods?customer_id=')).status).toBe(200)
    for (const empty of emptyIds) {
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

/** Builds an input with its required fields and `value` at `path`; a OneOf input gets only one field. */
function buildInput(input: GraphQLInputType, [name, ...rest]: readonly string[], value: string): object {
  const included = fieldsOf(input).filter((field) => isNonNullType(field.type) || field.name === name)
  return Object.fromEntries(
    included.map((field) => {
      const type = getNamedType(field.type) as GraphQLInputType
      if (field.name !== name) return [field.name, plausibleValue(field, type, String(input))]
      return [field.name, rest.length === 0 ? value : buildInput(type, rest, value)]
    }),
  )
}

function plausibleValue(field: GraphQLInputField, type: GraphQLInputType, input: string): unknown {
  if (isInputObjectType(type)) {
    const choice = type.isOneOf ? type.getFields().bankAccount : undefined
    if (!choice) return buildInput(type, [], '')
    const account = getNamedType(choice.type) as GraphQLInputType
    return { bankAccount: { ...buildInput(account, [], ''), recipientCurrency: 'NGN', recipientCountry: 'NIGERIA' } }
  }
  if (isEnumType(type)) return type.getValues()[0]?.name
  if (field.name === 'amount') return '1'
  if (field.name === 'currency') return input.includes('WalletPayoutMethod') ? 'USDC' : 'NGN'
  return field.name === 'walletAddress' ? '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' : '0690000032'
}

function fieldsOf(input: GraphQLInputType): GraphQLInputField[] {
  return isInputObjectType(input) ? Object.values(input.getFields()) : []
}
