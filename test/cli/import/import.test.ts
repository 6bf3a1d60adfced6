import { describe, expect, test } from 'vitest'
import type { ContractClient } from '../../../src/cli/contract/contract-client.ts'
import type { ImportReport } from '../../../src/cli/import/import-report.ts'
import type { ImportRequest } from '../../../src/cli/import/run-import.ts'
import { runImport } from '../../../src/cli/import/run-import.ts'
import { auditChain } from '../../../src/modules/audit/audit.ts'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { updateCustomer } from '../../../src/modules/customers/update-customer.ts'
import { startSealer } from '../../../src/modules/hash-chain/sealer.ts'
import { changeWalletStatus } from '../../../src/modules/wallets/change-wallet-status.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App, Engine, RestMethod } from '../../support/app.ts'
import { bankMethodBody, everyEngine, payoutBody, startApp, walletMethodBody } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'

/** A client of the source, whose responses a test may change. */
const clientOf =
  (source: App, change: (path: string, body: unknown) => unknown = (_, body) => body): ContractClient =>
  async ({ method, path }) => {
    const { status, body } = await source.rest(method as RestMethod, path)
    return { status, body: change(path, body) }
  }

const importFrom = (source: App, target: App, request: Partial<ImportRequest> & { client?: ContractClient } = {}) =>
  runImport(target.context(), request.client ?? clientOf(source), { walletIds: [], isDryRun: false, ...request })

/** Starts a source with objects of every kind. */
async function startSource(engine: Engine) {
  const source = await startApp(engine)
  const ada = await source.customer()
  const shop = await source.customer({
    ...{ customerType: 'business', businessName: 'Kola Foods', firstName: null, lastName: null },
  })
  const gone = await source.customer({ email: 'gone@example.com' })
  await source.wallet({ customerId: gone, balance: '3' })
  await perform(closeCustomer, source.context(), { customerId: gone })
  for (let i = 0; i < 3; i++) await source.customer({ email: `customer${i}@example.com` })
  const wallets = {
    ada: await source.wallet({ customerId: ada, balance: '100', network: 'erc20' }),
    empty: await source.wallet({ customerId: ada, network: 'trc20', assetCode: 'USDT' }),
    shop: await source.wallet({ customerId: shop, balance: '0.00000001' }),
    naira: await source.wallet({ customerId: shop, assetCode: 'NGN', balance: '5' }),
    own: await source.wallet({ balance: '250' }),
  }
  await changeWalletStatus(source.context(), { walletId: wallets.shop, status: 'suspended' })
  for (const [kind, body] of Object.entries({ banks: bankMethodBody, wallets: walletMethodBody })) {
    await source.rest('POST', `/api/payout/methods/${kind}`, { body })
    await source.rest('POST', `/api/payout/methods/${kind}`, { body: { ...body, customer_id: ada } })
  }
  return { source, ids: { ada, shop, gone }, wallets }
}

const readPaths = ({ ids, wallets }: Pick<Awaited<ReturnType<typeof startSource>>, 'ids' | 'wallets'>) => [
  ...['/api/customers', '/api/customers?page=2&limit=2', '/api/payout/methods', '/api/payout/methods?type=BANK'],
  ...['/api/wallets', '/api/payout/methods?customer_id=null'],
  ...Object.values(ids).flatMap((id) => [
    ...[`/api/customers/${id}`, `/api/wallets/${id}/customer`, `/api/payout/methods?customer_id=${id}`],
  ]),
  ...Object.values(wallets).map((id) => `/api/wallets/${id}`),
]

const everything = /* GraphQL */ `
  {
    customers(first: 10) { totalCount edges { node {
      uuid type email phone status createdAt updatedAt address { line1 line2 city state postalCode country }
      wallets(first: 3) { totalCount nodes {
        uuid assetType currency description balance status createdAt updatedAt
        addresses { uuid address network createdAt }
      } }
      payoutMethods(first: 3) { totalCount nodes { __typename ... on Node { id } } }
    } } }
    payoutMethods(first: 10) { totalCount edges { node {
      ... on BankPayoutMethod { id uuid currency createdAt updatedAt accountNumber bankCode checks { field code } }
      ... on WalletPayoutMethod { id uuid currency createdAt updatedAt walletAddress network checks { field code } }
    } } }
  }
`

async function seal(app: App): Promise<void> {
  const sealer = startSealer({
    service: app.service,
    onError: (error) => {
      throw error
    },
  })
  await sealer.poll()
  await sealer.stop()
}

