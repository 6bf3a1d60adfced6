import { describe, expect, test } from 'vitest'
import { closeCustomer } from '../../src/modules/customers/close-customer.ts'
import { walletExamples } from '../../src/modules/payout-methods/payout-method-fields.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { findSigns, startWorlds } from '../graphql/support/world.ts'
import type { App } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { perform } from '../support/perform.ts'
import { absentId } from './endpoints.ts'

const ids = (body: { data: { id: string }[] }) => body.data.map(({ id }) => id)

async function pay(app: App, changes: object = {}): Promise<string> {
  const { status, body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, ...changes } })
  expect(status).toBe(200)
  return body.data.id
}

describe.each(everyEngine)('REST endpoints that read payouts on %s', (engine) => {
  test('a payout has the same fields in the response to its creation, by its id, and in the list', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const { body: created } = await app.rest('POST', '/api/payouts/banks', { body: payoutBody })
    const path = `/api/payouts/${created.data.id}`
    expect((await app.rest('GET', path)).body).toEqual({ status: 'success', data: created.data })
    for (const status of ['COMPLETED', 'RETURNED'] as const) {
      await settlePayout(app.context(), { payoutId: created.data.id, status })
      const [one, list] = [await app.rest('GET', path), await app.rest('GET', '/api/payouts')]
      expect(one.body.data).toEqual({ ...created.data, status, updated_at: one.body.data.updated_at })
      expect(one.body.data.updated_at >= created.data.updated_at).toBe(true)
      expect(list.body).toEqual({
        status: 'success',
        data: [one.body.data],
        pagination: { total: 1, page: 1, limit: 20, totalPages: 1 },
      })
    }
    // GraphQL has it under the same id.
    const { data } = await app.graphql('query($id: ID!) { payout(id: $id) { uuid status } }', { id: created.data.id })
    expect(data.payout).toEqual({ uuid: created.data.id, status: 'RETURNED' })
  })

  test('payouts are listed newest first, with filters by owner, status, currency and time', async () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => nowMs })
    const customerId = await app.customer()
    for (const owner of [undefined, customerId]) {
      for (const assetCode of ['USDC', 'USDT'])
        await app.wallet({ balance: '1000', assetCode, ...(owner && { customerId: owner }) })
    }
    const created: { id: string; currency: string; owner: string | null; status: string; at: number }[] = []
    for (let i = 0; i < 12; i++) {
      nowMs += 3_600_000
      const [owner, currency] = [i % 2 === 0 ? null : customerId, i % 3 === 0 ? 'USDT' : 'USDC']
      const id = await pay(app, { customer_id: owner, currency, amount: '1' })
      const status = i % 4 === 0 ? 'COMPLETED' : 'PROCESSING'
      if (status === 'COMPLETED') await settlePayout(app.context(), { payoutId: id, status })
      created.unshift({ id, currency, owner, status, at: nowMs })
    }
    const from = created[8]?.at ?? 0
    const before = created[2]?.at ?? 0
    const cases: [string, (each: (typeof created)[number]) => boolean][] = [
      ['', () => true],
      ['customer_id=&status=&currency=&created_from=&created_before=', () => true],
      ['customer_id=null', ({ owner }) => owner === null],
      [`customer_id=${customerId}`, ({ owner }) => owner === customerId],
      [`customer_id=${absentId}`, () => false],
      ['status=COMPLETED', ({ status }) => status === 'COMPLETED'],
      ['status=RETURNED', () => false],
      ['currency=USDT', ({ currency }) => currency === 'USDT'],
      ['currency=GOLD', () => false],
      [`created_from=${new Date(from).toISOString()}`, ({ at }) => at >= from],
      [`created_before=${new Date(before).toISOString()}`, ({ at }) => at < before],
      [`created_from=2031-01-01T00:00:00Z`, () => false],
      [
        `customer_id=${customerId}&status=PROCESSING&currency=USDC&created_from=${new Date(from).toISOString()}&created_before=${new Date(before).toISOString()}`,
        ({ owner, status, currency, at }) =>
          owner === customerId && status === 'PROCESSING' && currency === 'USDC' && at >= from && at < before,
      ],
    ]
    for (const [query, isListed] of cases) {
      const expected = created.filter(isListed).map(({ id }) => id)
      const pages: string[] = []
      const totalPages = Math.ceil(expected.length / 5)
      for (let page = 1; page <= totalPages + 1; page++) {
        const { status, body } = await app.rest('GET', `/api/payouts?${query}&limit=5&page=${page}`)
        expect([query, status, body.pagination]).toEqual([
          query,
          200,
          { total: expected.length, page, limit: 5, totalPages },
        ])
        pages.push(...ids(body))
      }
      expect([query, pages]).toEqual([query, expected])
    }
  })

  test.each([
    ['status=complete', 'status', 'must be one of PROCESSING, COMPLETED, FAILED, RETURNED'],
    ['customer_id=me', 'customer_id', 'must be a UUID, or null for the merchant'],
    ['created_from=yesterday', 'created_from', ''],
    ['created_before=2030-01-01', 'created_before', ''],
    ['currency=%00', 'currency', 'must not contain'],
    ['page=0', 'page', 'must be an integer of at least 1'],
    ['limit=101', 'limit', 'must be an integer from 1 to 100'],
    ['status=FAILED&status=FAILED', 'status', 'must be given once'],
  ])('the list of payouts rejects %s', async (query, field, message) => {
    const app = await startApp(engine)
    const { status, body } = await app.rest('GET', `/api/payouts?${query}`)
    expect([status, body.error.details.fields.map((each: { field: string }) => each.field)]).toEqual([400, [field]])
    expect(body.error.details.fields[0].message).toContain(message)
  })

  test('payouts and wallets of another merchant are not found', async () => {
    const { app, other, ours, theirs, canaries } = await startWorlds(engine)
    const ask = async (path: string, key?: string) => {
      const response = await app.rest('GET', path, { headers: { 'x-request-id': 'same' }, ...(key && { key }) })
      if (key === undefined) expect(findSigns(response.text, canaries)).toEqual([])
      return response
    }
    const absent = await ask(`/api/payouts/${absentId}`)
    expect([absent.status, absent.body.error.code]).toEqual([404, 'RESOURCE_NOT_FOUND'])
    for (const id of [...Object.values(theirs.payouts), ...Object.values(theirs.wallets), theirs.person, 'me', '%00']) {
      for (const written of [id, id.toUpperCase()]) {
        const { status, text } = await ask(`/api/payouts/${written}`)
        expect([status, text]).toEqual([404, absent.text])
      }
    }
    const own = Object.values(ours.payouts).toReversed()
    for (const query of [
      '',
      'status=COMPLETED',
      'currency=USDC',
      'customer_id=null',
      'created_from=2026-01-01T00:00:00Z',
    ]) {
      const { body } = await ask(`/api/payouts?${query}`)
      expect(body.data.length).toBeGreaterThan(0)
      expect(body.pagination.total).toBe(body.data.length)
      expect(own).toEqual(expect.arrayContaining(ids(body)))
    }
    for (const customer of [theirs.person, theirs.company, theirs.merchantId]) {
      const { body } = await ask(`/api/payouts?customer_id=${customer}`)
      expect([body.data, body.pagination.total]).toEqual([[], 0])
    }
    expect(ids((await ask('/api/wallets')).body).sort()).toEqual(Object.values(ours.wallets).sort())
    for (const customer of [theirs.person, theirs.company, theirs.merchantId]) {
      const { body } = await ask(`/api/wallets?customer_id=${customer}`)
      expect([body.data, body.pagination.total]).toEqual([[], 0])
    }
    // Their owner can read them.
    expect((await ask(`/api/payouts/${theirs.payouts.failed}`, other.apiKey)).body.data.status).toBe('FAILED')
    expect(ids((await ask('/api/wallets?customer_id=null', other.apiKey)).body)).toHaveLength(2)
  })
})

