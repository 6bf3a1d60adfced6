import { describe, expect, test } from 'vitest'
import { createLogger } from '../../src/app/logger.ts'
import { unavailable } from '../../src/core/errors.ts'
import { createServer } from '../../src/server/host.ts'
import { nodeRail } from '../modules/deposits/support/node.ts'
import type { App } from '../support/app.ts'
import { everyEngine, everyExecutionPath, payoutBody, startApp } from '../support/app.ts'

const page = 'https://app.example.com'
const stranger = 'https://evil.example'
const exposedHeaders =
  'x-request-id, idempotent-replayed, x-ignored-fields, location, retry-after, ratelimit, ratelimit-policy'
const json = { 'content-type': 'application/json' }
const merchantId = { query: '{ merchant { id } }' }

/** The CORS headers of a response; a compressed document also varies by encoding. */
const corsOf = (headers: Record<string, unknown>) =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith('access-control-') || name === 'vary')
      .map(([name, value]) => [name, name === 'vary' ? String(value).replace(', accept-encoding', '') : value]),
  )
const readable = {
  vary: 'origin',
  'access-control-allow-origin': page,
  'access-control-expose-headers': exposedHeaders,
}
const unreadable = { vary: 'origin' }

type Sent = {
  readonly key?: string | null
  readonly headers?: Record<string, string>
  readonly body?: object
  readonly payload?: string
}
type Case = readonly [
  status: number,
  method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS',
  path: string,
  sent?: Sent,
]

/** Every code path that produces a response. */
const cases: readonly Case[] = [
  [200, 'GET', '/api/customers'],
  [200, 'HEAD', '/api/customers'],
  [201, 'POST', '/api/wallets', { body: { currency: 'NGN', description: 'Naira' } }],
  [400, 'POST', '/api/wallets', { body: {} }],
  [400, 'POST', '/api/wallets', { payload: '{', headers: json }],
  [400, 'POST', '/api/wallets', { body: {}, headers: { accept: 'application/problem+json' } }],
  [401, 'GET', '/api/customers', { key: null }],
  [401, 'GET', '/api/customers', { key: 'wrong' }],
  [404, 'GET', '/api/customers/x'],
  [404, 'GET', '/api/nowhere'],
  [404, 'GET', '/api/customers/%zz'],
  [404, 'POST', '/graphql/nowhere', { body: merchantId }],
  [308, 'POST', '/graphql/', { body: merchantId }],
  [405, 'DELETE', '/api/customers'],
  [405, 'PUT', '/graphql'],
  [405, 'OPTIONS', '/api/customers'],
  [406, 'GET', '/api/customers', { headers: { accept: 'text/csv' } }],
  [413, 'POST', '/api/wallets', { payload: `"${' '.repeat(300_000)}"`, headers: json }],
  [413, 'POST', '/graphql', { payload: `"${' '.repeat(300_000)}"`, headers: json }],
  [415, 'POST', '/api/wallets', { payload: 'a=b', headers: { 'content-type': 'text/plain' } }],
  [417, 'GET', '/api/customers', { headers: { expect: 'tea' } }],
  [200, 'POST', '/graphql', { body: merchantId }],
  [200, 'POST', '/graphql', { body: { query: '{ nothing }' } }],
  [400, 'POST', '/graphql', { body: {} }],
  [401, 'POST', '/graphql', { body: merchantId, key: null }],
  [406, 'POST', '/graphql', { body: merchantId, headers: { accept: 'text/csv' } }],
  [200, 'POST', '/graphql', { body: merchantId, headers: { accept: 'text/event-stream' } }],
  [200, 'POST', '/graphql', { body: merchantId, headers: { accept: 'multipart/mixed' } }],
  [200, 'GET', `/graphql?query=${encodeURIComponent(merchantId.query)}`],
  [200, 'GET', '/openapi.json', { key: null }],
]

const titled = cases.map(
  (each) => [`${each.slice(0, 3).join(' ')} ${JSON.stringify(each[3] ?? {}).slice(0, 80)}`, each] as const,
)

type Served = Pick<App, 'server' | 'merchant'>

function send({ server, merchant }: Served, [, method, url, sent = {}]: Case) {
  const { key = merchant.apiKey, headers, body, payload = body } = sent
  return server.inject({
    method,
    url,
    headers: { ...(key !== null && { 'x-api-key': key }), ...headers },
    ...(payload !== undefined && { payload }),
  })
}

const sendFrom = (origin: string, app: Served, [status, method, url, sent = {}]: Case) =>
  send(app, [status, method, url, { ...sent, headers: { ...sent.headers, origin } }])

describe.each(everyExecutionPath)('a response on %s, fast path: %s', (engine, hasFastPath) => {
  test.each(titled)('a response of %s is readable by pages of the allowed origins', async (_, each) => {
    const app = await startApp(engine, { hasFastPath, corsOrigins: ['https://other.example', page] })
    const response = await sendFrom(page, app, each)
    expect([response.statusCode, corsOf(response.headers)]).toEqual([each[0], readable])
    const refused = await sendFrom(stranger, app, each)
    expect([refused.statusCode, corsOf(refused.headers)]).toEqual([each[0], unreadable])
  })
})

