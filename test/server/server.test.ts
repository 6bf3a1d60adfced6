import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createLogger } from '../../src/app/logger.ts'
import { formatApiKey } from '../../src/modules/merchants/api-key.ts'
import { createServer } from '../../src/server/host.ts'
import type { App } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'

describe('requests that arrive in one turn of the event loop', () => {
  test('are all parsed before the first response to a read is sent', async () => {
    const app = await startApp('sqlite')
    const paths = ['/api/customers', '/api/asset-codes', '/api/payout/methods']
    const requests = paths.map((path) => ['GET', path] as const)
    const together = [...paths.map((path) => `asked ${path}`), ...paths.map((path) => `answered ${path}`)]

    // After a request that takes more than two milliseconds, as the first of its kind does, the next one flushes
    // it.
    const seen: string[] = []
    for (let tries = 0; tries < 100 && seen.at(-1) !== together.join(); tries++) {
      seen.push((await inOneTurn(app, requests)).join())
    }

    expect(seen.at(-1)).toBe(together.join())
  })

  test('get the responses to reads before the responses to writes', async () => {
    const app = await startApp('sqlite')
    await app.wallet({ balance: '10' })
    // A single write does not wait for a batch.
    await Promise.all([app.db.write(() => {}), app.db.write(() => {})])

    const seen = await inOneTurn(app, [
      ['POST', '/api/payouts/banks', { ...payoutBody, amount: '1' }],
      ['GET', '/api/customers'],
    ])

    expect(seen).toEqual([
      ...['asked /api/payouts/banks', 'asked /api/customers'],
      ...['answered /api/customers', 'answered /api/payouts/banks'],
    ])
  })
})

