import { describe, expect, test } from 'vitest'
import { closeCustomer } from '../../src/modules/customers/close-customer.ts'
import { createKey } from '../../src/modules/merchants/manage-keys.ts'
import type { App, RestMethod } from '../support/app.ts'
import { everyEngineAndWorkers, startApp } from '../support/app.ts'
import { bankMethodBody } from '../support/bodies.ts'
import { perform } from '../support/perform.ts'
import { absentId, creations, walletBody } from './endpoints.ts'

/** Responses to a request with a key; a constant request id makes their bytes comparable. */
const asker =
  (app: App) =>
  (path: string, body: object, key: string, apiKey = app.merchant.apiKey) =>
    app.rest('POST', path, { body, key: apiKey, headers: { 'idempotency-key': key, 'x-request-id': 'same' } })

describe.each(everyEngineAndWorkers)('ruling 22: Idempotency-Key on %s', (engine) => {
  test.each(creations)(
    '$name returns the first response to a repeated body, with Idempotent-Replayed',
    async ({ path, body, status }) => {
      const app = await startApp(engine)
      await app.wallet({ balance: '100' })
      const ask = asker(app)
      const first = await ask(path, body ?? {}, 'k-1')
      const second = await ask(path, body ?? {}, 'k-1')
      expect([first.status, first.headers['idempotent-replayed']]).toEqual([status, undefined])
      expect([second.status, second.text]).toEqual([status, first.text])
      expect(second.headers['idempotent-replayed']).toBe('true')
      const other = await ask(path, body ?? {}, 'k-2')
      expect(other.body.data.id).not.toBe(first.body.data.id)
      await app.expectBooksToBalance()
    },
  )

  test.each(creations)(
    '$name rejects another body under the same key with 422 and creates nothing',
    async ({ path, body }) => {
      const app = await startApp(engine)
      await app.wallet({ balance: '100' })
      const customer_id = await app.customer()
      const ask = asker(app)
      await ask(path, body ?? {}, 'k')
      const response = await ask(
        path,
        { ...body, ...(path === '/api/webhooks' ? { description: 'another' } : { customer_id }) },
        'k',
      )
      expect([response.status, response.body.error.code]).toEqual([422, 'IDEMPOTENCY_KEY_REUSED'])
      expect(response.headers['idempotent-replayed']).toBeUndefined()
      expect((await app.rest('GET', `/api/wallets/${customer_id}/customer`)).body.data).toEqual([])
      expect((await app.rest('GET', `/api/payout/methods?customer_id=${customer_id}`)).body.data).toEqual([])
    },
  )

  test('a key of 1 to 255 printable ASCII characters is accepted, and any other text is rejected with 400', async () => {
    const app = await startApp(engine)
    const ask = asker(app)
    for (const key of ['x', 'x'.repeat(255), `"${'y'.repeat(255)}"`, 'a key, with "everything" ~']) {
      const first = await ask('/api/wallets', walletBody, key)
      expect([key, first.status]).toEqual([key, 201])
      expect((await ask('/api/wallets', walletBody, key)).text).toBe(first.text)
    }
    const wrong = ['', '""', '"  "', 'x'.repeat(256), `"${'x'.repeat(256)}"`, 'clé', 'a\tb', 'a\u0001b', '💸']
    for (const key of wrong) {
      const { status, body } = await ask('/api/wallets', walletBody, key)
      expect([key, status, body.error.details.fields[0].field]).toEqual([key, 400, 'Idempotency-Key'])
    }
  })

  test('a key is shared by all API keys of a merchant, and separate for each operation and merchant', async () => {
    const app = await startApp(engine)
    const ask = asker(app)
    const wallet = await ask('/api/wallets', walletBody, 'k')
    const method = await ask('/api/payout/methods/banks', bankMethodBody, 'k')
    expect(method.status).toBe(201)
    const { apiKey: second } = await createKey(app.service, app.merchant.id)
    expect((await ask('/api/wallets', walletBody, 'k', second)).text).toBe(wallet.text)
    const { apiKey: stranger } = await app.otherMerchant()
    const theirs = await ask('/api/wallets', { ...walletBody, description: 'Other' }, 'k', stranger)
    expect([theirs.status, theirs.headers['idempotent-replayed']]).toEqual([201, undefined])
  })

  test('a replay returns the first response even if its objects have changed since', async () => {
    const app = await startApp(engine)
    const customer_id = await app.customer()
    const ask = asker(app)
    const owned = { ...bankMethodBody, customer_id }
    const first = await ask('/api/payout/methods/banks', owned, 'k')
    const path = `/api/payout/methods/${first.body.data.id}`
    await app.rest('PUT', path.replace('methods/', 'methods/banks/'), { body: { customer_id, bank_name: 'Zenith' } })
    await app.rest('DELETE', path, { body: { customer_id } })
    await perform(closeCustomer, app.context(), { customerId: customer_id })
    const replay = await ask('/api/payout/methods/banks', owned, 'k')
    expect([replay.status, replay.text]).toEqual([201, first.text])
  })

  test.each([
    ['GET', '/api/customers'],
    ['PUT', `/api/payout/methods/banks/${absentId}`],
    ['DELETE', `/api/payout/methods/${absentId}`],
  ])('a key has no effect on %s', async (method, path) => {
    const app = await startApp(engine)
    const headers = { 'idempotency-key': 'x'.repeat(300) }
    const { status } = await app.rest(method as RestMethod, path, { headers, ...(method !== 'GET' && { body: {} }) })
    expect(status).toBe(method === 'GET' ? 200 : 404)
  })
})
