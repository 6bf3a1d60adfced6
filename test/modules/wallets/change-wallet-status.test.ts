import { describe, expect, test } from 'vitest'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { changeWalletStatus } from '../../../src/modules/wallets/change-wallet-status.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'
import { absentId, nigerian } from '../payouts/payout-places.ts'

const terms = { assetCode: 'USDC', amount: '40' } as const
const { recipientName: accountName, ...nigerianAccount } = { ...nigerian, recipientCountry: 'NIGERIA' }
const recipient = { bankAccount: { ...nigerianAccount, accountName } }

const suspended = {
  code: 'WALLET_NOT_FOUND',
  message: expect.stringContaining('`walletId` must name an active wallet'),
}
const noneActive = { code: 'WALLET_NOT_FOUND', message: 'There is no active USDC wallet to pay from.' }

const suspend = (app: App, walletId: string) => changeWalletStatus(app.context(), { walletId, status: 'suspended' })
const activate = (app: App, walletId: string) => changeWalletStatus(app.context(), { walletId, status: 'active' })

const payByRest = (app: App, changes: object = {}) =>
  app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, ...changes } })

/** Returns the outcomes of a quote and of a payout by GraphQL, without an idempotency key. */
async function quoteAndPay(app: App, input: object) {
  const error = '... on UserError { code message }'
  const { data, errors } = await app.graphql(
    `query ($input: PayoutQuoteInput!) { payoutQuote(input: $input) { ${error} ... on PayoutQuote { wallet { uuid } } } }`,
    { input: { ...terms, recipient, ...input } },
  )
  const paid = await app.graphql(
    `mutation ($input: CreatePayoutInput!) { createPayout(input: $input) { ${error}
      ... on CreatePayoutPayload { payout { wallet { uuid } } } } }`,
    { input: { ...terms, recipient, ...input, idempotencyKey: app.service.newId() } },
  )
  expect([errors, paid.errors]).toEqual([[], []])
  const { payout, ...refusal } = paid.data.createPayout
  return [data.payoutQuote, payout ?? refusal]
}

describe.each(everyEngine)('ruling 150: a suspended wallet on %s', (engine) => {
  test('makes no payout, by either API, of the merchant or of a customer', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const own = await app.wallet({ balance: '100' })
    const customers = await app.wallet({ balance: '100', customerId })
    for (const walletId of [own, customers]) await suspend(app, walletId)
    const before = await readStoredRows(app)

    const byRest = [await payByRest(app), await payByRest(app, { customer_id: customerId })]
    expect(byRest.map(({ status, body }) => [status, body.error])).toEqual(Array(2).fill([422, noneActive]))
    for (const input of [{}, { customerId }]) expect(await quoteAndPay(app, input)).toEqual([noneActive, noneActive])
    for (const input of [{ walletId: own }, { walletId: customers, customerId }]) {
      expect(await quoteAndPay(app, input)).toEqual([suspended, suspended])
    }
    // The status is checked before the balance, and the currency before the status.
    expect(await quoteAndPay(app, { walletId: own, amount: '400' })).toEqual([suspended, suspended])
    const otherAsset = { code: 'WALLET_NOT_FOUND', message: expect.stringContaining('The wallet holds USDC') }
    expect(await quoteAndPay(app, { walletId: own, assetCode: 'USDT' })).toEqual([otherAsset, otherAsset])
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('is skipped when a payout chooses its wallet, and pays again once it is active', async () => {
    const app = await startApp(engine)
    const [oldest, other] = [await app.wallet({ balance: '100' }), await app.wallet({ balance: '50' })]
    const chosen = async () => (await payByRest(app)).body.data?.sender_wallet_id
    await suspend(app, oldest)

    expect(await quoteAndPay(app, {})).toEqual([{ wallet: { uuid: other } }, { wallet: { uuid: other } }])
    const refused = await payByRest(app)
    expect(refused.body.error.details).toEqual({ available: '10.00000000', required: '40.00000000' })
    expect(refused.body.error.code).toBe('INSUFFICIENT_FUNDS')
    await activate(app, oldest)
    expect(await chosen()).toBe(oldest)
    expect(await quoteAndPay(app, { walletId: oldest })).toEqual(Array(2).fill({ wallet: { uuid: oldest } }))
    await app.expectBooksToBalance()
  })

  test('is credited with deposits, failed payouts and returned payouts, and a deposit can be reversed', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '100' })
    const pay = () => perform(createPayout, app.context(), { ...terms, ...nigerian, amount: '30' })
    const [failing, returning] = [await pay(), await pay()]
    await settlePayout(app.context(), { payoutId: returning.id, status: 'COMPLETED' })
    await suspend(app, walletId)
    const balance = async () => (await app.rest('GET', `/api/wallets/${walletId}`)).body.data.balance

    await depositToWallet(app.context(), { walletId, amount: '5', reference: 'arrived' })
    expect(await balance()).toBe('45.00000000')
    await settlePayout(app.context(), { payoutId: failing.id, status: 'FAILED' })
    expect(await balance()).toBe('75.00000000')
    await settlePayout(app.context(), { payoutId: returning.id, status: 'RETURNED' })
    expect(await balance()).toBe('105.00000000')
    await reverseDeposit(app.context(), { reference: 'arrived', reason: 'mistyped' })
    expect(await balance()).toBe('100.00000000')
    expect((await getWallet(app.context(), { walletId })).status).toBe('suspended')
    await app.expectBooksToBalance()
  })

  test('is shown and found by its status in both APIs', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const active = await app.wallet()
    const own = await app.wallet()
    const customers = await app.wallet({ customerId: customer_id })
    for (const walletId of [own, customers]) await suspend(app, walletId)

    const found = async (path: string) =>
      (await app.rest('GET', path)).body.data.map(({ id, status }: Record<string, string>) => [id, status])
    const both = [customers, own].map((id) => [id, 'suspended'])
    expect(await found('/api/wallets?status=suspended')).toEqual(both)
    expect(await found('/api/wallets?status=SUSPENDED')).toEqual(both)
    expect(await found('/api/wallets?status=active')).toEqual([[active, 'active']])
    for (const status of ['pending', 'frozen']) expect(await found(`/api/wallets?status=${status}`)).toEqual([])
    expect(await found(`/api/wallets?status=suspended&customer_id=${customer_id}&currency=USDC`)).toEqual([both[0]])
    expect(await found(`/api/wallets/${customer_id}/customer?status=suspended`)).toEqual([both[0]])
    expect(await found(`/api/wallets/${customer_id}/customer?status=active`)).toEqual([])
    expect((await app.rest('GET', `/api/wallets/${own}`)).body.data.status).toBe('suspended')
    const { data } = await app.graphql(
      '{ wallets(first: 5, filter: { status: SUSPENDED }) { totalCount nodes { uuid status } } }',
    )
    const nodes = [customers, own].map((uuid) => ({ uuid, status: 'SUSPENDED' }))
    expect(data.wallets).toEqual({ totalCount: 2, nodes })
  })
})

