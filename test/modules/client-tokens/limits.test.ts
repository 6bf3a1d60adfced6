import { describe, expect, test } from 'vitest'
import { createKey, revokeKey } from '../../../src/modules/merchants/manage-keys.ts'
import { listen } from '../../graphql/support/listen.ts'
import { statusOfCreation } from '../../rest/endpoints.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, everyEngineAndWorkers, payoutBody, startApp } from '../../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../../support/bodies.ts'
import { readStoredRows } from '../../support/stored.ts'
import { bearerOptions, newKey, tokenFor } from './support/tokens.ts'

/** Sends a REST and a GraphQL request with the key from an address. Returns both statuses, then the error codes. */
async function requestFrom({ server }: App, key: string, remoteAddress: string) {
  const headers = { 'x-api-key': key }
  const rest = await server.inject({ url: '/api/wallets', headers, remoteAddress })
  const payload = { query: '{ merchant { name } }' }
  const graphql = await server.inject({ method: 'POST', url: '/graphql', headers, remoteAddress, payload })
  if (rest.statusCode === 403) expect(rest.json().message).toBe('The API key may not be used from this address.')
  const codes = [rest.json().error?.code, graphql.json().errors?.[0].extensions.code]
  return [rest.statusCode, graphql.statusCode, ...codes.filter((code) => code !== undefined)]
}

const accepted = [200, 200]
const rejected = [403, 403, 'NETWORK_NOT_ALLOWED', 'NETWORK_NOT_ALLOWED']

