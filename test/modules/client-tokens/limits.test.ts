import { describe, expect, test } from 'vitest'
import { createKey, revokeKey } from '../../../src/modules/merchants/manage-keys.ts'
import { listen } from '../../graphql/support/listen.ts'
import { statusOfCreation } from '../../rest/endpoints.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, everyEngineAndWorkers, payoutBody, startApp } from '../../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../../support/bodies.ts'
import { readStoredRows } from '../../support/stored.ts'
import { bearerOptions, newKey, tokenFor } from './support/tokens.ts'

/** What both doors answer to a key that is used from an address. */
async function answersFrom({ server }: App, key: string, remoteAddress: string) {
  const headers = { 'x-api-key': key }
  const rest = await server.inject({ url: '/api/wallets', headers, remoteAddress })
  const payload = { query: '{ merchant { name } }' }
  const graphql = await server.inject({ method: 'POST', url: '/graphql', headers, remoteAddress, payload })
  const codes = [rest.json().error?.code, graphql.json().errors?.[0].extensions.code]
  return [rest.statusCode, graphql.statusCode, ...codes.filter((code) => code !== undefined)]
}

const letIn = [200, 200]
const elsewhere = [403, 403, 'NETWORK_NOT_ALLOWED', 'NETWORK_NOT_ALLOWED']

