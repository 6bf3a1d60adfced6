import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { fastify } from 'fastify'
import { describe, expect, test } from 'vitest'
import { createWallClock } from '../../src/core/ids-and-clock.ts'
import { createKey } from '../../src/modules/merchants/manage-keys.ts'
import { createHttpRail } from '../../src/modules/rails/adapters/http-rail.ts'
import type { TrustedProxies } from '../../src/server/http/caller-address.ts'
import { callerAddress, fastifyTrustProxy } from '../../src/server/http/caller-address.ts'
import { everyEngine, startApp } from '../support/app.ts'

/** Requests a host that trusts these proxies, and returns the address that it sees. */
function observer(proxies: TrustedProxies) {
  const app = fastify({ trustProxy: fastifyTrustProxy(proxies) })
  app.get('/', async (request) => callerAddress(request))
  return async (remoteAddress: string, forwarded?: string | string[]): Promise<string> => {
    const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
    return (await app.inject({ url: '/', remoteAddress, headers })).body
  }
}

describe('the client address', () => {
  const [proxy, caller] = ['10.0.0.5', '203.0.113.9']

  test('the client address is the address of the socket if no proxy is trusted, whatever the forwarding headers', async () => {
    const app = fastify({ trustProxy: fastifyTrustProxy(0) })
    app.get('/', async (request) => callerAddress(request))
    const names = ['x-forwarded-for', 'forwarded', 'x-real-ip', 'x-client-ip', 'cf-connecting-ip', 'true-client-ip']
    const headers = Object.fromEntries(names.map((name) => [name, `for=${caller}`]))
    const everyForm = { ...headers, 'x-forwarded-for': caller }
    for (const sent of [{}, everyForm]) {
      expect((await app.inject({ url: '/', remoteAddress: proxy, headers: sent })).body).toBe(proxy)
    }
  })

  test.each<[what: string, proxies: TrustedProxies, remote: string, forwarded: string, seen: string]>([
    ['the address that a trusted proxy forwarded', ['10.0.0.0/8'], proxy, caller, caller],
    [
      'the address of the socket if that is not a trusted proxy',
      ['10.0.0.0/8'],
      '198.51.100.1',
      caller,
      '198.51.100.1',
    ],
    [
      'the entry that the proxy added, and not an earlier entry, which the caller wrote',
      ['10.0.0.0/8'],
      proxy,
      `1.1.1.1, ${caller}`,
      caller,
    ],
    [
      'the entry that the proxy added, even if the caller adds the address of a proxy before it',
      ['10.0.0.0/8'],
      proxy,
      `10.9.9.9, ${caller}`,
      caller,
    ],
    [
      'the address that the first of two proxies forwarded',
      ['10.0.0.0/8'],
      proxy,
      `1.1.1.1, ${caller}, 10.0.0.6`,
      caller,
    ],
    ['the first entry if all entries are trusted proxies', ['10.0.0.0/8'], proxy, '10.0.0.7, 10.0.0.6', '10.0.0.7'],
    ['the address of the proxy if the header is empty', ['10.0.0.0/8'], proxy, '', proxy],
    ['the last entry if one hop is trusted', 1, proxy, `1.1.1.1, ${caller}`, caller],
    ['the entry before the last if two hops are trusted', 2, proxy, `1.1.1.1, ${caller}, 198.51.100.1`, caller],
    ['the first entry if there are fewer entries than trusted hops', 5, proxy, `${caller}, 198.51.100.1`, caller],
    ['an IPv4 address without the port that Azure appends', [proxy], proxy, `${caller}:5678`, caller],
    ['an IPv6 address without its brackets', [proxy], proxy, '[2001:db8::1]', '2001:db8::1'],
    ['an IPv6 address without its brackets and port', [proxy], proxy, '[2001:DB8:0::1]:5678', '2001:db8::1'],
    ['an IPv6 address in its canonical notation', [proxy], proxy, '2001:0DB8:0000::0001', '2001:db8::1'],
    ['the IPv4 address of an IPv4-mapped IPv6 address', [proxy], proxy, `::ffff:${caller}`, caller],
    ['the IPv4 address of an IPv4-mapped IPv6 address in hexadecimal', [proxy], proxy, '::ffff:cb00:7109', caller],
    ['the address that a proxy on a dual-stack socket forwarded', [proxy], `::ffff:${proxy}`, caller, caller],
    [
      'the address that a proxy forwarded whose own entry has a port',
      ['10.0.0.0/8'],
      proxy,
      `${caller}, 10.0.0.6:443`,
      caller,
    ],
    ['the address that a proxy with an IPv6 address forwarded', ['fd00::/8'], 'fd00::5', caller, caller],
    ['unknown if the entry is "unknown"', [proxy], proxy, 'unknown', 'unknown'],
    ['unknown if the entry is not an address', [proxy], proxy, '203.0.113.999', 'unknown'],
    ['unknown if the entry is obfuscated, and not the previous entry', [proxy], proxy, `${caller}, _hidden`, 'unknown'],
    ['unknown if an IPv4 address has brackets', [proxy], proxy, `[${caller}]`, 'unknown'],
    ['unknown if a header injects more entries', [proxy], proxy, `${caller} ${proxy}`, 'unknown'],
  ])('the client address is %s', async (_, proxies, remote, forwarded, seen) => {
    expect(await observer(proxies)(remote, forwarded)).toBe(seen)
  })

  test('the client address is taken from the last of several X-Forwarded-For headers', async () => {
    expect(await observer([proxy])(proxy, ['1.1.1.1', caller])).toBe(caller)
  })

  test("the client address does not depend on entries that the caller adds before the proxy's entry", async () => {
    const [byNetwork, byHop] = [observer(['10.0.0.0/8']), observer(1)]
    const entry = fc.oneof(
      fc.ipV4(),
      fc.ipV6(),
      fc.constantFrom(proxy, '10.0.0.6', 'unknown', '', '::1', '[::1]:1', '127.0.0.1', ','),
      fc.stringMatching(/^[!-~]{0,20}$/),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { maxLength: 6 }), async (written) => {
        const header = [...written, caller].join(', ')
        expect([await byNetwork(proxy, header), await byHop(proxy, header)]).toEqual([caller, caller])
        expect(await byNetwork('198.51.100.1', header)).toBe('198.51.100.1')
      }),
      { numRuns: 300 },
    )
  })

  test('the client address is read in one place of the source', () => {
    const root = join(import.meta.dirname, '../..')
    const readsAddress = /\.ips?\b|[{,]\s*ips?\s*[,}:]|\bremoteAddress\b|x-forwarded-|x-real-ip/
    const reading = [
      'src/server',
      'src/console',
      'src/graphql',
      'src/rest',
      'src/observability/tracing',
      'src/observability/metrics',
      'src/app',
    ]
      .flatMap((folder) =>
        readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)),
      )
      .filter((path) => path.endsWith('.ts') && readsAddress.test(readFileSync(join(root, path), 'utf8')))
    expect(reading).toEqual(['src/server/http/caller-address.ts'])
  })
})