describe.each(everyEngine)('CORS for pages on %s', (engine) => {
  test('a wildcard allows each matching origin in the response header, and * allows all origins', async () => {
    const named = await startApp(engine, { corsOrigins: ['https://*.example.com'] })
    const open = await startApp(engine, { corsOrigins: ['*'] })
    for (const each of cases) {
      expect(corsOf((await sendFrom(page, named, each)).headers)).toEqual(readable)
      expect(corsOf((await sendFrom('https://a.app.example.com', named, each)).headers)).toEqual(unreadable)
      for (const origin of [page, 'null', '']) {
        const { headers } = await sendFrom(origin, open, each)
        expect(corsOf(headers)).toEqual({ ...readable, 'access-control-allow-origin': '*' })
      }
    }
  })

  test('a page can read the remaining quota, and a rejection by the rate limit', async () => {
    const app = await startApp(engine, { corsOrigins: [page], rateLimit: 1, clock: () => Date.UTC(2030, 0, 1) })
    const ask = (path: string, key = app.merchant.apiKey) => sendFrom(page, app, [200, 'GET', path, { key }])
    expect((await ask('/api/customers')).headers).toMatchObject({ ...readable, ratelimit: '"default";r=0;t=1' })
    for (const path of ['/api/customers', '/graphql?query={merchant{id}}']) {
      const { statusCode, headers } = await ask(path)
      expect([statusCode, corsOf(headers), headers['retry-after']]).toEqual([429, readable, '1'])
    }
    expect((await ask('/api/customers', 'wrong')).statusCode).toBe(401)
    const { statusCode, headers } = await ask('/api/customers', 'wrong')
    expect([statusCode, corsOf(headers)]).toEqual([429, readable])
  })

  test('a page can read the responses 503 and 500', async () => {
    const app = await startApp(engine, { corsOrigins: [page] })
    for (const [status, fault] of [
      [503, unavailable()],
      [500, new Error('the cause')],
    ] as const) {
      const fail = () => {
        throw fault
      }
      const service = { ...app.service, db: { ...app.db, requireQueueSpace: fail, write: async () => fail() } }
      const logger = createLogger('silent', { write: () => {} })
      const server = createServer({ service, logger, rateLimit: null, corsOrigins: [page] })
      const body = { currency: 'NGN', description: 'Naira' }
      const response = await sendFrom(page, { ...app, server }, [status, 'POST', '/api/wallets', { body }])
      expect([response.statusCode, corsOf(response.headers)]).toEqual([status, readable])
      const query = 'mutation { createWallet(input: { currency: "NGN", description: "x" }) { __typename } }'
      const result = await sendFrom(page, { ...app, server }, [status, 'POST', '/graphql', { body: { query } }])
      expect(result.json().errors[0].extensions.code).toBe(status === 503 ? 'UNAVAILABLE' : 'INTERNAL')
      expect(corsOf(result.headers)).toEqual(readable)
    }
  })

  test('a page can read the header Idempotent-Replayed', async () => {
    const app = await startApp(engine, { corsOrigins: [page] })
    await app.wallet({ balance: '100' })
    const pay = () =>
      sendFrom(page, app, [
        201,
        'POST',
        '/api/payouts/banks',
        { body: payoutBody, headers: { 'idempotency-key': 'once' } },
      ])
    await pay()
    expect((await pay()).headers).toMatchObject({ ...readable, 'idempotent-replayed': 'true' })
  })

  test.each(titled)('without an Origin header the response has no CORS headers: %s', async (_, each) => {
    const [status, , url] = each
    const headersOf = async (corsOrigins: readonly string[]) => {
      const { server, merchant } = await startApp(engine, { corsOrigins })
      const response = await send({ server, merchant }, each)
      expect(response.statusCode).toBe(status)
      return Object.keys(response.headers)
    }
    const before = await headersOf([])
    expect(before.filter((name) => name.startsWith('access-control-'))).toEqual([])
    for (const origins of [['*'], [page]]) expect(await headersOf(origins)).toEqual(before)
    // The other responses must not be cached.
    expect(before.includes('vary')).toBe(url === '/openapi.json')
  })

  test('a page of another origin can access only the paths of the two APIs', async () => {
    const app = await startApp(engine, { corsOrigins: ['*'], rails: [nodeRail] })
    const paths = ['/', '/docs', '/livez', '/readyz', '/.well-known/webhook-keys', '/rails/node/addresses']
    for (const path of [...paths, '/rails/node/deposits', '/nowhere', '/apis', '/graphqlx']) {
      const { headers } = await sendFrom(page, app, [200, 'GET', path])
      expect([path, Object.keys(headers).filter((name) => name.startsWith('access-control-'))]).toEqual([path, []])
      const preflightResponse = await preflight(app, path)
      expect([path, [404, 405].includes(preflightResponse.statusCode)]).toEqual([path, true])
      expect(Object.keys(preflightResponse.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
    }
  })
})

const requestedAccess = {
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,content-type,idempotency-key,sentry-trace',
}

/** The request that a browser sends before a page's request. */
const preflight = (app: App, url: string, headers: Record<string, string> = {}) =>
  app.server.inject({ method: 'OPTIONS', url, headers: { origin: page, ...requestedAccess, ...headers } })

const allowed = {
  ...readable,
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
  'access-control-allow-headers': requestedAccess['access-control-request-headers'],
  'access-control-max-age': '86400',
}

describe.each(everyEngine)('a preflight on %s', (engine) => {
  test('a preflight succeeds without an API key for every path of both APIs, existing or not', async () => {
    const app = await startApp(engine, { corsOrigins: [page] })
    await app.server.ready()
    const { paths } = (await app.server.inject('/openapi.json')).json()
    const known = Object.keys(paths).map((path) => path.replace(/\{\w+\}/g, 'x'))
    expect(known.length).toBeGreaterThan(15)
    for (const path of [
      ...known,
      '/api/nowhere',
      '/api/customers/%zz',
      '/graphql',
      '/graphql?query=x',
      '/openapi.json',
    ]) {
      for (const key of [{}, { 'x-api-key': 'wrong' }]) {
        const response = await preflight(app, path, key)
        expect([path, response.statusCode, response.body]).toEqual([path, 204, ''])
        expect(corsOf(response.headers)).toEqual(allowed)
        expect(response.headers['content-type']).toBeUndefined()
      }
    }
  })

  test('a preflight allows nothing to a page of another origin', async () => {
    const app = await startApp(engine, { corsOrigins: [page] })
    for (const path of ['/api/customers', '/graphql']) {
      const response = await preflight(app, path, { origin: stranger })
      expect([response.statusCode, corsOf(response.headers)]).toEqual([204, unreadable])
    }
  })

  test('a preflight allows no headers if none were requested', async () => {
    const app = await startApp(engine, { corsOrigins: ['*'] })
    const { headers } = await app.server.inject({
      method: 'OPTIONS',
      url: '/api/customers',
      headers: { origin: page, 'access-control-request-method': 'DELETE' },
    })
    const { 'access-control-allow-headers': _, ...others } = allowed
    expect(corsOf(headers)).toEqual({ ...others, 'access-control-allow-origin': '*' })
  })

  test('a preflight does not count towards the rate limit', async () => {
    const app = await startApp(engine, { corsOrigins: [page], rateLimit: 1, clock: () => Date.UTC(2030, 0, 1) })
    for (let i = 0; i < 20; i++) {
      const key = i % 2 === 0 ? app.merchant.apiKey : 'wrong'
      for (const path of ['/api/customers', '/graphql']) {
        const { statusCode, headers } = await preflight(app, path, { 'x-api-key': key })
        expect([statusCode, headers.ratelimit]).toEqual([204, undefined])
      }
    }
    expect((await app.rest('GET', '/api/customers', { key: 'wrong' })).status).toBe(401)
    expect((await app.rest('GET', '/api/customers')).status).toBe(200)
  })

  test.each([
    ['OPTIONS without an origin', 'OPTIONS', requestedAccess],
    ['OPTIONS that announces no method', 'OPTIONS', { origin: page }],
    ['another method', 'PATCH', { origin: page, ...requestedAccess }],
  ] as const)('%s is not treated as a preflight, and gets 405 with the allowed methods', async (_, method, headers) => {
    const app = await startApp(engine, { corsOrigins: [page] })
    for (const [path, methods] of [
      ['/api/customers', 'GET, HEAD'],
      ['/graphql', 'GET, HEAD, POST'],
    ]) {
      const response = await app.server.inject({ method, url: String(path), headers })
      expect([response.statusCode, response.headers.allow]).toEqual([405, methods])
      expect(response.body).toContain('"METHOD_NOT_ALLOWED"')
    }
  })

  test('a preflight with invalid headers is rejected like any other request', async () => {
    const app = await startApp(engine, { corsOrigins: [page] })
    const { statusCode, headers } = await preflight(app, '/api/customers', { expect: 'tea' })
    expect([statusCode, corsOf(headers)]).toEqual([417, readable])
  })

  test('a preflight is logged like any other request', async () => {
    const lines: string[] = []
    const app = await startApp(engine, { corsOrigins: [page], onLog: (line) => lines.push(line) })
    await preflight(app, '/api/customers')
    const seen = lines
      .map((line) => JSON.parse(line))
      .map(({ method, route, status, code }) => [method, route, status, code])
    expect(seen).toEqual([['OPTIONS', '/api/customers', 204, null]])
  })
})
