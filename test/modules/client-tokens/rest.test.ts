import { describe, expect, test } from 'vitest'
import { isMerchantOnly } from '../../../src/operations/access/scopes.ts'
import { routes } from '../../../src/server/rest/routes.ts'
import type { World } from '../../graphql/support/world.ts'
import { findSigns } from '../../graphql/support/world.ts'
import { statusOfCreation } from '../../rest/endpoints.ts'
import { bankMethodBody, everyEngine, payoutBody, walletMethodBody } from '../../support/app.ts'
import { readStoredRows } from '../../support/stored.ts'
import type { Customers } from './support/customers-world.ts'
import { startCustomers } from './support/customers-world.ts'
import { bearerOptions } from './support/tokens.ts'

const absentId = '00000000-0000-7000-8000-000000000000'

/** Sends requests as the customer and checks that no response contains foreign data. */
function createSender({ app, token, canaries }: Customers) {
  return async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => {
    const response = await app.rest(method, path, { ...bearerOptions(token), ...(body && { body }) })
    const about = `${method} ${path} ${JSON.stringify(body)}: ${response.text.slice(0, 300)}`
    expect(findSigns(response.text, canaries), about).toEqual([])
    expect(response.status, about).toBeLessThan(500)
    return { ...response, same: response.text.replace(/"request_id":"[^"]*"/, '') }
  }
}

function idsOf(parameter: string, { person, company, closed, wallets, payouts, methods, webhooks }: World): string[] {
  const idsByParameter: Record<string, object> = {
    customerId: { person, company, closed },
    customer_id: { person, company, closed },
    wallet_id: wallets,
    payout_id: payouts,
    payout_method_id: methods,
    webhook_id: webhooks,
  }
  const { [parameter]: ids } = idsByParameter
  if (!ids) throw new Error(`nothing is named by ${parameter}`)
  return Object.values(ids)
}

const lists: Record<string, (ours: World) => string[]> = {
  '/api/customers': ({ person }) => [person],
  '/api/wallets': () => [],
  '/api/wallets/:customer_id/customer': ({ wallets }) => Object.values(wallets),
  '/api/payouts': ({ payouts }) => Object.values(payouts),
  '/api/payout/methods': ({ methods: { personBank, personCrypto, spareBank } }) => [
    personBank,
    personCrypto,
    spareBank,
  ],
  '/api/webhooks': () => [],
}

describe.each(everyEngine)('a customer’s client token on %s', (engine) => {
  test('finds no foreign object at any REST path', async () => {
    const customers = await startCustomers(engine)
    const { app, ours, others } = customers
    const send = createSender(customers)
    const before = JSON.stringify(await readStoredRows(app))
    let requestCount = 0
    for (const { method, path, writeOperation: performs } of routes) {
      const [, parameter] = /:(\w+)/.exec(path) ?? []
      if (parameter === undefined) continue
      const body = method === 'GET' ? undefined : { bank_name: 'Other' }
      const sendFor = (id: string) => send(method, path.replace(/:\w+/, id), body)
      const isRefused = performs !== null && isMerchantOnly(performs.name)
      const unknown = await sendFor(absentId)
      // An unknown customer's list is empty at one path, and 404 at the other.
      expect([path, unknown.status]).toEqual([path, isRefused ? 403 : 404])
      for (const id of idsOf(parameter, others)) {
        requestCount++
        const response = await sendFor(id)
        expect([path, response.status, response.same]).toEqual([path, unknown.status, unknown.same])
      }
      if (method !== 'GET' || parameter === 'webhook_id') continue
      for (const id of idsOf(parameter, ours)) expect([path, (await sendFor(id)).status]).toEqual([path, 200])
    }
    expect(requestCount).toBeGreaterThan(60)
    expect(JSON.stringify(await readStoredRows(app)) === before).toBe(true)
  })

  test('lists its own objects only, with correct totals, at every REST list', async () => {
    const customers = await startCustomers(engine)
    const { ours, others } = customers
    const send = createSender(customers)
    const listRoutes = routes.filter(
      ({ method, response: routeResponse }) =>
        method === 'GET' && 'pagination' in (routeResponse.schema.properties ?? {}),
    )
    const listPaths = listRoutes.map(({ path }) => path).filter((path) => !/events|deliveries/.test(path))
    expect(listPaths.sort()).toEqual(Object.keys(lists).sort())
    for (const [path, idsOfList] of Object.entries(lists)) {
      const pathOfList = path.replace(/:\w+/, ours.person)
      const own = [...new Set(idsOfList(ours))].sort()
      const { body } = await send('GET', `${pathOfList}?limit=100`)
      expect([path, body.data.map(({ id }: { id: string }) => id).sort()]).toEqual([path, own])
      expect([path, body.pagination.total]).toEqual([path, own.length])
      const filters = [others.person, others.company, 'null'].map((owner) => `customer_id=${owner}`)
      const isOwned = /payouts|methods$/.test(path)
      for (const filter of [...filters, 'page=2&limit=1', 'currency=USDC', 'currency=NGN', 'status=COMPLETED']) {
        const { status, body } = await send('GET', `${pathOfList}?${filter}`)
        if (status === 400) continue
        const ids: string[] = body.data.map(({ id }: { id: string }) => id)
        expect([path, filter, ids.filter((id) => !own.includes(id))]).toEqual([path, filter, []])
        expect([path, filter, body.pagination.total <= own.length]).toEqual([path, filter, true])
        if (isOwned && filter.startsWith('customer'))
          expect([path, filter, body.pagination.total]).toEqual([path, filter, 0])
      }
    }
  })

  test("creates nothing for other owners and can't pay from their wallets or to their payout methods", async () => {
    const customers = await startCustomers(engine)
    const { app, ours, others } = customers
    const send = createSender(customers)
    const before = JSON.stringify(await readStoredRows(app))
    const wallet = { currency: 'USDC', network: 'erc20', description: 'x' }
    const requests: [string, object][] = [
      ['/api/payouts/banks', payoutBody],
      ['/api/wallets', wallet],
      ['/api/payout/methods/banks', bankMethodBody],
      ['/api/payout/methods/wallets', walletMethodBody],
    ]
    for (const [path, body] of requests) {
      for (const customer_id of [others.person, others.company, others.closed, absentId, others.merchantId]) {
        const { status, body: response } = await send('POST', path, { ...body, customer_id })
        expect([path, status, response.error.code]).toEqual([path, 404, 'RESOURCE_NOT_FOUND'])
      }
      const { status, body: response } = await send('POST', path, body)
      expect([path, status, response.error.details.fields[0].field]).toEqual([path, 400, 'customer_id'])
    }
    const method = `/api/payout/methods/banks/${others.methods.merchantBank}`
    for (const customer_id of [undefined, ours.person, others.person]) {
      expect((await send('PUT', method, { customer_id, bank_name: 'Other' })).status).toBe(404)
    }
    expect(JSON.stringify(await readStoredRows(app)) === before).toBe(true)
    for (const [path, body] of requests) {
      expect([path, (await send('POST', path, { ...body, customer_id: ours.person })).status]).toEqual([
        path,
        statusOfCreation(path),
      ])
    }
    await app.expectBooksToBalance()
  })
})