describe.each(everyEngine)('the client address behind a proxy, on %s', (engine) => {
  const [proxy, office, stranger] = ['10.0.0.5', '203.0.113.9', '198.51.100.7']
  const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
  const rail = createHttpRail({
    name: 'bank',
    url: 'http://127.0.0.1:1',
    secrets: [secret],
    wallClock: createWallClock(),
  })

  async function start(trustedProxies: TrustedProxies, rateLimit?: number) {
    // A stopped clock, so that counts per second never reset.
    const clock = () => Date.UTC(2030, 0, 1)
    const options = { trustedProxies, clock, rails: [rail], ...(rateLimit !== undefined && { rateLimit }) }
    const app = await startApp(engine, options)
    const ask =
      (key: string | null, forwarded: string | null, remoteAddress = proxy) =>
      (url: string) =>
        app.server.inject({
          method: url.endsWith('/reports') ? 'POST' : 'GET',
          url,
          remoteAddress,
          headers: { ...(key && { 'x-api-key': key }), ...(forwarded && { 'x-forwarded-for': forwarded }) },
        })
    return { app, ask }
  }
  const apis = ['/api/customers', '/graphql?query={merchant{id}}']

  test("an API key's networks are checked against the client address, despite forged entries", async () => {
    const { app, ask } = await start([proxy])
    const { apiKey } = await createKey(app.service, app.merchant.id, { scopes: ['read'], networks: ['203.0.113.0/24'] })
    for (const url of apis) {
      const statuses = []
      for (const forwarded of [
        office,
        `${stranger}, ${office}:5678`,
        stranger,
        `${office}, ${stranger}`,
        null,
        'unknown',
      ]) {
        statuses.push((await ask(apiKey, forwarded)(url)).statusCode)
      }
      expect([url, ...statuses]).toEqual([url, 200, 200, 403, 403, 403, 403])
      expect((await ask(apiKey, office, stranger)(url)).statusCode).toBe(403)
    }
  })

  test("a request with an invalid X-Forwarded-For entry is rejected, even if the key allows the proxy's network", async () => {
    const { app, ask } = await start([proxy])
    const { apiKey } = await createKey(app.service, app.merchant.id, { scopes: ['read'], networks: ['10.0.0.0/8'] })
    expect((await ask(apiKey, 'unknown')(apis[0] as string)).statusCode).toBe(403)
    expect((await ask(apiKey, '10.1.2.3')(apis[0] as string)).statusCode).toBe(200)
  })

  test('without TRUST_PROXY a forged X-Forwarded-For header grants no access', async () => {
    const { app, ask } = await start(0)
    const { apiKey } = await createKey(app.service, app.merchant.id, { scopes: ['read'], networks: ['203.0.113.0/24'] })
    const { apiKey: inside } = await createKey(app.service, app.merchant.id, {
      scopes: ['read'],
      networks: ['10.0.0.0/8'],
    })
    for (const url of apis) {
      for (const forwarded of [null, office]) {
        expect((await ask(apiKey, forwarded)(url)).statusCode).toBe(403)
        expect((await ask(inside, forwarded)(url)).statusCode).toBe(200)
      }
    }
  })

  test('failed keys and signatures are counted per client address, so one caller cannot lock out others', async () => {
    const { ask } = await start([proxy], 3)
    const paths = [...apis, '/rails/bank/reports']
    for (const url of paths) expect((await ask('nonsense', stranger)(url)).statusCode).toBe(401)
    for (const url of paths) expect((await ask('nonsense', `${office}, ${stranger}:1`)(url)).statusCode).toBe(429)
    for (const url of paths) expect((await ask('nonsense', office)(url)).statusCode).toBe(401)
  })

  test('without TRUST_PROXY failed keys are counted together despite different forged addresses', async () => {
    const { ask } = await start(0, 3)
    const paths = [...apis, '/rails/bank/reports']
    for (const [place, url] of paths.entries()) {
      expect((await ask('nonsense', `203.0.113.${place}`)(url)).statusCode).toBe(401)
    }
    for (const [place, url] of paths.entries()) {
      expect((await ask('nonsense', `192.0.2.${place}`)(url)).statusCode).toBe(429)
    }
  })
})
