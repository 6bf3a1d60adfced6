import { describe, expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../src/app/open-database.ts'
import { createCustomer } from '../../src/modules/customers/create-customer.ts'
import { createBankPayoutMethod } from '../../src/modules/payout-methods/create-payout-method.ts'
import { createPayout } from '../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { createWallet } from '../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../src/modules/wallets/deposit-to-wallet.ts'
import type { Service } from '../../src/operations/context.ts'
import { createContext, createService } from '../../src/operations/context.ts'
import { nigerian } from '../modules/payouts/payout-places.ts'
import type { App } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { sampleCustomer } from '../support/bodies.ts'
import { perform } from '../support/perform.ts'

const payout = { assetCode: 'USDC', amount: '0.01', ...nigerian } as const

const bankMethod = {
  type: 'BANK',
  accountName: 'Ada Obi',
  currency: 'NGN',
  accountNumber: '1',
  bankName: 'B',
  bankCode: '2',
} as const

/** Another process on the app's database, with a clock of its own. */
async function processOn(app: App, clock: () => number): Promise<Service> {
  const db = await openDatabase({ url: app.url, onFatal: () => {} })
  onTestFinished(() => db.close())
  return createService({ db, mode: 'sandbox', clock })
}

/** Creates one row in each list, and two lines in the statement of `walletId`. */
async function makeOfEach(service: Service, { merchantId, walletId }: { merchantId: string; walletId: string }) {
  const context = () => createContext(service, merchantId)
  await perform(createCustomer, context(), sampleCustomer)
  await perform(createWallet, context(), { currency: 'USDC', description: 'One more', network: 'erc20' })
  await perform(createBankPayoutMethod, context(), bankMethod)
  await depositToWallet(context(), { walletId, amount: '1', reference: service.newId() })
  const { id: payoutId } = await perform(createPayout, context(), { ...payout, walletId })
  return settlePayout(context(), { payoutId, status: 'COMPLETED' })
}

type Row = { uuid: string; createdAt: string }

/** Every list, as REST returns it. */
async function listsOf(app: App): Promise<Record<string, Row[]>> {
  const { data } = await app.graphql(`{ merchant {
    customers(first: 100) { nodes { uuid createdAt } }
    wallets(first: 10) { nodes { uuid createdAt ledgerEntries(first: 100) { nodes { createdAt } } } }
    payoutMethods(first: 100) { nodes { ... on BankPayoutMethod { uuid createdAt } } }
    payouts(first: 100) { nodes { uuid createdAt } } } }`)
  const { customers, wallets, payoutMethods, payouts } = data.merchant
  const statement = wallets.nodes.at(-1).ledgerEntries.nodes.map(({ createdAt }: Row) => ({ createdAt, uuid: '' }))
  return {
    customers: customers.nodes,
    wallets: wallets.nodes,
    methods: payoutMethods.nodes,
    payouts: payouts.nodes,
    statement,
  }
}

/** Newest first, ties by id (ruling 17). */
function inOrder(rows: readonly Row[]): Row[] {
  const key = ({ createdAt, uuid }: Row) => `${createdAt} ${uuid}`
  return rows.toSorted((one, other) => (key(one) < key(other) ? 1 : key(one) > key(other) ? -1 : 0))
}

const hour = 60 * 60 * 1000

describe.each(everyEngine)('ruling 17: newest first on %s', (engine) => {
  test('lists stay newest first after a restart with an earlier clock, and time filters match the times in responses', async () => {
    const start = Date.parse('2026-03-01T12:00:00.000Z')
    // The rates are older than all rows.
    let ahead = start - 24 * hour
    const app = await startApp(engine, { clock: () => ahead++ })
    ahead = start
    const walletId = await app.wallet({ balance: '10' })
    const place = { merchantId: app.merchant.id, walletId }
    await makeOfEach(app.service, place)
    let behind = start - 2 * hour
    const restarted = await processOn(app, () => behind++)
    for (let i = 0; i < 3; i++) expect((await makeOfEach(restarted, place)).status).toBe('COMPLETED')
    behind = start + hour
    await makeOfEach(restarted, place)

    for (const [name, rows] of Object.entries(await listsOf(app))) expect([name, rows]).toEqual([name, inOrder(rows)])
    const { payouts = [] } = await listsOf(app)
    expect(payouts).toHaveLength(5)
    // For any bound, the filter returns exactly the rows whose shown time matches.
    for (const { createdAt } of payouts) {
      const response = await app.graphql(
        `query($from: DateTime) { payouts(filter: { createdFrom: $from }) { totalCount nodes { uuid createdAt } } }`,
        { from: createdAt },
      )
      const expected = payouts.filter((each) => each.createdAt >= createdAt)
      expect(response.data.payouts).toEqual({ totalCount: expected.length, nodes: expected })
    }
    const changed = await app.graphql(`{ payouts { nodes { createdAt updatedAt events { createdAt } } } }`)
    for (const { createdAt, updatedAt, events } of changed.data.payouts.nodes) {
      expect([updatedAt >= createdAt, events[0].createdAt]).toEqual([true, updatedAt])
    }
    await app.expectBooksToBalance()
  })
})

// On SQLite one process writes, however many processes serve requests.
test.runIf(everyEngine.includes('postgres'))(
  'lists stay newest first when 48 clients write through two processes with different clocks on PostgreSQL',
  async () => {
    const app = await startApp('postgres')
    const walletId = await app.wallet({ balance: '100' })
    const processes = [await processOn(app, Date.now), await processOn(app, () => Date.now() - 3)]
    const clients = Array.from({ length: 48 }, async (_, i) => {
      const context = () => createContext(processes[i % 2] as Service, app.merchant.id)
      for (let n = 0; n < 2; n++) await perform(createPayout, context(), { ...payout, walletId })
    })
    await Promise.all(clients)

    const { payouts = [], statement = [] } = await listsOf(app)
    expect(payouts).toHaveLength(96)
    expect(payouts).toEqual(inOrder(payouts))
    expect(statement).toEqual(inOrder(statement))
    await app.expectBooksToBalance()
  },
)