describe.each(everyEngine)('the HTTP host on %s', (engine) => {
  test('the health endpoints report a live and ready service without an API key', async () => {
    const app = await startApp(engine)
    for (const path of ['/livez', '/healthz', '/readyz']) {
      const { status, body } = await app.rest('GET', path, { key: null })
      expect([status, body]).toEqual([200, { status: 'ok' }])
    }
  })

  test("the health endpoints report that the service is live but not ready if the database can't be read", async () => {
    const app = await startApp(engine)
    const ping = async () => {
      throw new Error('the database is gone')
    }
    const service = { ...app.service, db: { ...app.db, ping } }
    const server = createServer({ service, logger: createLogger('silent', { write: () => {} }), rateLimit: null })
    expect((await server.inject('/readyz')).statusCode).toBe(503)
    for (const path of ['/livez', '/healthz']) expect((await server.inject(path)).statusCode).toBe(200)
  })

  test.each([
    ['DELETE', '/nope', ''],
    ['POST', '/nope', '{"__proto__":1}'],
    ['POST', '/api/payouts/banks/', '{'],
  ] as const)('the unknown endpoint %s %s gets 404 for any body', async (method, url, payload) => {
    const { server } = await startApp(engine)
    const response = await server.inject({ method, url, payload, headers: { 'content-type': 'application/json' } })
    expect([response.statusCode, response.json().error.code]).toEqual([404, 'ENDPOINT_NOT_FOUND'])
  })

  test('every path rejects an unsupported method with 405', async () => {
    const { server } = await startApp(engine)
    await server.ready()
    const paths = pathsIn(server.printRoutes({ commonPrefix: false }))
    expect(paths.length).toBeGreaterThan(15)
    for (const path of new Set(paths)) {
      const url = path.replace(/:\w+/g, 'x')
      const takes = [...((await server.inject({ method: 'OPTIONS', url })).headers.allow?.toString().split(', ') ?? [])]
      expect([path, takes.length > 0]).toEqual([path, true])
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND']) {
        const { statusCode, headers, body } = await server.inject({ method: method as 'GET', url, payload: '{bad' })
        expect([path, method, statusCode === 405]).toEqual([path, method, !takes.includes(method)])
        if (statusCode !== 405) continue
        expect(headers.allow).toBe(takes.join(', '))
        expect(body).toContain('"code":"METHOD_NOT_ALLOWED"')
      }
    }
  })

  const twice = 'The Host header must be given once.'
  test.each([
    ['a missing Host', 400, 'MALFORMED_REQUEST', 'The Host header is required.', 'GET /api/customers HTTP/1.1\r\n'],
    ['two different Hosts', 400, 'MALFORMED_REQUEST', twice, 'GET /api/customers HTTP/1.1\r\nhost: a\r\nHost: b\r\n'],
    ['two equal Hosts', 400, 'MALFORMED_REQUEST', twice, 'GET /livez HTTP/1.1\r\nhost: a\r\nhost: a\r\n'],
    ['two Hosts in HTTP/1.0', 400, 'MALFORMED_REQUEST', twice, 'GET /livez HTTP/1.0\r\nhost: a\r\nhost: b\r\n'],
    [
      'an absolute URL without a Host',
      400,
      'MALFORMED_REQUEST',
      'The Host header is required.',
      'GET /nowhere HTTP/1.1\r\n',
    ],
    [
      'an unknown Expect',
      417,
      'EXPECTATION_FAILED',
      'The only expectation that can be met is 100-continue.',
      'GET /api/customers HTTP/1.1\r\nhost: a\r\nexpect: tea\r\n',
    ],
  ])('the host rejects %s with an envelope and a request id', async (_, status, code, message, head) => {
    const app = await startApp(engine)
    const response = await conversation(app, `${head}connection: close\r\n\r\n`)
    const [top = '', body = ''] = response.split('\r\n\r\n')
    expect(top).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `))
    const requestId = /x-request-id: (\S+)/.exec(top)?.[1]
    expect(JSON.parse(body)).toMatchObject({ status: 'failed', error: { code, message }, request_id: requestId })
    expect(top).toContain('x-content-type-options: nosniff')
  })

  test('the host accepts HTTP/1.0 without a Host header, and Expect: 100-continue', async () => {
    const app = await startApp(engine)
    expect(await conversation(app, 'GET /livez HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /)
    const expecting = 'POST /api/wallets HTTP/1.1\r\nhost: a\r\nexpect: 100-Continue\r\nconnection: close\r\n'
    const sent = `${expecting}x-api-key: ${app.merchant.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`
    expect(await conversation(app, sent)).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /)
  })

  test('the host rejects bytes that are not HTTP with an envelope, and closes the connection', async () => {
    const app = await startApp(engine)
    for (const sent of ['HELLO\r\n\r\n', 'GET /api/customers HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n']) {
      const [head = '', body = ''] = (await conversation(app, sent)).split('\r\n\r\n')
      expect(head).toMatch(/^HTTP\/1\.1 400 /)
      const requestId = /x-request-id: (\S+)/.exec(head)?.[1]
      const message = 'This is not a valid HTTP request.'
      expect(JSON.parse(body)).toMatchObject({ status: 'failed', error: { message }, request_id: requestId })
    }
  })

  test('the host responds with 408 and an envelope to a request that does not arrive in time', async () => {
    const app = await startApp(engine)
    const server = app.server.server
    // Node reports the timeout of a request by this event.
    server.once('connection', (socket) =>
      server.emit('clientError', Object.assign(new Error('late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket),
    )
    const [head = '', body = ''] = (await conversation(app, 'GET /livez HTTP/1.1\r\n')).split('\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/)
    expect(JSON.parse(body)).toMatchObject({
      status: 'failed',
      error: { code: 'REQUEST_TIMEOUT', message: 'The request did not arrive in time.' },
      request_id: /x-request-id: (\S+)/.exec(head)?.[1],
    })
  })

  test.each(['a', 'ä'])('a response of several thousand letters %s arrives completely', async (letter) => {
    const app = await startApp(engine)
    await app.server.listen({ host: '127.0.0.1', port: 0 })
    const url = `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}/api/wallets`
    const headers = { 'x-api-key': app.merchant.apiKey, 'content-type': 'application/json' }
    const description = letter.repeat(200)
    for (let i = 0; i < 25; i++) {
      const body = JSON.stringify({ currency: 'NGN', description })
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(201)
    }
    const response = await fetch(`${url}?limit=25`, { headers })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(response.headers.get('content-length')).toBe(String(bytes.length))
    const { data } = JSON.parse(bytes.toString())
    expect(JSON.stringify(data).split(description)).toHaveLength(26)
  })

  test('the host rejects a request with a wrong API key or with an oversized body before the body has arrived', async () => {
    const app = await startApp(engine)
    const announced = (key: string) =>
      `POST /api/wallets HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\ncontent-type: application/json\r\n` +
      'content-length: 99999999\r\nconnection: close\r\n\r\n{'
    expect(await conversation(app, announced(app.merchant.apiKey))).toMatch(/^HTTP\/1\.1 413 /)
    expect(await conversation(app, announced('wrong'))).toMatch(/^HTTP\/1\.1 401 /)
  })
})

describe.each(everyEngine)('the request log on %s', (engine) => {
  const secrets = {
    account: '0690000032',
    iban: 'GB82WEST12345698765432',
    address: walletMethodBody.wallet_address,
    name: 'Ada Obi',
    idempotencyKey: 'order-4711',
  }

  test('the request log has method, route, status and merchant, and never a path, body, key or account number', async () => {
    const lines: string[] = []
    const app = await startApp(engine, { onLog: (line) => lines.push(line) })
    await app.wallet({ balance: '100' })
    const bank = { ...bankMethodBody, iban: secrets.iban }
    const headers = { 'idempotency-key': secrets.idempotencyKey }
    const { body } = await app.rest('POST', '/api/payout/methods/banks', { body: bank, headers })
    await app.rest('PUT', `/api/payout/methods/banks/${body.data.id}`, { body: bank })
    await app.rest('POST', '/api/payout/methods/wallets', { body: walletMethodBody })
    await app.rest('POST', '/api/payouts/banks', { body: payoutBody, headers })
    await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1000' } })
    await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: secrets.account, currency: 'x' } })
    await app.rest('GET', `/api/customers/${secrets.account}?key=${secrets.iban}`)
    await app.rest('GET', `/api/${secrets.account}`, { headers: { authorization: `Bearer ${secrets.iban}` } })
    await app.rest('GET', '/api/customers', { key: secrets.account })
    await app.rest('POST', '/api/wallets', {
      payload: `{"account_number":"${secrets.account}"`,
      headers: { 'content-type': 'application/json' },
    })
    await app.rest('DELETE', `/api/payout/methods/${body.data.id}`)

    expect(lines).toHaveLength(11)
    for (const secret of [app.merchant.apiKey, ...Object.values(secrets)]) expect(lines.join('')).not.toContain(secret)
    const [first, ...others] = lines.map((line) => JSON.parse(line))
    expect(first).toEqual({
      level: 'info',
      time: expect.any(String),
      pid: process.pid,
      role: 'service',
      request_id: expect.any(String),
      method: 'POST',
      route: '/api/payout/methods/banks',
      operation: null,
      status: 201,
      code: null,
      merchant_id: app.merchant.id,
      duration_ms: expect.any(Number),
    })
    for (const line of others) expect(Object.keys(line)).toEqual(Object.keys(first))
    expect(others.map(({ route, status, code }) => [route, status, code])).toEqual(
      expect.arrayContaining([
        ['/api/customers/:customerId', 404, 'RESOURCE_NOT_FOUND'],
        ['/api/payouts/banks', 422, 'INSUFFICIENT_FUNDS'],
        ['/api/wallets', 400, 'MALFORMED_JSON'],
        ['/api/customers', 401, 'INVALID_TOKEN'],
        [null, 404, 'ENDPOINT_NOT_FOUND'],
      ]),
    )
  })

  test('the request log has the method of the request, even if no path supports that method', async () => {
    const lines: string[] = []
    const app = await startApp(engine, { onLog: (line) => lines.push(line) })
    for (const method of ['PROPFIND', 'TRACE', 'GET']) {
      for (const path of ['/livez', '/nope']) await app.rest(method as 'GET', path)
    }
    const seen = lines.map((line) => JSON.parse(line)).map(({ method, route, code }) => [method, route, code])
    const others = ['PROPFIND', 'TRACE'].flatMap((method) => [
      [method, '/livez', 'METHOD_NOT_ALLOWED'],
      [method, null, 'ENDPOINT_NOT_FOUND'],
    ])
    expect(seen).toEqual([...others, ['GET', '/livez', null], ['GET', null, 'ENDPOINT_NOT_FOUND']])
  })

  test('the request log has the GraphQL operation, and the error code even if the status is 200', async () => {
    const lines: string[] = []
    const app = await startApp(engine, { onLog: (line) => lines.push(line) })
    const opening =
      'mutation Open { createWallet(input: { currency: "GOLD", description: "x" }) { ... on CreateWalletPayload { wallet { id } } } }'
    const long = `query Account_${secrets.account}_${'x'.repeat(100)} { merchant { id } }`
    const cases: [string, string | null, string | null][] = [
      ['{ merchant { id } }', 'query', null],
      ['query A { merchant { id } }', 'query A', null],
      [long, `query Account__${`_${'x'.repeat(100)}`.slice(0, 42)}`, null],
      // The error is returned as data of a union, and the query selects none of its fields.
      [opening, 'mutation Open', 'INVALID_INPUT'],
      [opening, 'mutation Open', 'INVALID_INPUT'],
      ['query B { customers(after: "x") { totalCount } }', 'query B', 'INVALID_INPUT'],
      ['{ nothing }', null, 'INVALID_DOCUMENT'],
    ]
    for (const [query] of cases) expect((await app.graphql(query)).status).toBe(200)
    await app.graphql('{ merchant { id } }', {}, { key: null })
    const seen = lines.map((line) => JSON.parse(line)).map(({ operation, status, code }) => [operation, status, code])
    expect(seen).toEqual([...cases.map(([, operation, code]) => [operation, 200, code]), [null, 401, 'MISSING_TOKEN']])
    expect(lines.join('')).not.toContain(secrets.account)
  })

  test('the request log has a line for each response only at level info or below', () => {
    const lines: string[] = []
    const entry = {
      request_id: 'one "of" the\\caller',
      method: 'GET',
      route: '/api/wallets/:wallet_id',
      operation: null,
      status: 200,
      code: null,
      merchant_id: `pgw_live_${'0'.repeat(16)}`,
      duration_ms: 1.25,
    }
    for (const level of ['info', 'warn'] as const) {
      const logger = createLogger(level, { write: (line: string) => lines.push(line) }, 'reader')
      logger.answered(entry)
      logger.info(entry)
    }
    const [told, logged] = lines.map((line) => line.replace(/"time":"[^"]*"/, '"time":""'))
    expect(lines).toHaveLength(2)
    expect(told).toBe(logged)
    expect(JSON.parse(told ?? '')).toMatchObject({ ...entry, merchant_id: '[redacted]', role: 'reader' })
  })

  test('the log masks API keys in any line, and long numbers in errors', () => {
    const lines: string[] = []
    const logger = createLogger('info', { write: (line: string) => lines.push(line) })
    // A key with long numbers in it.
    const apiKey = formatApiKey({ mode: 'live', id: '0123456789abcdef', secret: '1234567890ab'.repeat(4) })
    logger.info({ request: { headers: { 'x-api-key': apiKey } } }, `with ${apiKey}`)
    logger.error({ err: Object.assign(new Error(`no account ${secrets.account} for ${apiKey}`), { apiKey }) }, 'failed')
    const [first, second] = lines.map((line) => JSON.parse(line))
    expect(first).toMatchObject({ msg: 'with [redacted]', request: { headers: { 'x-api-key': '[redacted]' } } })
    expect(second.err.message).toBe('no account [redacted] for [redacted]')
    // The frames only: the message would precede them again.
    expect(second.err.stack).toMatch(/^ +at .*server\.test\.ts/)
    logger.error(new Error('NOT NULL failed for {"name": "Ada Obi"}'), 'failed')
    expect(JSON.parse(lines[2] ?? '').err.message).toBe('NOT NULL failed for [redacted]')
    expect(lines.join('')).not.toContain(apiKey.slice(-8))
  })
})

/** Every routed path, from the tree that Fastify prints: four characters per level. */
function pathsIn(tree: string): string[] {
  const above: string[] = []
  return tree.split('\n').flatMap((line) => {
    const [, indent = '', segment = '', methods] = /^(\W*?── )(\S+)( \(.*\))?$/.exec(line) ?? []
    if (segment === '') return []
    above.splice(indent.length / 4 - 1, Infinity, segment)
    return methods === undefined ? [] : [above.join('').replace(/\/+/g, '/')]
  })
}

/** The response of the listening service to these bytes, until it closes the connection. */
async function conversation({ server }: App, sent: string): Promise<string> {
  if (!server.server.listening) await server.listen({ host: '127.0.0.1', port: 0 })
  const socket = connect((server.server.address() as AddressInfo).port, '127.0.0.1')
  let received = ''
  socket.on('data', (bytes) => {
    received += bytes
  })
  socket.write(sent)
  await once(socket, 'close')
  return received
}

/** Sends requests so that all have arrived when the event loop polls, and returns the order of events. */
async function inOneTurn(
  { server, merchant }: App,
  requests: readonly (readonly [method: string, path: string, body?: object])[],
): Promise<string[]> {
  if (!server.server.listening) await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  const sockets = requests.map(() => connect(port, '127.0.0.1'))
  const head = (method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${merchant.apiKey}\r\ncontent-type: application/json\r\n`
  // Each socket sends a first request, because data on a new connection waits for its accept.
  for (const socket of sockets) {
    socket.write(`${head('GET', '/livez')}\r\n`)
    await once(socket, 'data')
  }
  const seen: string[] = []
  const watch = ({ url }: IncomingMessage, response: ServerResponse) => {
    seen.push(`asked ${url}`)
    response.once('finish', () => seen.push(`answered ${url}`))
  }
  server.server.prependListener('request', watch)

  for (const [i, [method, path, body]] of requests.entries()) {
    const payload = body === undefined ? '' : JSON.stringify(body)
    sockets[i]?.write(
      `${head(method, path)}connection: close\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`,
    )
  }
  // The kernel receives them while this thread is busy.
  const start = performance.now()
  while (performance.now() - start < 20);
  await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
  server.server.off('request', watch)
  return seen
}