describe.each(everyEngine)('the list of all wallets on %s', (engine) => {
  test('ruling 123: GET /api/wallets lists the wallets of all owners with every address, and filters them', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const [usdc, zar] = [await app.wallet({ balance: '12.5' }), await app.wallet({ assetCode: 'ZAR' })]
    const customers = await app.wallet({ customerId })
    await perform(closeCustomer, app.context(), { customerId })
    const { body } = await app.rest('GET', '/api/wallets')
    expect(ids(body)).toEqual([customers, zar, usdc])
    expect(body.pagination).toEqual({ total: 3, page: 1, limit: 10, totalPages: 1 })
    expect(body.data[0]).toMatchObject({ customer_id: customerId })
    expect(body.data[1]).toMatchObject({ customer_id: null, addresses: [] })
    const { body: one } = await app.rest('GET', `/api/wallets/${usdc}`)
    expect(body.data[2]).toEqual(one.data)
    expect(body.data[2].balance).toBe('12.50000000')
    expect(body.data[2].addresses).toHaveLength(1)

    const walletIds = async (query: string) => ids((await app.rest('GET', `/api/wallets?${query}`)).body)
    expect(await walletIds('currency=USDC')).toEqual([customers, usdc])
    expect(await walletIds('asset_type=FIAT&status=active')).toEqual([zar])
    expect(await walletIds('asset_type=GOLD')).toEqual([])
    expect(await walletIds('limit=1&page=2')).toEqual([zar])
    expect(await walletIds(`customer_id=${customerId}`)).toEqual([customers])
    expect(await walletIds(`customer_id=${customerId}&currency=ZAR`)).toEqual([])
    expect(await walletIds('customer_id=null&currency=USDC')).toEqual([usdc])
    expect(await walletIds(`customer_id=${absentId}`)).toEqual([])
    const { status, body: failure } = await app.rest('GET', '/api/wallets?customer_id=me')
    expect([status, failure.error.details.fields[0].field]).toEqual([400, 'customer_id'])
  })
})

