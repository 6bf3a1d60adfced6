// Requests every REST path with a customer's client token.
import { describe, expect, test } from 'vitest'
import { routes } from '../../../src/server/rest/routes.ts'
import type { World } from '../../graphql/support/world.ts'
import { findSigns } from '../../graphql/support/world.ts'
import { statusOfCreation } from '../../rest/endpoints.ts'
import { everyEngine, payoutBody } from '../../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../../support/bodies.ts'
import { readStoredRows } from '../../support/stored.ts'
import type { Customers } from './support/customers-world.ts'
import { startCustomers } from './support/customers-world.ts'
import { bearerOptions } from './support/tokens.ts'

const absentId = '00000000-0000-7000-8000-000000000000'

/** Sends requests with the customer's token, and asserts that no response contains data of other owners. */
function askingAs({ app, token, canaries }: Customers) {
  return async (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object) => {
    const response = await app.rest(method, path, { ...bearerOptions(token), ...(body && { body }) })
    const about = `${method} ${path} ${JSON.stringify(body)}: ${response.text.slice(0, 300)}`
    expect(findSigns(response.text, canaries), about).toEqual([])
    expect(response.status, about).toBeLessThan(500)
    return { ...response, same: response.text.replace(/"request_id":"[^"]*"/, '') }
  }
}

/** The ids of the objects that this path parameter can refer to. */
function idsOf(parameter: string, world: World): string[] {
  const { person, company, closed, wallets, payouts, methods, webhooks, depositIds, references } = world
  const of: Record<string, object> = {
    customerId: { person, company, closed },
    customer_id: { person, company, closed },
    wallet_id: wallets,
    payout_id: payouts,
    payout_method_id: methods,
    webhook_id: webhooks,
    transaction_id: { ...payouts, ...depositIds },
    reference_id: [...references, ...depositIds],
  }
  const { [parameter]: found } = of
  if (!found) throw new Error(`nothing is named by ${parameter}`)
  return Object.values(found)
}

const lists: Record<string, (ours: World) => string[]> = {
  '/api/customers': ({ person }) => [person],
  '/api/wallets': ({ wallets }) => Object.values(wallets),
  '/api/wallets/:customer_id/customer': ({ wallets }) => Object.values(wallets),
  '/api/payouts': ({ payouts }) => Object.values(payouts),
  '/api/transactions': ({ payouts, depositIds }) => [...Object.values(payouts), ...depositIds],
  '/api/customers/transactions/by_customer_id/:customer_id': ({ payouts, depositIds }) => [
    ...Object.values(payouts),
    ...depositIds,
  ],
  '/api/payout/methods': ({ methods: { personBank, personCrypto, spareBank } }) => [
    personBank,
    personCrypto,
    spareBank,
  ],
  '/api/webhooks': () => [],
}

describe.each(everyEngine)('a customer’s client token on %s', (engine) => {
  test('gets the same response for other owners’ ids as for unknown ids at every REST path', async () => {
    const customers = await startCustomers(engine)
    const { app, ours, others } = customers
    const ask = askingAs(customers)
    const before = JSON.stringify(await readStoredRows(app))
    let asked = 0
    for (const { method, path, writeOperation: performs } of routes) {
      const [, parameter] = /:(\w+)/.exec(path) ?? []
      if (parameter === undefined) continue
      const body = method === 'GET' ? undefined : { bank_name: 'Other' }
      const at = (id: string) => ask(method, path.replace(/:\w+/, id), body)
      const isRefused = performs !== null && !performs.declaration.actsAsCustomer
      const unknown = await at(absentId)
      expect([path, unknown.status]).toEqual([path, isRefused ? 403 : 404])
      for (const id of idsOf(parameter, others)) {
        asked++
        const response = await at(id)
        expect([path, response.status, response.same]).toEqual([path, unknown.status, unknown.same])
      }
      if (method !== 'GET' || parameter === 'webhook_id') continue
      for (const id of idsOf(parameter, ours)) expect([path, (await at(id)).status]).toEqual([path, 200])
    }
    expect(asked).toBeGreaterThan(60)
    expect(JSON.stringify(await readStoredRows(app)) === before).toBe(true)
  })

  test('lists and counts only the customer’s objects in every REST list', async () => {
    const customers = await startCustomers(engine)
    const { ours, others } = customers
    const ask = askingAs(customers)
    const listed = routes.filter(
      ({ method, response: shape }) => method === 'GET' && 'pagination' in (shape.schema.properties ?? {}),
    )
    const found = listed.map(({ path }) => path).filter((path) => !/events|deliveries/.test(path))
    expect(found.sort()).toEqual(Object.keys(lists).sort())
    for (const [path, idsOfList] of Object.entries(lists)) {
      const at = path.replace(/:\w+/, ours.person)
      const own = [...new Set(idsOfList(ours))].sort()
      const { body } = await ask('GET', `${at}?limit=100`)
      expect([path, body.data.map(({ id }: { id: string }) => id).sort()]).toEqual([path, own])
      expect([path, body.pagination.total]).toEqual([path, own.length])
      const filters = [others.person, others.company, 'null'].map((owner) => `customer_id=${owner}`)
      const isOwned = /payouts|methods|api\/transactions$/.test(path)
      for (const filter of [...filters, 'page=2&limit=1', 'currency=USDC', 'currency=NGN', 'status=COMPLETED']) {
        const { status, body } = await ask('GET', `${at}?${filter}`)
        if (status === 400) continue
        const ids: string[] = body.data.map(({ id }: { id: string }) => id)
        expect([path, filter, ids.filter((id) => !own.includes(id))]).toEqual([path, filter, []])
        expect([path, filter, body.pagination.total <= own.length]).toEqual([path, filter, true])
        if (isOwned && filter.startsWith('customer'))
          expect([path, filter, body.pagination.total]).toEqual([path, filter, 0])
      }
    }
  })

  test('cannot create objects for other owners, pay from their wallets or change their payout methods', async () => {
    const customers = await startCustomers(engine)
    const { app, ours, others } = customers
    const ask = askingAs(customers)
    const before = JSON.stringify(await readStoredRows(app))
    const wallet = { currency: 'USDC', network: 'erc20', description: 'x' }
    const places: [string, object][] = [
      ['/api/payouts/banks', payoutBody],
      ['/api/wallets', wallet],
      ['/api/payout/methods/banks', bankMethodBody],
      ['/api/payout/methods/wallets', walletMethodBody],
    ]
    for (const [path, body] of places) {
      for (const customer_id of [others.person, others.company, others.closed, absentId, others.merchantId]) {
        const { status, body: answered } = await ask('POST', path, { ...body, customer_id })
        expect([path, status, answered.error.code]).toEqual([path, 404, 'RESOURCE_NOT_FOUND'])
      }
      const { status, body: answered } = await ask('POST', path, body)
      expect([path, status, answered.error.details.fields[0].field]).toEqual([path, 400, 'customer_id'])
    }
    const method = `/api/payout/methods/banks/${others.methods.merchantBank}`
    for (const customer_id of [undefined, ours.person, others.person]) {
      expect((await ask('PUT', method, { customer_id, bank_name: 'Other' })).status).toBe(404)
    }
    expect(JSON.stringify(await readStoredRows(app)) === before).toBe(true)
    for (const [path, body] of places) {
      expect([path, (await ask('POST', path, { ...body, customer_id: ours.person })).status]).toEqual([
        path,
        statusOfCreation(path),
      ])
    }
    await app.expectBooksToBalance()
  })
})