async function expectCleanAudit(app: App): Promise<void> {
  await app.expectBooksToBalance()
  await seal(app)
  const { findings, chain } = await auditChain(app.service)
  expect(findings.filter(({ contradictions }) => contradictions > 0)).toEqual([])
  expect(chain.unsealed).toBe(0)
}

const outcome = ({ rows, problems, isComplete }: ImportReport) => ({
  isComplete,
  counts: Object.fromEntries(rows.map(({ object, imported, same }) => [object, [imported, same]])),
  problems: problems.map(({ id, problem }) => [id, problem]),
})

describe.each(everyEngine)('import on %s', (engine) => {
  test('`import` preserves ids, times, statuses, addresses and balances in both APIs', async () => {
    const world = await startSource(engine)
    const { source } = world
    const target = await startApp(engine)

    const report = await importFrom(source, target)

    expect(outcome(report)).toEqual({
      isComplete: true,
      counts: { customers: [6, 0], 'payout methods': [4, 0], wallets: [6, 0] },
      problems: [],
    })
    expect(report.totals.map(({ currency, source, here }) => [currency, source, here])).toEqual([
      ['NGN', 5_0000_0000n, 5_0000_0000n],
      ['USDC', 353_0000_0001n, 353_0000_0001n],
      ['USDT', 0n, 0n],
    ])
    for (const path of readPaths(world)) {
      expect([path, (await target.rest('GET', path)).body]).toEqual([path, (await source.rest('GET', path)).body])
    }
    const [here, there] = [await target.graphql(everything), await source.graphql(everything)]
    expect(here.errors).toEqual([])
    expect(here.data).toEqual(there.data)
    await expectCleanAudit(target)
  })

  test('`import` creates one opening entry for each wallet with a balance, and records events with the original times', async () => {
    const { source, ids, wallets } = await startSource(engine)
    const target = await startApp(engine)
    await importFrom(source, target)
    await changeWalletStatus(target.context(), { walletId: wallets.shop, status: 'active' })

    const feed = (await target.rest('GET', '/api/events?limit=100')).body.data
    const created = Object.fromEntries(feed.map((event: { object: { id: string } }) => [event.object.id, event]))
    const customer = (await source.rest('GET', `/api/customers/${ids.ada}`)).body.data

    expect(feed).toHaveLength(16)
    expect(feed.every((event: { imported?: true }) => event.imported)).toBe(true)
    expect(created[ids.ada]).toMatchObject({ type: 'customer.created', timestamp: customer.created_at, data: customer })
    expect(created[wallets.ada]).toMatchObject({ type: 'wallet.created', data: { balance: '100.00000000' } })
    const { data: shop } = (await source.rest('GET', `/api/wallets/${wallets.shop}`)).body
    const { status, updated_at } = created[wallets.shop].data
    expect([status, updated_at]).toEqual(['suspended', shop.updated_at])
    const { data } = await target.graphql(
      /* GraphQL */ `
      query($id: ID!, $empty: ID!) {
        wallet(id: $id) {
          addresses { custody }
          ledgerEntries(first: 5) { nodes { kind direction amount balanceAfter reference } }
        }
        empty: wallet(id: $empty) { ledgerEntries(first: 5) { totalCount } }
        events(first: 100) { nodes { isImported } }
      }
    `,
      { id: wallets.ada, empty: wallets.empty },
    )
    expect(data).toEqual({
      wallet: {
        addresses: [{ custody: 'EXTERNAL' }],
        ledgerEntries: {
          nodes: [
            {
              ...{ kind: 'OPENING', direction: 'CREDIT', amount: '100.00000000', balanceAfter: '100.00000000' },
              reference: `import:${wallets.ada}`,
            },
          ],
        },
      },
      empty: { ledgerEntries: { totalCount: 0 } },
      events: { nodes: feed.map(() => ({ isImported: true })) },
    })
  })

  test('a client can pay from an imported wallet by its original id, and a wallet that is created after the import is listed first', async () => {
    const { source, ids, wallets } = await startSource(engine)
    const target = await startApp(engine)
    await importFrom(source, target)

    const payout = await target.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, customer_id: ids.ada } })
    const wallet = await target.rest('POST', '/api/wallets', {
      body: { currency: 'USDC', description: 'New', network: 'erc20', customer_id: ids.ada },
    })
    const list = (await target.rest('GET', `/api/wallets/${ids.ada}/customer`)).body.data

    expect([payout.status, wallet.status]).toEqual([200, 201])
    expect(list.map(({ id }: { id: string }) => id)).toEqual([wallet.body.data.id, wallets.empty, wallets.ada])
    const addresses = list.map(({ addresses }: { addresses: { address: string } }) => addresses.address)
    expect(new Set(addresses).size).toBe(3)
    await expectCleanAudit(target)
    await expect(importFrom(source, target)).rejects.toMatchObject({
      details: { fields: [{ field: 'merchantId', message: expect.stringContaining('without payouts') }] },
    })
  })

  test('a client can pay to an imported payout method by its original id, and replay imported payouts by their idempotency keys', async () => {
    const { source, ids, wallets } = await startSource(engine)
    const target = await startApp(engine)
    const methods = (await source.rest('GET', `/api/payout/methods?customer_id=${ids.ada}`)).body.data
    const { id: payoutMethodId } = methods.find(({ type }: { type: string }) => type === 'BANK')
    await importFrom(source, target)

    const payByRest = () =>
      target.rest('POST', '/api/payouts/banks', {
        body: { ...payoutBody, customer_id: ids.ada },
        headers: { 'idempotency-key': 'stored at the client' },
      })
    const payByGraphql = async () => {
      const { data } = await target.graphql(
        /* GraphQL */ `
          mutation ($input: CreatePayoutInput!) {
            createPayout(input: $input) {
              ... on CreatePayoutPayload { payout { uuid wallet { uuid } recipientMethod { ... on BankPayoutMethod { uuid } } } }
            }
          }
        `,
        {
          input: {
            ...{ walletId: wallets.ada, recipient: { payoutMethodId }, customerId: ids.ada },
            ...{ assetCode: 'USDC', amount: '7', idempotencyKey: 'another key' },
          },
        },
      )
      return data.createPayout.payout
    }
    const [byRest, byGraphql] = [await payByRest(), await payByGraphql()]

    expect(byRest.body.data).toMatchObject({ sender_wallet_id: wallets.ada, customer_id: ids.ada })
    expect(byGraphql).toMatchObject({ wallet: { uuid: wallets.ada }, recipientMethod: { uuid: payoutMethodId } })
    expect((await payByRest()).body).toEqual(byRest.body)
    expect(await payByGraphql()).toEqual(byGraphql)
    expect((await target.rest('GET', `/api/wallets/${wallets.ada}`)).body.data.balance).toBe('53.00000000')
    const body = { customer_id: ids.ada }
    expect((await target.rest('DELETE', `/api/payout/methods/${payoutMethodId}`, { body })).status).toBe(200)
    await expectCleanAudit(target)
  })

  test('a repeated `import` changes nothing, and reports rows that differ from the source', async () => {
    const { source, ids, wallets } = await startSource(engine)
    const target = await startApp(engine)
    await importFrom(source, target)
    const before = await readStoredRows(target)

    expect(outcome(await importFrom(source, target))).toEqual({
      isComplete: true,
      counts: { customers: [0, 6], 'payout methods': [0, 4], wallets: [0, 6] },
      problems: [],
    })
    await perform(updateCustomer, source.context(), { customerId: ids.ada, email: 'new@example.com' })
    await depositToWallet(source.context(), { walletId: wallets.shop, amount: '1', reference: 'late' })
    const report = await importFrom(source, target)

    expect(outcome(report)).toMatchObject({
      isComplete: false,
      problems: [
        [ids.ada, 'differs from the row that is here in email, updatedAt; it was not changed'],
        [wallets.shop, 'differs from the row that is here in balance; it was not changed'],
      ],
    })
    expect(report.balanceDifferences).toEqual([
      { walletId: wallets.shop, currency: 'USDC', source: 1_0000_0001n, here: 1n },
    ])
    expect(await readStoredRows(target)).toEqual(before)
  })

  test('`import` detects a balance that changes at the source between its first and second read of the balance', async () => {
    const { source, wallets } = await startSource(engine)
    const target = await startApp(engine)
    let lists = 0
    const client = clientOf(source)
    const report = await importFrom(source, target, {
      client: async (request) => {
        if (request.path.startsWith('/api/wallets?limit=1&') && ++lists === 2) {
          await depositToWallet(source.context(), { walletId: wallets.ada, amount: '0.00000001', reference: 'late' })
        }
        return client(request)
      },
    })

    expect(report).toMatchObject({ isComplete: false, problems: [], balancesCompared: 6, balancesDiffering: 1 })
    expect(report.balanceDifferences).toEqual([
      { walletId: wallets.ada, currency: 'USDC', source: 100_0000_0001n, here: 100_0000_0000n },
    ])
    expect(report.totals.filter(({ isEqual }) => !isEqual).map(({ currency }) => currency)).toEqual(['USDC'])
  })

  test('`import` continues after an interruption at any request, and loses no row', async () => {
    const world = await startSource(engine)
    const { source } = world
    const target = await startApp(engine)
    const client = clientOf(source)

    for (let stop = 0; ; stop++) {
      let requests = 0
      const interrupted: ContractClient = async (request) => {
        if (requests++ === stop) throw new Error('stopped')
        return client(request)
      }
      const ended = await importFrom(source, target, { client: interrupted }).catch((error: Error) => error.message)
      if (ended !== 'stopped') {
        expect(ended).toMatchObject({ isComplete: true })
        expect(stop).toBeGreaterThan(5)
        break
      }
    }
    for (const path of readPaths(world)) {
      expect([path, (await target.rest('GET', path)).body]).toEqual([path, (await source.rest('GET', path)).body])
    }
    await expectCleanAudit(target)
  })

  test('a dry run of `import` writes nothing, and returns the same report as an import', async () => {
    const { source, ids } = await startSource(engine)
    const target = await startApp(engine)
    const before = await readStoredRows(target)

    const report = await importFrom(source, target, {
      isDryRun: true,
      rateLimit: () => ({ limit: 60, windowSeconds: 60 }),
    })

    expect(outcome(report)).toEqual({
      isComplete: false,
      counts: { customers: [6, 0], 'payout methods': [4, 0], wallets: [6, 0] },
      problems: [],
    })
    expect(report.estimatedSeconds).toBeGreaterThan(report.requests)
    expect(await readStoredRows(target)).toEqual(before)
    await importFrom(source, target)
    await perform(updateCustomer, source.context(), { customerId: ids.shop, phone: '+2348000000000' })
    expect((await importFrom(source, target, { isDryRun: true })).problems).toEqual([
      expect.objectContaining({ id: ids.shop, problem: expect.stringContaining('phone') }),
    ])
  })

  test('`import` rejects ids and addresses of another merchant without revealing that merchant', async () => {
    const { source, ids, wallets } = await startSource(engine)
    const target = await startApp(engine)
    await importFrom(source, target)
    const other = await target.otherMerchant()
    const context = createContext(target.service, other.id)
    const before = await readStoredRows(target)

    const report = await runImport(context, clientOf(source), { walletIds: [], isDryRun: false })

    const found = outcome(report)
    expect(found.counts).toEqual({ customers: [0, 0], 'payout methods': [0, 0], wallets: [0, 0] })
    expect(found.problems).toContainEqual([ids.ada, 'has an id that is in use'])
    expect(found.problems).toContainEqual([wallets.own, 'has an id that is in use'])
    expect(JSON.stringify(report.problems)).not.toContain(target.merchant.id)
    expect(await readStoredRows(target)).toEqual(before)
  })

  test('imported rows are listed together with existing rows, and time filters apply to imported and existing rows', async () => {
    const { source, ids } = await startSource(engine)
    // The merchant has a later customer before the import.
    const target = await startApp(engine)
    const native = await target.customer({ email: 'native@example.com' })
    await importFrom(source, target)
    const rows = (await target.rest('GET', '/api/customers?limit=100')).body.data as {
      id: string
      created_at: string
    }[]
    expect(rows.at(-1)?.id).toBe(native)

    const { created_at: oldest = '' } = rows.find(({ id }) => id === ids.ada) ?? {}
    const { data } = await target.graphql(
      'query($before: DateTime!) { customers(first: 50, filter: { createdBefore: $before }) { totalCount nodes { uuid } } }',
      { before: rows.at(-1)?.created_at },
    )

    expect(data.customers.totalCount).toBe(6)
    expect(data.customers.nodes.map(({ uuid }: { uuid: string }) => uuid)).toEqual(
      rows.slice(0, -1).map(({ id }) => id),
    )
    expect(oldest < String(rows.at(-1)?.created_at)).toBe(true)
    await expectCleanAudit(target)
  })
})
