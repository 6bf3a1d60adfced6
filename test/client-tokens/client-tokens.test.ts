import { describe, expect, test } from 'vitest'
import { bankMethodBody, everyEngineAndWorkers, payoutBody, startApp } from '../support/app.ts'
import { bearing, tokenFor } from './support/tokens.ts'

describe.each(everyEngineAndWorkers)('a token for one customer, on %s', (setup) => {
  test('sees that customer and what is its, and nothing else', async () => {
    const app = await startApp(setup)
    const [own, other] = [await app.customer(), await app.customer()]
    const wallets = [
      await app.wallet({ balance: '100' }),
      await app.wallet({ balance: '200', customerId: other }),
      await app.wallet({ balance: '300', customerId: own }),
    ]
    const token = await tokenFor(app, own)
    const rest = (method: 'GET' | 'POST', path: string, body?: object) =>
      app.rest(method, path, { ...bearing(token), ...(body && { body }) })

    for (const wallet of wallets.slice(0, 2)) expect((await rest('GET', `/api/wallets/${wallet}`)).status).toBe(404)
    expect((await rest('GET', `/api/wallets/${wallets[2]}`)).body.data.balance).toBe('300.00000000')
    expect((await rest('GET', '/api/customers')).body).toMatchObject({ data: [{ id: own }], pagination: { total: 1 } })

    const { data, errors } = await app.graphql(
      `{ merchant { key { isToken scopes customerId } }
         wallets { totalCount nodes { uuid balance addresses { address } ledgerEntries { totalCount nodes { balanceAfter } } } }
         customers { totalCount nodes { uuid wallets { totalCount } } } payouts { totalCount } payoutMethods { totalCount } }`,
      {},
      bearing(token),
    )
    expect(errors).toEqual([])
    expect(data).toMatchObject({
      merchant: { key: { isToken: true, customerId: own } },
      wallets: { totalCount: 1, nodes: [{ uuid: wallets[2], ledgerEntries: { totalCount: 1 } }] },
      customers: { totalCount: 1, nodes: [{ uuid: own, wallets: { totalCount: 1 } }] },
      payouts: { totalCount: 0 },
      payoutMethods: { totalCount: 0 },
    })

    expect((await rest('POST', '/api/payouts/banks', payoutBody)).body.error).toMatchObject({ code: 'INVALID_INPUT' })
    expect((await rest('POST', '/api/payouts/banks', { ...payoutBody, customer_id: other })).status).toBe(404)
    const paid = await rest('POST', '/api/payouts/banks', { ...payoutBody, customer_id: own })
    expect([paid.status, paid.body.data?.status]).toEqual([200, 'PROCESSING'])
    expect((await rest('GET', `/api/payouts/${paid.body.data.id}`)).body.data).toEqual(paid.body.data)
    const method = await rest('POST', '/api/payout/methods/banks', { ...bankMethodBody, customer_id: own })
    expect(method.status).toBe(201)
    expect((await rest('POST', '/api/webhooks', { url: 'https://example.com' })).status).toBe(403)
    await app.expectBooksToBalance()
  })

  test('waits for that customer’s events, beside those who wait for all of the merchant’s', async () => {
    const app = await startApp(setup)
    const [own, other] = [await app.customer(), await app.customer()]
    const token = await tokenFor(app, own, ['read'])
    const waitOf = (request: object) => app.rest('GET', '/api/events?after=2&wait=20', request)
    const [ofCustomer, ofMerchant] = [waitOf(bearing(token)), waitOf({})]
    const changed = await app.graphql(
      'mutation ($id: ID!) { updateCustomer(input: { customerId: $id, firstName: "Grace" }) { __typename } }',
      { id: other },
    )
    expect([changed.errors, changed.data]).toEqual([[], { updateCustomer: { __typename: 'UpdateCustomerPayload' } }])
    expect((await ofMerchant).body.data).toMatchObject([{ sequence: 3, object: { id: other } }])
    await app.graphql(
      'mutation ($id: ID!) { updateCustomer(input: { customerId: $id, firstName: "Grace" }) { __typename } }',
      { id: own },
    )
    expect((await ofCustomer).body.data).toMatchObject([{ sequence: 4, object: { id: own } }])
  })
})