describe.each(everyEngineAndWorkers)('the networks of a key on %s', (setup) => {
  test.each<[string, string[], readonly string[], readonly string[]]>([
    ['a network', ['203.0.113.0/24'], ['203.0.113.0', '203.0.113.255', '::ffff:203.0.113.9'], ['203.0.114.0', '::1']],
    ['its end', ['203.0.113.128/25'], ['203.0.113.128'], ['203.0.113.127', '::ffff:203.0.113.127']],
    ['an address', ['203.0.113.9'], ['203.0.113.9', '::FFFF:203.0.113.9'], ['203.0.113.8', '203.0.113.10']],
    ['of IPv6', ['2001:db8::/32'], ['2001:db8::1', '2001:DB8:ffff::'], ['2001:db9::', '32.1.13.184', '::ffff:1.2.3.4']],
    ['an address of IPv6', ['::1'], ['::1', '0:0:0:0:0:0:0:1'], ['::2', '127.0.0.1', '0.0.0.1']],
    ['one that is mapped', ['::ffff:203.0.113.0/120'], ['203.0.113.9', '::ffff:203.0.113.9'], ['203.0.114.9']],
    ['two', ['198.51.100.7', '2001:db8::/64'], ['198.51.100.7', '2001:db8::9'], ['198.51.100.8', '2001:db8:0:1::']],
    ['everywhere in IPv4', ['0.0.0.0/0'], ['8.8.8.8', '::ffff:8.8.8.8'], ['2001:db8::1']],
  ])('let it be used from there alone: %s', async (_, networks, within, without) => {
    const app = await startApp(setup)
    const { apiKey } = await newKey(app, { scopes: ['read'], networks })
    for (const address of within)
      expect([address, ...(await answersFrom(app, apiKey, address))]).toEqual([address, ...letIn])
    for (const address of [...without, 'unknown'])
      expect([address, ...(await answersFrom(app, apiKey, address))]).toEqual([address, ...elsewhere])
    // A token is for a page, which is wherever its user is.
    const headers = { 'x-api-key': apiKey }
    const made = await app.server.inject({
      ...{ method: 'POST', url: '/api/client-tokens', headers, payload: { scopes: ['read'] } },
      remoteAddress: within[0] as string,
    })
    expect(await answersFrom(app, made.json().data.token, without[0] as string)).toEqual(letIn)
  })

  test('are refused where they are none', async () => {
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
      const created = createKey(service, merchant.id, { scopes: ['read'], networks: [network] })
      await expect(created, network).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    }
    await expect(createKey(service, merchant.id, { networks: [] })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

const everything = 'subscription { eventPublished { type } }'

describe.each(everyEngine)('streams of a token on %s', (engine) => {
  test('end with its time, with that of its key, and with its key', async () => {
    let now = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => now })
    const { id } = await newKey(app, { scopes: ['read'] })
    await revokeKey(app.service, id)
    const revoked = await newKey(app, { scopes: ['read'] })
    const ending = await newKey(app, { scopes: ['read'], expiresAt: new Date(now + 60_000).toISOString() })
    const customerId = await app.customer()
    const cases: [string, () => Promise<unknown>][] = [
      [await tokenFor(app, null, ['read'], { key: revoked.apiKey }), () => revokeKey(app.service, revoked.id)],
      [await tokenFor(app, customerId, ['read'], { expiresIn: 60 }), async () => (now += 60_000)],
      [await tokenFor(app, null, ['read'], { key: ending.apiKey }), async () => (now += 60_000)],
      [ending.apiKey, async () => {}],
    ]
    const streams = await Promise.all(cases.map(([key]) => listen(app, everything, { key })))
    const lasting = await listen(app, everything, { key: await tokenFor(app, customerId, ['read']) })
    for (const [place, [, end]] of cases.slice(0, 2).entries()) {
      await end()
      expect(await streams[place]?.next()).toMatchObject({ errors: [{ extensions: { code: 'INVALID_TOKEN' } }] })
      expect(await streams[place]?.next()).toBeNull()
    }
    for (const stream of streams.slice(2)) {
      expect(await stream.next()).toMatchObject({ errors: [{ extensions: { code: 'INVALID_TOKEN' } }] })
    }
    await app.wallet({ customerId })
    expect((await lasting.next()).data.eventPublished.type).toBe('WALLET_CREATED')
    lasting.end()
  })

  test('are ten at most, and take none from other tokens', async () => {
    const app = await startApp(engine)
    const [token, other] = [await tokenFor(app, null, ['read']), await tokenFor(app, null, ['read'])]
    const streams = []
    for (let i = 0; i < 10; i++) streams.push(await listen(app, everything, { key: token }))
    const eleventh = await listen(app, everything, { key: token })
    expect([eleventh.answered.status, eleventh.answered.headers.get('retry-after')]).toEqual([429, '5'])
    expect((await app.rest('GET', '/api/events?wait=1', bearerOptions(token))).status).toBe(429)
    expect((await listen(app, everything, { key: other })).answered.status).toBe(200)
    expect((await listen(app, everything)).answered.status).toBe(200)
    streams[0]?.end()
    await streams[0]?.next().catch(() => {})
    await expect.poll(async () => (await listen(app, everything, { key: token })).answered.status).toBe(200)
  })
})

type Posted = readonly [method: 'POST' | 'PUT' | 'DELETE', path: string, body: object]

describe.each(everyEngineAndWorkers)('an idempotency key on %s', (setup) => {
  test('answers a customer nothing that was answered to others, nor others what was to it', async () => {
    const app = await startApp(setup)
    const [own, other] = [await app.customer(), await app.customer()]
    const walletId = await app.wallet({ customerId: own, balance: '100' })
    await app.wallet({ customerId: other, balance: '100' })
    const bearers = {
      own: bearerOptions(await tokenFor(app, own)),
      other: bearerOptions(await tokenFor(app, other)),
      merchant: {},
    }
    const ofRest = (customer_id: string): Posted[] => [
      ['POST', '/api/payouts/banks', { ...payoutBody, amount: '1', customer_id }],
      ['POST', '/api/wallets', { currency: 'NGN', description: 'x', customer_id }],
      ['POST', '/api/payout/methods/banks', { ...bankMethodBody, customer_id }],
      ['POST', '/api/payout/methods/wallets', { ...walletMethodBody, customer_id }],
    ]
    for (const [place, [method, path, body]] of ofRest(own).entries()) {
      const ask = (by: keyof typeof bearers, given: object = body, key = `of ${place}`) => {
        const { headers = {}, ...bearer } = bearers[by] as { headers?: Record<string, string> }
        return app.rest(method, path, { ...bearer, headers: { ...headers, 'idempotency-key': key }, body: given })
      }
      const first = await ask('own')
      expect([path, first.status]).toEqual([path, statusOfCreation(path)])
      const stored = await readStoredRows(app)
      const again = await ask('own')
      expect([again.text, again.headers['idempotent-replayed']]).toEqual([first.text, 'true'])
      const [, , sameForOther = {}] = ofRest(other)[place] ?? []
      const cases: [keyof typeof bearers, object][] = [
        ['merchant', body],
        ['other', body],
        ['other', sameForOther],
        ['merchant', sameForOther],
      ]
      for (const [by, given] of cases) {
        const { status, body: answered } = await ask(by, given)
        expect([path, by, status < 300, answered.data]).toEqual([path, by, false, undefined])
        expect(['IDEMPOTENCY_KEY_REUSED', 'RESOURCE_NOT_FOUND']).toContain(answered.error.code)
      }
      expect(await readStoredRows(app)).toEqual(stored)
      // And the other way round.
      expect((await ask('merchant', body, `merchant's ${place}`)).status).toBe(statusOfCreation(path))
      expect((await ask('own', body, `merchant's ${place}`)).body.error.code).toBe('IDEMPOTENCY_KEY_REUSED')
    }
    const deposit = { walletId, amount: '5', idempotencyKey: 'deposit' }
    const simulate = async (by: object) => {
      const query = `mutation($input: SimulateDepositInput!) { simulateDeposit(input: $input) {
        ... on SimulateDepositPayload { wallet { balance } } ... on UserError { code } } }`
      return (await app.graphql(query, { input: deposit }, by)).data.simulateDeposit
    }
    expect((await simulate(bearers.own)).wallet).not.toBeUndefined()
    expect(await simulate(bearers.own)).toEqual({ wallet: { balance: expect.any(String) } })
    expect(['IDEMPOTENCY_KEY_REUSED', 'RESOURCE_NOT_FOUND']).toContain((await simulate(bearers.other)).code)
    expect(await simulate(bearers.merchant)).toEqual({ code: 'IDEMPOTENCY_KEY_REUSED' })
    await app.expectBooksToBalance()
  })
})