describe.each(everyEngine)('changeWalletStatus on %s', (engine) => {
  test('changes the status and `updatedAt` of the wallet and nothing else, and a repetition changes nothing', async () => {
    let now = Date.parse('2026-03-01T10:00:00.000Z')
    const app = await startApp(engine, { clock: () => now })
    const walletId = await app.wallet({ balance: '100' })
    await perform(createPayout, app.context(), { ...terms, ...nigerian })
    const wallet = await getWallet(app.context(), { walletId })
    const { wallets: _, ...before } = await readStoredRows(app)
    now += 60_000

    const changed = { status: 'suspended', updatedAt: '2026-03-01T10:01:00.000Z' }
    expect(await suspend(app, walletId)).toMatchObject(changed)
    now += 60_000
    expect(await suspend(app, walletId)).toMatchObject(changed)
    expect(await getWallet(app.context(), { walletId })).toEqual({ ...wallet, ...changed })
    // The other tables include the events.
    const { wallets: __, ...after } = await readStoredRows(app)
    expect(after).toEqual(before)
    expect(await activate(app, walletId)).toMatchObject({ status: 'active', updatedAt: '2026-03-01T10:02:00.000Z' })
  })

  test('leaves the creation event of the wallet unchanged', async () => {
    let now = Date.parse('2026-03-01T10:00:00Z')
    const app = await startApp(engine, { clock: () => now })
    const walletId = await app.wallet()
    const event = async () => (await app.rest('GET', '/api/events')).body.data[0]
    const atCreation = await event()
    expect(atCreation).toMatchObject({ type: 'wallet.created', data: { id: walletId, status: 'active' } })
    now += 60_000
    await suspend(app, walletId)
    expect(await event()).toEqual(atCreation)
  })

  test('rejects an unknown status, and then an unknown wallet or a wallet of another merchant', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet()
    const before = await readStoredRows(app)
    const change = (id: string, status: string) =>
      changeWalletStatus(app.context(), { walletId: id, status: status as 'active' })

    await expect(change('x', 'pending')).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { fields: [{ field: 'status', message: 'must be one of active, suspended' }] },
    })
    for (const id of ['x', absentId]) {
      await expect(change(id, 'suspended')).rejects.toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    }
    const context = { ...app.context(), merchantId: (await app.otherMerchant()).id }
    await expect(changeWalletStatus(context, { walletId, status: 'suspended' })).rejects.toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    })
    expect((await readStoredRows(app)).wallets).toEqual(before.wallets)
  })
})
