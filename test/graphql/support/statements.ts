import type { GraphQLObjectType } from 'graphql'
import { getNamedType, isAbstractType, isLeafType } from 'graphql'
import type { Query } from '../../../src/database/query.ts'
import { createBankPayoutMethod } from '../../../src/modules/payout-methods/create-payout-method.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { createWebhookEndpoint } from '../../../src/modules/webhooks/endpoints/create-webhook-endpoint.ts'
import { sandboxSchema as schema } from '../../../src/server/graphql/schema.ts'
import type { App, Engine } from '../../support/app.ts'
import { startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { createAsk, createServerVariant } from './ask.ts'
import { everyList, itemOf } from './lists.ts'

/** Sends requests to a service whose statements are counted. */
export function countingStatements(app: App) {
  let statements = 0
  const execute = <Result>(query: Query, params: object) => {
    statements++
    return app.db.execute<Result>(query, params)
  }
  const server = createServerVariant(app, { service: { ...app.service, db: { ...app.db, execute } } })
  /** The number of read statements, without those of every request. */
  const countOf = async (act: () => Promise<unknown>) => {
    // Excludes the queries of the start.
    await server.ready()
    statements = 0
    await act()
    const all = statements
    statements = 0
    await ask('{ __typename }')
    return all - statements
  }
  const ask = createAsk(app, { server })
  return { ask, countOf }
}

/**
 * A merchant with fifty customers, each with a wallet, a payout method and a payout, and a wallet with fifty
 * payouts of its own.
 */
export async function startFifty(engine: Engine) {
  const app = await startApp(engine)
  const bankMethod = {
    type: 'BANK' as const,
    currency: 'NGN',
    accountName: 'Ada Obi',
    accountNumber: '0690000032',
    bankName: 'Access Bank',
    bankCode: '044',
  }
  const payment = { assetCode: 'USDC', amount: '1' } as const
  const fifty = Array.from({ length: 50 }, (_, index) => index)
  const method = await perform(createBankPayoutMethod, app.context(), bankMethod)
  const walletId = await app.wallet({ balance: '1000' })
  await Promise.all(
    fifty.map(async (index) => {
      await perform(createPayout, app.context(), { ...payment, payoutMethodId: method.id })
      await app.wallet()
      await perform(createBankPayoutMethod, app.context(), bankMethod)
      await perform(createWebhookEndpoint, app.context(), { url: 'https://example.com/webhooks' })
      await depositToWallet(app.context(), { walletId, amount: '1', reference: `another ${index}` })
    }),
  )
  // After the merchant's rows, so that the newest rows of each list belong to different customers.
  await Promise.all(
    fifty.map(async () => {
      const customerId = await app.customer()
      await app.wallet({ balance: '100', customerId })
      const { id: payoutMethodId } = await perform(createBankPayoutMethod, app.context(), { ...bankMethod, customerId })
      await perform(createPayout, app.context(), { ...payment, customerId, payoutMethodId })
    }),
  )
  return { app, walletId }
}

/** For each list of many rows, the relations of its items, one at a time; and lists with several paths. */
export function nestedSelections(): { list: string; item: string; selection: string }[] {
  return everyList
    .filter((list) => !list.startsWith('Customer'))
    .flatMap((list) => {
      const item = itemOf(list)
      const type = schema.getType(item)
      const members = isAbstractType(type) ? schema.getPossibleTypes(type) : [type as GraphQLObjectType]
      return members
        .flatMap((member) => fieldSelections(member).map((selection) => `... on ${member.name} { ${selection} }`))
        .map((selection) => ({ list, item, selection }))
    })
}

function fieldSelections(type: GraphQLObjectType): string[] {
  return Object.values(type.getFields()).flatMap((field) => {
    const led = getNamedType(field.type)
    if (isLeafType(led)) return []
    if (!led.name.endsWith('Connection')) return [`${field.name} { __typename }`]
    const filter = field.args.some(({ name }) => name === 'filter')
      ? ['filter: { createdFrom: "2020-01-01T00:00:00Z" }']
      : []
    return [
      `${field.name} { nodes { __typename } }`,
      `${field.name} { totalCount }`,
      `${field.name}(first: 2) { totalCount edges { cursor } }`,
      `${field.name}(last: 1) { nodes { __typename } }`,
      ...filter.flatMap((each) => [
        `${field.name}(${each}) { nodes { __typename } }`,
        `${field.name}(${each}) { totalCount }`,
      ]),
    ]
  })
}
