import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { schemaPath } from '../../api-changes.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'

/** The compiler binary for this platform, as npm installed it. */
const compiler = createRequire(import.meta.url)('relay-compiler') as string

const config = {
  src: './src',
  schema: `./${schemaPath}`,
  language: 'typescript',
  eagerEsModules: true,
  requireCustomScalarTypes: true,
  customScalarTypes: { Amount: 'string', Date: 'string', DateTime: 'string', Decimal: 'string', UUID: 'string' },
  persistConfig: { file: './operations.json' },
}

test('relay-compiler compiles the documents of a Relay application without errors or warnings', () => {
  const { status, output, artifacts } = compile()
  expect(output).not.toMatch(/error|warn/i)
  expect([status, output]).toEqual([0, expect.stringContaining('Compilation completed.')])
  expect(artifacts.filter((name) => /(Query|Mutation|Subscription)\.graphql\.ts$/.test(name))).toEqual([
    'CustomerListCreateMutation.graphql.ts',
    'CustomerListPaginationQuery.graphql.ts',
    'CustomerListQuery.graphql.ts',
    'CustomerScreenPayoutsQuery.graphql.ts',
    'CustomerScreenQuery.graphql.ts',
    'PayoutListPaginationQuery.graphql.ts',
    'PayoutListQuery.graphql.ts',
    'PayoutMethodMenuDeleteMutation.graphql.ts',
    'WalletCardPayMutation.graphql.ts',
    'WalletCardQuery.graphql.ts',
    'WalletCardRefetchQuery.graphql.ts',
    'WalletCardSubscription.graphql.ts',
  ])
})

test.each([
  ['an unknown field', 'fragment Fault_wallet on Wallet { colour }', 'colour'],
  [
    'a plain list as a connection',
    'fragment Fault_w on Wallet { addresses @connection(key: "Fault_addresses") { id } }',
    'Fault.ts',
  ],
  [
    "a type that can't be refetched",
    'fragment Fault_e on PayoutEvent @refetchable(queryName: "FaultQuery") { cause }',
    'refetchable',
  ],
  [
    'a deleted record without an id',
    'mutation FaultMutation($input: CloseCustomerInput!) { closeCustomer(input: $input) { ... on CloseCustomerPayload { customer { email @deleteRecord } } } }',
    'deleteRecord',
  ],
])('relay-compiler reports %s', (_, document, culprit) => {
  const { status, output } = compile({ 'Fault.ts': `graphql\`${document}\`` })
  expect([status, output]).toEqual([1, expect.stringContaining(culprit)])
})

