import type { GraphQLField, GraphQLObjectType } from 'graphql'
import { getNamedType, isLeafType, isObjectType, isUnionType } from 'graphql'
import { describe, expect, test } from 'vitest'
import { schemaFor } from '../../src/server/graphql/schema.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'

const schema = schemaFor('sandbox')

/** An app with rows in every list of the merchant and of a customer. */
async function startFilled(engine: Engine) {
  const app = await startApp(engine)
  const customerId = await app.customer()
  await app.wallet({ balance: '1000' })
  await app.wallet({ balance: '1000', customerId })
  for (const owner of [{}, { customer_id: customerId }]) {
    await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, ...owner } })
    await app.rest('POST', '/api/payout/methods/wallets', { body: { ...walletMethodBody, ...owner } })
    await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, ...owner, narration: 'Thanks' } })
  }
  return app
}

/** The list that shows the rows of each table, and their types. */
const lists = {
  payouts: ['Payout'],
  wallets: ['Wallet'],
  customers: ['Customer'],
  payoutMethods: ['BankPayoutMethod', 'WalletPayoutMethod'],
} as const

/** A field with its smallest valid selection; for an object, all of its own values. */
function selectionOf(field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type)
  if (isLeafType(type)) return field.name
  if (isUnionType(type)) return `${field.name} { __typename }`
  const leaves = Object.values((type as GraphQLObjectType).getFields()).filter((each) =>
    isLeafType(getNamedType(each.type)),
  )
  if (type.name.endsWith('Connection')) return `${field.name} { totalCount nodes { __typename } }`
  return `${field.name} { ${leaves.map(({ name }) => name).join(' ')} }`
}

function fieldsOf(typeName: string): GraphQLField<unknown, unknown>[] {
  const type = schema.getType(typeName)
  if (!isObjectType(type)) throw new Error(`${typeName} is no object type`)
  return Object.values(type.getFields())
}

const cases = Object.entries(lists).flatMap(([list, types]) => types.map((type) => [list, type] as const))

describe.each(everyEngine)('projections of types on %s', (engine) => {
  test.each(cases)(
    'in %s each field of a %s has the same value whether it is selected alone or with all fields',
    async (list, type) => {
      const app = await startFilled(engine)
      const ask = async (selection: string) => {
        const query = `{ ${list}(first: 20) { nodes { __typename ... on ${type} { uuid ${selection} } } } }`
        const { data, errors } = await app.graphql(query)
        expect(errors).toEqual([])
        return data[list].nodes as Record<string, unknown>[]
      }
      const selections = fieldsOf(type).map((field) => [field.name, selectionOf(field)] as const)
      const whole = await ask(selections.map(([, selection]) => selection).join(' '))
      expect(whole.some((node) => node.__typename === type)).toBe(true)
      for (const [name, selection] of selections) {
        const alone = await ask(selection)
        expect(alone.map((node) => node[name])).toEqual(whole.map((node) => node[name]))
      }
    },
  )
})