describe.each(everyEngineAndWorkers)('the allowed networks of an API key on %s', (setup) => {
  test.each<[string, string[], readonly string[], readonly string[]]>([
    [
      'an IPv4 network',
      ['203.0.113.0/24'],
      ['203.0.113.0', '203.0.113.255', '::ffff:203.0.113.9'],
      ['203.0.114.0', '::1'],
    ],
    [
      'the upper half of an IPv4 network',
      ['203.0.113.128/25'],
      ['203.0.113.128'],
      ['203.0.113.127', '::ffff:203.0.113.127'],
    ],
    ['an IPv4 address', ['203.0.113.9'], ['203.0.113.9', '::FFFF:203.0.113.9'], ['203.0.113.8', '203.0.113.10']],
    [
      'an IPv6 network',
      ['2001:db8::/32'],
      ['2001:db8::1', '2001:DB8:ffff::'],
      ['2001:db9::', '32.1.13.184', '::ffff:1.2.3.4'],
    ],
    ['an IPv6 address', ['::1'], ['::1', '0:0:0:0:0:0:0:1'], ['::2', '127.0.0.1', '0.0.0.1']],
    ['an IPv4-mapped IPv6 network', ['::ffff:203.0.113.0/120'], ['203.0.113.9', '::ffff:203.0.113.9'], ['203.0.114.9']],
    [
      'two networks',
      ['198.51.100.7', '2001:db8::/64'],
      ['198.51.100.7', '2001:db8::9'],
      ['198.51.100.8', '2001:db8:0:1::'],
    ],
    ['all of IPv4', ['0.0.0.0/0'], ['8.8.8.8', '::ffff:8.8.8.8'], ['2001:db8::1']],
  ])(
    'allow requests with the key only from %s, and requests with its client tokens from any address',
    async (_, networks, allowedAddresses, otherAddresses) => {
      const app = await startApp(setup)
      const { apiKey } = await newKey(app, { scopes: ['read'], networks })
      for (const address of allowedAddresses)
        expect([address, ...(await requestFrom(app, apiKey, address))]).toEqual([address, ...accepted])
      for (const address of [...otherAddresses, 'unknown'])
        expect([address, ...(await requestFrom(app, apiKey, address))]).toEqual([address, ...rejected])
      // The key's networks do not limit its client tokens, which browsers use from anywhere.
      const headers = { 'x-api-key': apiKey }
      const created = await app.server.inject({
        ...{ method: 'POST', url: '/api/client-tokens', headers, payload: { scopes: ['read'] } },
        remoteAddress: allowedAddresses[0] as string,
      })
      expect(await requestFrom(app, created.json().data.token, otherAddresses[0] as string)).toEqual(accepted)
    },
  )

  test('must be a non-empty list of IP addresses or CIDR ranges', async () => {
    const { service, merchant } = await startApp(setup)
    for (const network of [
      '',
      'x',
      '203.0.113',
      '203.0.113.0/33',
      '203.0.113.0/-1',
      '2001:db8::/129',
      '1.2.3.4/',
      '1.2.3.4 ',
      '::1%lo',
    ]) {
      const creation = createKey(service, merchant.id, { scopes: ['read'], networks: [network] })
      await expect(creation, network).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
    await expect(createKey(service, merchant.id, { networks: [] })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

const eventsSubscription = 'subscription { eventPublished { type } }'

describe.each(everyEngine)('event subscriptions of a client token on %s', (engine) => {
  test('end when the token expires, or when its API key expires or is revoked', async () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => nowMs })
    const { id } = await newKey(app, { scopes: ['read'] })
    await revokeKey(app.service, id)
    const revoked = await newKey(app, { scopes: ['read'] })
    const ending = await newKey(app, { scopes: ['read'], expiresAt: new Date(nowMs + 60_000).toISOString() })
    const customerId = await app.customer()
    const cases: [string, () => Promise<unknown>][] = [
      [await tokenFor(app, null, ['read'], { key: revoked.apiKey }), () => revokeKey(app.service, revoked.id)],
      [await tokenFor(app, customerId, ['read'], { expiresIn: 60 }), async () => (nowMs += 60_000)],
      [await tokenFor(app, null, ['read'], { key: ending.apiKey }), async () => (nowMs += 60_000)],
      [ending.apiKey, async () => {}],
    ]
    const streams = await Promise.all(cases.map(([key]) => listen(app, eventsSubscription, { key })))
    const lasting = await listen(app, eventsSubscription, { key: await tokenFor(app, customerId, ['read']) })
    for (const [index, [, end]] of cases.slice(0, 2).entries()) {
      await end()
      expect(await streams[index]?.next()).toMatchObject({ errors: [{ extensions: { code: 'INVALID_TOKEN' } }] })
      expect(await streams[index]?.next()).toBeNull()
    }
    for (const stream of streams.slice(2)) {
      expect(await stream.next()).toMatchObject({ errors: [{ extensions: { code: 'INVALID_TOKEN' } }] })
    }
    await app.wallet({ customerId })
    expect((await lasting.next()).data.eventPublished.type).toBe('WALLET_CREATED')
    lasting.end()
  })

  test('are limited to ten concurrent subscriptions per token', async () => {
    const app = await startApp(engine)
    const [token, other] = [await tokenFor(app, null, ['read']), await tokenFor(app, null, ['read'])]
    const streams = []
    for (let i = 0; i < 10; i++) streams.push(await listen(app, eventsSubscription, { key: token }))
    const eleventh = await listen(app, eventsSubscription, { key: token })
    expect([eleventh.answered.status, eleventh.answered.headers.get('retry-after')]).toEqual([429, '5'])
    expect((await app.rest('GET', '/api/events?wait=1', bearerOptions(token))).status).toBe(429)
    expect((await listen(app, eventsSubscription, { key: other })).answered.status).toBe(200)
    expect((await listen(app, eventsSubscription)).answered.status).toBe(200)
    streams[0]?.end()
    await streams[0]?.next().catch(() => {})
    await expect.poll(async () => (await listen(app, eventsSubscription, { key: token })).answered.status).toBe(200)
  })
})

type WriteRequest = readonly [method: 'POST' | 'PUT' | 'DELETE', path: string, body: object]

describe.each(everyEngineAndWorkers)('an idempotency key that was used with a client token on %s', (setup) => {
  test('never returns the stored result to another customer or to the merchant', async () => {
    const app = await startApp(setup)
    const [own, other] = [await app.customer(), await app.customer()]
    const walletId = await app.wallet({ customerId: own, balance: '100' })
    await app.wallet({ customerId: other, balance: '100' })
    const bearers = {
      own: bearerOptions(await tokenFor(app, own)),
      other: bearerOptions(await tokenFor(app, other)),
      merchant: {},
    }
    const requestsOf = (customer_id: string): WriteRequest[] => [
      ['POST', '/api/payouts/banks', { ...payoutBody, amount: '1', customer_id }],
      ['POST', '/api/wallets', { currency: 'NGN', description: 'x', customer_id }],
      ['POST', '/api/payout/methods/banks', { ...bankMethodBody, customer_id }],
      ['POST', '/api/payout/methods/wallets', { ...walletMethodBody, customer_id }],
    ]
    for (const [index, [method, path, body]] of requestsOf(own).entries()) {
      const send = (caller: keyof typeof bearers, requestBody: object = body, key = `of ${index}`) => {
        const { headers = {}, ...bearer } = bearers[caller] as { headers?: Record<string, string> }
        return app.rest(method, path, { ...bearer, headers: { ...headers, 'idempotency-key': key }, body: requestBody })
      }
      const first = await send('own')
      expect([path, first.status]).toEqual([path, statusOfCreation(path)])
      const stored = await readStoredRows(app)
      const repeated = await send('own')
      expect([repeated.text, repeated.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
      const [, , sameForOther = {}] = requestsOf(other)[index] ?? []
      const cases: [keyof typeof bearers, object][] = [
        ['merchant', body],
        ['other', body],
        ['other', sameForOther],
        ['merchant', sameForOther],
      ]
      for (const [caller, requestBody] of cases) {
        const { status, body: response } = await send(caller, requestBody)
        expect([path, caller, status < 300, response.data]).toEqual([path, caller, false, undefined])
        expect(['IDEMPOTENCY_KEY_REUSED', 'RESOURCE_NOT_FOUND']).toContain(response.error.code)
      }
      expect(await readStoredRows(app)).toEqual(stored)
      expect((await send('merchant', body, `merchant's ${index}`)).status).toBe(statusOfCreation(path))
      expect((await send('own', body, `merchant's ${index}`)).body.error.code).toBe('IDEMPOTENCY_KEY_REUSED')
    }
    const deposit = { walletId, amount: '5', idempotencyKey: 'deposit' }
    const simulate = async (caller: object) => {
      const query = `mutation($input: SimulateDepositInput!) { simulateDeposit(input: $input) {
        ... on SimulateDepositPayload { wallet { balance } } ... on UserError { code } } }`
      return (await app.graphql(query, { input: deposit }, caller)).data.simulateDeposit
    }
    expect((await simulate(bearers.own)).wallet).not.toBeUndefined()
    expect(await simulate(bearers.own)).toEqual({ wallet: { balance: expect.any(String) } })
    expect(['IDEMPOTENCY_KEY_REUSED', 'RESOURCE_NOT_FOUND']).toContain((await simulate(bearers.other)).code)
    expect(await simulate(bearers.merchant)).toEqual({ code: 'IDEMPOTENCY_KEY_REUSED' })
    await app.expectBooksToBalance()
  })
})