describe.each(everyEngine.slice(0, 1))('network names on %s', (engine) => {
  test('a network is accepted in the spelling of the asset codes, and returned in lower case', async () => {
    const app = await startApp(engine)
    const { body: assets } = await app.rest('GET', '/api/asset-codes?asset_type=STABLECOIN')
    const networkNames = assets.data.find(({ code }: { code: string }) => code === 'USDC').networks
    expect(networkNames.length).toBeGreaterThan(2)
    for (const { network } of networkNames) {
      const wallet = { currency: 'USDC', description: 'x', network }
      const headers = { 'idempotency-key': network }
      const createdWallet = await app.rest('POST', '/api/wallets', { body: wallet, headers })
      expect([createdWallet.status, createdWallet.body.data.addresses[0].network]).toEqual([201, network.toLowerCase()])
      const again = await app.rest('POST', '/api/wallets', {
        body: { ...wallet, network: network.toLowerCase() },
        headers,
      })
      expect([again.text, again.headers['idempotent-replayed']]).toEqual([createdWallet.text, 'true'])
      const method = {
        type: 'WALLET',
        currency: 'USDC',
        wallet_address: walletExamples(network.toLowerCase()).walletAddress,
        network,
      }
      const registered = await app.rest('POST', '/api/payout/methods/wallets', { body: method })
      expect([registered.status, registered.body.data.network]).toEqual([201, network.toLowerCase()])
    }
    const other = await app.rest('POST', '/api/wallets', {
      body: { currency: 'USDC', description: 'x', network: 'ERC-20' },
    })
    expect([other.status, other.body.message]).toEqual([400, expect.stringContaining('must be one of')])
  })
})
