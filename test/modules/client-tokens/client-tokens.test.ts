import { describe, expect, test } from 'vitest'
import { createClientToken } from '../../../src/modules/client-tokens/create-client-token.ts'
import { systemCaller } from '../../../src/operations/access/api-caller.ts'
import { createContext } from '../../../src/operations/context.ts'
import { everyEngine, everyEngineAndWorkers, payoutBody, startApp } from '../../support/app.ts'
import { bankMethodBody } from '../../support/bodies.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { bearerOptions, newKey, tokenFor } from './support/tokens.ts'

const absentId = '00000000-0000-7000-8000-000000000000'

describe.each(everyEngineAndWorkers)('a client token of a customer on %s', (setup) => {
  test('gives access only to the objects of that customer', async () => {
    const app = await startApp(setup)
    const [own, other] = [await app.customer(), await app.customer()]
    const wallets = [
      await app.wallet({ balance: '100' }),
      await app.wallet({ balance: '200', customerId: other }),
      await app.wallet({ balance: '300', customerId: own }),
    ]
    const token = await tokenFor(app, own)
    const rest = (method: 'GET' | 'POST', path: string, body?: object) =>
      app.rest(method, path, { ...bearerOptions(token), ...(body && { body }) })

    for (const wallet of wallets.slice(0, 2)) expect((await rest('GET', `/api/wallets/${wallet}`)).status).toBe(404)
    expect((await rest('GET', `/api/wallets/${wallets[2]}`)).body.data.balance).toBe('300.00000000')
    expect((await rest('GET', '/api/customers')).body).toMatchObject({ data: [{ id: own }], pagination: { total: 1 } })

    const { data, errors } = await app.graphql(
      `{ merchant { key { isToken scopes customerId } }
         wallets { totalCount nodes { uuid balance addresses { address } ledgerEntries { totalCount nodes { balanceAfter } } } }
         customers { totalCount nodes { uuid wallets { totalCount } } } payouts { totalCount } payoutMethods { totalCount } }`,
      {},
      bearerOptions(token),
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
    const created = await rest('POST', '/api/payouts/banks', { ...payoutBody, customer_id: own })
    expect([created.status, created.body.data?.status]).toEqual([200, 'PROCESSING'])
    expect((await rest('GET', `/api/payouts/${created.body.data.id}`)).body.data).toEqual(created.body.data)
    const method = await rest('POST', '/api/payout/methods/banks', { ...bankMethodBody, customer_id: own })
    expect(method.status).toBe(201)
    expect((await rest('POST', '/api/webhooks', { url: 'https://example.com' })).status).toBe(403)
    await app.expectBooksToBalance()
  })

  test('receives only events of that customer, but an API key receives all events of the merchant', async () => {
    const app = await startApp(setup)
    const [own, other] = [await app.customer(), await app.customer()]
    const token = await tokenFor(app, own, ['read'])
    const waitForEvents = (request: object) => app.rest('GET', '/api/events?after=2&wait=20', request)
    const [customerEvents, merchantEvents] = [waitForEvents(bearerOptions(token)), waitForEvents({})]
    const update = await app.graphql(
      'mutation ($id: ID!) { updateCustomer(input: { customerId: $id, firstName: "Grace" }) { __typename } }',
      { id: other },
    )
    expect([update.errors, update.data]).toEqual([[], { updateCustomer: { __typename: 'UpdateCustomerPayload' } }])
    expect((await merchantEvents).body.data).toMatchObject([{ sequence: 3, object: { id: other } }])
    await app.graphql(
      'mutation ($id: ID!) { updateCustomer(input: { customerId: $id, firstName: "Grace" }) { __typename } }',
      { id: own },
    )
    expect((await customerEvents).body.data).toMatchObject([{ sequence: 4, object: { id: own } }])
  })
})

describe.each(everyEngine)('createClientToken on %s', (engine) => {
  const startsAt = Date.UTC(2030, 0, 1)
  const startAt = () => startApp(engine, { clock: () => startsAt + 999 })

  test('returns the token, scopes, customer and expiry time, which is counted from the start of the current second', async () => {
    const app = await startAt()
    const customerId = await app.customer()
    for (const [input, seconds] of [
      [{ scopes: ['read', 'payouts'] }, 900],
      [{ scopes: ['read'], expires_in: null }, 900],
      [{ scopes: ['wallets'], expires_in: 60, customer_id: customerId }, 60],
      [{ scopes: ['read'], expires_in: 86_400 }, 86_400],
    ] as const) {
      const { status, body, headers } = await app.rest('POST', '/api/client-tokens', { body: input })
      expect([status, headers['idempotent-replayed'], body.data]).toEqual([
        201,
        undefined,
        {
          token: expect.stringMatching(/^eyJ/),
          expires_at: new Date(startsAt + seconds * 1_000).toISOString(),
          scopes: input.scopes,
          customer_id: 'customer_id' in input ? customerId : null,
        },
      ])
      expect((await app.rest('GET', '/api/wallets', bearerOptions(body.data.token))).status).toBe(
        input.scopes.some((scope) => scope === 'read') ? 200 : 403,
      )
    }
  })

  const customerScopesMessage = 'must be among read, customers, payout_methods, wallets, payouts, sandbox'
  test.each<[body: object, field: string, code: string, message: RegExp]>([
    [{ scopes: ['read'], expires_in: 59 }, 'expires_in', 'INVALID_PARAMETER', /60/],
    [{ scopes: ['read'], expires_in: 86_401 }, 'expires_in', 'INVALID_PARAMETER', /86400/],
    [{ scopes: ['read'], expires_in: 90.5 }, 'expires_in', 'INVALID_FORMAT', /whole number/],
    [{ scopes: [] }, 'scopes', 'INVALID_PARAMETER', /some of read, customers/],
    [
      { scopes: ['read', 'webhooks'], customer_id: absentId },
      'scopes',
      'INVALID_PARAMETER',
      RegExp(customerScopesMessage),
    ],
    [{ scopes: 'webhooks', customer_id: absentId }, 'scopes', 'INVALID_FORMAT', /list|array/],
  ])('rejects the body %j and reports the invalid field', async (body, field, code, message) => {
    const app = await startAt()
    const response = await app.rest('POST', '/api/client-tokens', { body })
    expect([response.status, response.body.error.details]).toEqual([
      400,
      { fields: [{ field, code, message: expect.stringMatching(message) }] },
    ])
  })

  test('rejects a scope that the API key lacks, with a message that lists the scopes of the key', async () => {
    const app = await startAt()
    const { id } = await newKey(app, { scopes: ['read', 'wallets'] })
    const context = createContext(app.service, app.merchant.id, null, 0, { ...systemCaller, keyId: id })
    const create = (scopes: readonly string[]) =>
      perform(createClientToken, context, { scopes } as Parameters<typeof createClientToken>[1])
    expect(await create(['wallets', 'read'])).toMatchObject({ scopes: ['read', 'wallets'], customerId: null })
    expect(await domainErrorOf(() => create(['read', 'payouts']))).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      message: 'This API key lacks the scope payouts; it has read, wallets.',
    })
  })

  test('rejects a caller without an API key', async () => {
    const app = await startAt()
    for (const keyId of [null, '0123456789abcdef']) {
      const context = createContext(app.service, app.merchant.id, null, 0, { ...systemCaller, keyId })
      expect(await domainErrorOf(() => perform(createClientToken, context, { scopes: ['read'] }))).toMatchObject({
        code: 'INVALID_TOKEN',
        message: 'Only an API key can create a client token.',
      })
    }
  })
})
