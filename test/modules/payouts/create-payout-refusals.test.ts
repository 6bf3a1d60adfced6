import { describe, expect, test } from 'vitest'
import { closeCustomer } from '../../../src/modules/customers/close-customer.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows } from '../../support/stored.ts'

const path = '/api/payouts/banks'
const absentId = '019b7679-7400-7000-8000-000000000000'

describe.each(everyEngine)('createPayout on %s', (engine) => {
  const rates = [
    { fromCode: 'USDC', toCode: 'NGN', rate: '1500' },
    { fromCode: 'USDT', toCode: 'NGN', rate: '1500' },
  ]

  /** A merchant with 100 USDC, a closed and an open customer without wallets, and the used key `used`. */
  async function startRejectingApp() {
    const app = await startApp(engine, { rates })
    const closedId = await app.customer()
    const customerId = await app.customer()
    await perform(closeCustomer, app.context(), { customerId: closedId })
    await app.wallet({ balance: '140' })
    const used = await app.rest('POST', path, { body: payoutBody, headers: { 'idempotency-key': 'used' } })
    expect(used.body.data.balance).toBe('100.00000000')
    return { app, closedId, customerId }
  }

  type Case = Awaited<ReturnType<typeof startRejectingApp>>

  const tooMuch = { ...payoutBody, amount: '100.00000001' }
  const withoutRate = { ...tooMuch, currency: 'USDT', recipient_currency: 'ZAR', recipient_country: 'South Africa' }
  const invalid = { ...withoutRate, amount: '0', customer_id: absentId }
  const usedKey = { 'idempotency-key': 'used' }

  // In order of precedence: each case also has every later error.
  const cases: [number, string, (world: Case) => Parameters<Case['app']['rest']>[2]][] = [
    [401, 'MISSING_TOKEN', () => ({ key: null, payload: '{', headers: { 'content-type': 'application/json' } })],
    [
      400,
      'MALFORMED_JSON',
      () => ({ payload: '{"amount":', headers: { ...usedKey, 'content-type': 'application/json' } }),
    ],
    [400, 'INVALID_INPUT', () => ({ body: invalid, headers: usedKey })],
    [422, 'IDEMPOTENCY_KEY_REUSED', () => ({ body: { ...withoutRate, customer_id: absentId }, headers: usedKey })],
    [404, 'RESOURCE_NOT_FOUND', () => ({ body: { ...withoutRate, customer_id: absentId } })],
    [409, 'CUSTOMER_CLOSED', ({ closedId }) => ({ body: { ...withoutRate, customer_id: closedId } })],
    [422, 'RATE_UNAVAILABLE', ({ customerId }) => ({ body: { ...withoutRate, customer_id: customerId } })],
    [422, 'WALLET_NOT_FOUND', ({ customerId }) => ({ body: { ...tooMuch, customer_id: customerId } })],
    [422, 'INSUFFICIENT_FUNDS', () => ({ body: tooMuch })],
  ]

  test.each(cases)('fails with %d %s and moves no money', async (status, code, request) => {
    const world = await startRejectingApp()
    const before = await readStoredRows(world.app)

    const response = await world.app.rest('POST', path, request(world))

    expect([response.status, response.body.error.code]).toEqual([status, code])
    expect(response.headers['idempotent-replayed']).toBeUndefined()
    expect(await readStoredRows(world.app)).toEqual(before)
    const next = await world.app.rest('POST', path, { body: { ...payoutBody, amount: '100' } })
    expect(next.body.data.balance).toBe('0.00000000')
    await world.app.expectBooksToBalance()
  })

  test('does not use up the idempotency key if it rejects the request', async () => {
    const { app } = await startRejectingApp()
    const headers = { 'idempotency-key': 'fresh' }
    const rejected = await app.rest('POST', path, { body: tooMuch, headers })
    const created = await app.rest('POST', path, { body: { ...payoutBody, amount: '100' }, headers })
    expect(rejected.body.error.code).toBe('INSUFFICIENT_FUNDS')
    expect(created.body.data.balance).toBe('0.00000000')
    expect(created.headers['idempotent-replayed']).toBeUndefined()
  })

  test('reports every invalid field in one response', async () => {
    const { app } = await startRejectingApp()
    const before = await readStoredRows(app)

    const { status, body } = await app.rest('POST', path, {
      body: {
        currency: 'BTC',
        amount: true,
        account_number: '',
        bank_name: null,
        recipient_currency: 'USD',
        narration: 7,
      },
    })

    expect(status).toBe(400)
    const fields = body.error.details.fields.map(({ field, code }: { field: string; code: string }) => [field, code])
    expect(Object.fromEntries(fields)).toEqual({
      currency: 'INVALID_PARAMETER',
      account_number: 'MISSING_REQUIRED_FIELD',
      bank_name: 'MISSING_REQUIRED_FIELD',
      bank_code: 'MISSING_REQUIRED_FIELD',
      amount: 'INVALID_FORMAT',
      recipient_name: 'MISSING_REQUIRED_FIELD',
      recipient_currency: 'INVALID_PARAMETER',
      recipient_country: 'MISSING_REQUIRED_FIELD',
      narration: 'INVALID_FORMAT',
    })
    expect(fields).toHaveLength(9)
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('does not find another merchant’s customer or wallet', async () => {
    const { app, customerId } = await startRejectingApp()
    const other = await app.otherMerchant()

    const forCustomer = await app.rest('POST', path, {
      key: other.apiKey,
      body: { ...payoutBody, customer_id: customerId },
    })
    const forItself = await app.rest('POST', path, { key: other.apiKey, body: payoutBody })

    expect(forCustomer.body.error.code).toBe('RESOURCE_NOT_FOUND')
    expect(forItself.body.error.code).toBe('WALLET_NOT_FOUND')
  })
})