describe.each(everyEngine)('documents from relay-compiler on %s', (engine) => {
  let operations: Record<string, string>
  beforeAll(() => {
    operations = compile().operations
  })

  test('a Relay pagination query reads all pages of a list', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    for (const amount of ['1', '2', '3'])
      await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount } })
    const data = dataOf(app)

    const { payouts: all } = await data('PayoutListQuery', { filter: { assetCode: 'USDC' } })
    expect(all.edges.map(({ node }: Edge) => node.amount)).toEqual(['3.00000000', '2.00000000', '1.00000000'])

    const seen = []
    let cursor: string | null = null
    do {
      // Relay sends null for variables without a value.
      const { payouts } = await data('PayoutListPaginationQuery', { count: 2, cursor, filter: null })
      seen.push(...payouts.edges)
      cursor = payouts.pageInfo.hasNextPage ? payouts.pageInfo.endCursor : null
    } while (cursor !== null && seen.length < 10)
    expect(seen.map(({ node }) => node.amount)).toEqual(['3.00000000', '2.00000000', '1.00000000'])
  })

  test("a Relay pagination query reads a node's list through node(id:), forwards and backwards", async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    await app.wallet({ balance: '100', customerId })
    await app.rest('POST', '/api/payout/methods/banks', { body: { ...bankMethodBody, customer_id: customerId } })
    await app.rest('POST', '/api/payout/methods/wallets', { body: { ...walletMethodBody, customer_id: customerId } })
    for (const amount of ['1', '2', '3']) {
      await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount, customer_id: customerId } })
    }
    const data = dataOf(app)

    const { customer } = await data('CustomerScreenQuery', { id: customerId })
    expect(customer.payoutMethods.edges.map(({ node }: Edge) => [node.__typename, node.__isNode])).toEqual([
      ['WalletPayoutMethod', 'WalletPayoutMethod'],
      ['BankPayoutMethod', 'BankPayoutMethod'],
    ])
    const { startCursor, endCursor, hasNextPage } = customer.payouts.pageInfo
    expect([amountsOf(customer), hasNextPage]).toEqual([['3.00000000', '2.00000000'], true])

    const page = { first: null, after: null, last: null, before: null, id: customer.id }
    const { node: next } = await data('CustomerScreenPayoutsQuery', { ...page, first: 2, after: endCursor })
    expect([next.__typename, amountsOf(next)]).toEqual(['Customer', ['1.00000000']])
    const back = { ...page, last: 2, before: next.payouts.pageInfo.startCursor }
    const { node: previous } = await data('CustomerScreenPayoutsQuery', back)
    expect(amountsOf(previous)).toEqual(amountsOf(customer))
    expect(previous.payouts.pageInfo).toMatchObject({ startCursor, hasPreviousPage: false })
  })

  test("Relay can refetch a node by its id, and mutations return the ids that update Relay's cache", async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '100' })
    const method = await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
    const data = dataOf(app)
    const { wallet } = await data('WalletCardQuery', { id: walletId })

    const input = { assetCode: 'USDC', amount: '40', paymentPurpose: 'RENT', idempotencyKey: 'one' }
    const recipient = { payoutMethodId: method.body.data.id }
    const { createPayout } = await data('WalletCardPayMutation', { input: { ...input, recipient }, connections: [] })
    expect(createPayout.payout.wallet).toMatchObject({ id: wallet.id, balance: '60.00000000' })
    expect((await data('WalletCardRefetchQuery', { id: wallet.id })).node).toEqual({
      ...createPayout.payout.wallet,
      __typename: 'Wallet',
    })
    const again = { ...input, recipient, idempotencyKey: 'two', amount: '61' }
    const { createPayout: refused } = await data('WalletCardPayMutation', { input: again, connections: [] })
    expect(refused).toMatchObject({ __isUserError: 'InsufficientFundsError', available: '60.00000000' })

    const { id } = createPayout.payout.recipientMethod
    const deletion = { input: { payoutMethodId: id }, connections: [] }
    expect((await data('PayoutMethodMenuDeleteMutation', deletion)).deletePayoutMethod).toEqual({
      __typename: 'DeletePayoutMethodPayload',
      deletedPayoutMethodId: id,
    })
  })

  /** Sends an operation as Relay's network layer does. */
  function dataOf(app: Awaited<ReturnType<typeof startApp>>) {
    return async (name: string, variables: Record<string, unknown>) => {
      const { data, errors } = await app.graphql(operations[name] ?? '', variables)
      expect(errors).toEqual([])
      return data
    }
  }
})

type Edge = { node: Record<string, unknown> }

function amountsOf({ payouts }: { payouts: { edges: Edge[] } }): unknown[] {
  return payouts.edges.map(({ node }) => node.amount)
}

/** Compiles the application in a temporary folder; `operations` has the texts that it would send, by name. */
function compile(others: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
  const operationsFile = join(folder, 'operations.json')
  cpSync(join(import.meta.dirname, 'relay'), join(folder, 'src'), { recursive: true })
  cpSync(resolve(import.meta.dirname, '../..', schemaPath), join(folder, schemaPath))
  for (const [name, source] of Object.entries(others)) writeFileSync(join(folder, 'src', name), source)
  writeFileSync(operationsFile, '{}')
  writeFileSync(join(folder, 'relay.config.json'), JSON.stringify(config))

  const { status, stdout, stderr } = spawnSync(compiler, ['relay.config.json'], { cwd: folder, encoding: 'utf8' })
  const texts = Object.values(JSON.parse(readFileSync(operationsFile, 'utf8')) as Record<string, string>)
  const artifacts = status === 0 ? readdirSync(join(folder, 'src/__generated__')).sort() : []
  rmSync(folder, { recursive: true })
  const nameOf = (text: string) => /(?:query|mutation|subscription) (\w+)/.exec(text)?.[1]
  return {
    status,
    output: stdout + stderr,
    artifacts,
    operations: Object.fromEntries(texts.map((text) => [nameOf(text), text])),
  }
}
