import { Readable } from 'node:stream'
import { getIntrospectionQuery } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createLogger } from '../../src/app/logger.ts'
import { unavailable } from '../../src/core/errors.ts'
import { toGlobalId } from '../../src/graphql/schema/global-ids.ts'
import { createServer } from '../../src/server/host.ts'
import type { App, RestMethod } from '../support/app.ts'
import { everyExecutionPath, startApp } from '../support/app.ts'
import { readStoredRows } from '../support/stored.ts'

const path = '/graphql'
const json = { 'content-type': 'application/json' }
const newer = 'application/graphql-response+json'
const who = '{ merchant { name } }'
const opening = 'mutation { createWallet(input: { currency: "NGN", description: "x" }) { __typename } }'

/** Posts a body unchanged; `inject` would serialize it as JSON. */
function post(app: App, body: unknown, headers: Record<string, string> = {}, key?: string | null) {
  return app.rest('POST', path, {
    payload: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { ...json, ...headers },
    ...(key !== undefined && { key }),
  })
}

function codeOf({ body }: { body: { errors: [{ extensions: { code: string } }] } }): string {
  return body.errors[0].extensions.code
}

describe.each(everyExecutionPath)('media types on %s, fast path: %s', (engine, hasFastPath) => {
  // The outcome, and the status under application/json and under the newer media type (GraphQL over HTTP, 6.4).
  const requests: [string, object, number, number, string | null][] = [
    ['a valid query', { query: who }, 200, 200, null],
    ['a field that fails', { query: '{ customers(after: "junk") { totalCount } }' }, 200, 200, 'INVALID_INPUT'],
    ['a syntax error', { query: '{' }, 200, 400, 'INVALID_DOCUMENT'],
    ['an unknown field', { query: '{ nothing }' }, 200, 400, 'INVALID_DOCUMENT'],
    ['an unknown operation', { query: who, operationName: 'X' }, 200, 400, 'INVALID_DOCUMENT'],
    ['an invalid variable', { query: 'query ($id: ID!) { node(id: $id) { id } }' }, 200, 400, 'INVALID_INPUT'],
    [
      'a query that is too complex',
      { query: '{ customers(first: 100) { nodes { wallets(first: 100) { nodes { id } } } } }' },
      200,
      400,
      'QUERY_TOO_COMPLEX',
    ],
    ['no query', {}, 400, 400, 'INVALID_INPUT'],
  ]

  test.each(requests)(
    'the response to %s has the media type and status that Accept selects',
    async (_, request, older, newerStatus, code) => {
      const app = await startApp(engine, { hasFastPath })
      for (const [accept, status] of [
        ['application/json', older],
        ['*/*', null],
        ['', null],
        [newer, newerStatus],
        [`${newer}, application/json;q=0.9`, newerStatus],
      ] as const) {
        const response = await post(app, request, { accept })
        if (status !== null) expect([accept, response.status]).toEqual([accept, status])
        expect(response.status).toBeLessThan(401)
        expect(response.headers['content-type']).toMatch(/^application\/(graphql-response\+)?json; charset=utf-8$/)
        if (accept === 'application/json')
          expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
        expect(response.body.errors?.[0].extensions.code ?? null).toBe(code)
        expect(response.body.extensions.requestId).toBe(response.headers['x-request-id'])
      }
    },
  )

  test('an Accept header without a supported media type is rejected before the document is executed', async () => {
    const app = await startApp(engine, { hasFastPath })
    const before = await readStoredRows(app)
    for (const accept of ['text/html', 'image/png', 'application/xml']) {
      const response = await post(app, { query: opening }, { accept })
      expect([response.status, codeOf(response)]).toEqual([406, 'NOT_ACCEPTABLE'])
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('text/event-stream is a valid response type for a query and a mutation', async () => {
    const app = await startApp(engine, { hasFastPath })
    for (const [query, field] of [
      [who, 'merchant'],
      [opening, 'createWallet'],
      ['{ nothing }', 'INVALID_DOCUMENT'],
    ]) {
      const response = await app.server.inject({
        method: 'POST',
        url: path,
        headers: { ...json, accept: 'text/event-stream', 'x-api-key': app.merchant.apiKey },
        payload: { query },
      })
      expect(response.statusCode).toBe(200)
      expect(response.headers['content-type']).toMatch(/^text\/event-stream/)
      expect(response.headers['x-request-id']).toBeDefined()
      const events = response.body.split('\n').filter((line) => line.startsWith('event: '))
      expect(events).toEqual(['event: next', 'event: complete'])
      expect(response.body).toContain(field)
    }
  })
})

describe.each(everyExecutionPath)('GraphQL requests on %s, fast path: %s', (engine, hasFastPath) => {
  test.each(['{', '{"query":}', "{'query':'{a}'}", 'query', '{}{}'])(
    '%s is rejected as malformed JSON',
    async (body) => {
      const app = await startApp(engine, { hasFastPath })
      const response = await post(app, body)
      expect([response.status, codeOf(response)]).toEqual([400, 'MALFORMED_JSON'])
    },
  )

  test.each([
    ['no query', {}, 'query'],
    ['an empty query', { query: ' ' }, 'query'],
    ['a query of the wrong type', { query: { a: 1 } }, 'query'],
    ['null', null, 'body'],
    ['a text', '"text"', 'body'],
    ['a batch', [{ query: who }, { query: who }], 'body'],
    ['an empty batch', [], 'body'],
    ['variables as a list', { query: who, variables: [] }, 'variables'],
    ['variables as a string', { query: who, variables: '{}' }, 'variables'],
    ['a number as operation name', { query: who, operationName: 1 }, 'operationName'],
    ['extensions as a string', { query: who, extensions: 'x' }, 'extensions'],
  ])('%s is rejected, and the error says which member is invalid', async (_, body, field) => {
    const app = await startApp(engine, { hasFastPath })
    for (const accept of ['application/json', newer]) {
      const response = await post(app, body, { accept })
      expect([response.status, codeOf(response)]).toEqual([400, 'INVALID_INPUT'])
      expect(response.body.errors[0].extensions.fields[0].field).toBe(field)
      expect(response.body).not.toHaveProperty('data')
    }
  })

  test('an empty body is rejected as missing', async () => {
    const app = await startApp(engine, { hasFastPath })
    const response = await post(app, '')
    expect([response.status, codeOf(response)]).toEqual([400, 'INVALID_INPUT'])
  })

  // A cross-site page can send these media types without a preflight.
  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/graphql',
    'text/json',
    'application/graphql-response+json',
  ])('a request with Content-Type %s is rejected before the document is executed', async (type) => {
    const app = await startApp(engine, { hasFastPath })
    const before = await readStoredRows(app)
    const form = new URLSearchParams({ query: opening }).toString()
    for (const payload of [JSON.stringify({ query: opening }), form, opening]) {
      const response = await app.rest('POST', path, { payload, headers: { 'content-type': type } })
      expect([response.status, codeOf(response)]).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE'])
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('a page of another origin may not read a response', async () => {
    const app = await startApp(engine, { hasFastPath })
    const origin = { origin: 'https://evil.example', 'access-control-request-method': 'POST' }
    const responses = [
      await post(app, { query: who }, origin),
      await app.rest('OPTIONS', path, { headers: origin }),
      await app.rest('GET', `${path}?query=${encodeURIComponent(who)}`, { headers: origin }),
      await post(app, { query: who }, origin, null),
      await app.server.inject({
        method: 'POST',
        url: path,
        headers: { ...json, ...origin, accept: 'text/event-stream', 'x-api-key': app.merchant.apiKey },
        payload: { query: who },
      }),
    ]
    for (const { headers } of responses) {
      expect(headers['x-request-id']).toBeDefined()
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
    }
  })

  test('GET runs queries and rejects mutations', async () => {
    const app = await startApp(engine, { hasFastPath })
    const get = (parameters: Record<string, string>, accept = 'application/json') =>
      app.rest('GET', `${path}?${new URLSearchParams(parameters)}`, { headers: { accept } })
    expect((await get({ query: who })).body.data).toEqual({ merchant: { name: 'Test merchant' } })
    const variables = JSON.stringify({ n: 0 })
    const named = {
      query: 'query A { merchant { name } } query B($n: Int) { customers(first: $n) { totalCount } }',
      operationName: 'B',
      variables,
    }
    expect((await get(named)).body.data).toEqual({ customers: { totalCount: 0 } })
    const faulty = await get({ query: who, variables: '{' })
    expect([faulty.status, codeOf(faulty)]).toEqual([400, 'INVALID_INPUT'])

    const before = await readStoredRows(app)
    for (const accept of ['application/json', newer]) {
      for (const query of [opening, `query A { merchant { name } } ${opening.replace('mutation', 'mutation M')}`]) {
        const response = await get({ query, ...(query.includes('mutation M') && { operationName: 'M' }) }, accept)
        expect([response.status, response.headers.allow, codeOf(response)]).toEqual([405, 'POST', 'METHOD_NOT_ALLOWED'])
      }
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  test.each(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])('the method %s is rejected with 405', async (method) => {
    const app = await startApp(engine, { hasFastPath })
    const response = await app.rest(method as RestMethod, path)
    expect([response.status, response.headers.allow]).toEqual([405, 'GET, HEAD, POST'])
    expect(codeOf(response)).toBe('METHOD_NOT_ALLOWED')
  })

  test('HEAD returns the headers of GET without the body', async () => {
    const app = await startApp(engine, { hasFastPath })
    const url = `${path}?query=${encodeURIComponent(who)}`
    const head = await app.rest('HEAD', url)
    expect([head.status, head.text]).toEqual([200, ''])
    expect((await app.rest('HEAD', url, { key: null })).status).toBe(401)
  })

  test('a body over 256 KiB is rejected, whether or not it has a Content-Length', async () => {
    const app = await startApp(engine, { hasFastPath })
    const sized = (bytes: number) => `{"query":"${who}","extensions":{"x":"`.padEnd(bytes - 3, 'x').concat('"}}')
    expect((await post(app, sized(262_144))).status).toBe(200)
    const over = await post(app, sized(262_145))
    expect([over.status, codeOf(over)]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    const streamed = await app.server.inject({
      method: 'POST',
      url: path,
      headers: { ...json, 'x-api-key': app.merchant.apiKey },
      payload: Readable.from([sized(262_145)]),
    })
    expect(streamed.statusCode).toBe(413)
  })
})

describe.each(everyExecutionPath)('API keys of GraphQL on %s, fast path: %s', (engine, hasFastPath) => {
  test('the API key is checked first, so every request without an API key gets the same response', async () => {
    const app = await startApp(engine, { hasFastPath })
    const requests: [RestMethod, string, Record<string, string>, string?][] = [
      ['POST', path, json, JSON.stringify({ query: who })],
      ['POST', path, json, '{'],
      ['POST', path, json, '[]'],
      ['POST', path, json, ''],
      ['POST', path, json, JSON.stringify({ query: 'x'.repeat(1_000_000) })],
      ['POST', path, json, JSON.stringify({ query: getIntrospectionQuery() })],
      ['POST', path, json, JSON.stringify({ query: '{ __typename }' })],
      ['POST', path, { 'content-type': 'text/plain' }, opening],
      ['POST', path, { 'content-type': 'multipart/form-data' }, opening],
      ['POST', path, { ...json, accept: 'text/event-stream' }, JSON.stringify({ query: who })],
      ['POST', path, { ...json, accept: 'image/png' }, JSON.stringify({ query: who })],
      ['GET', `${path}?query=%7B__typename%7D`, {}],
      ['GET', `${path}?query=%7B__typename%7D`, { accept: 'text/html' }],
      ['GET', path, {}],
      ['GET', path, { accept: 'application/json' }],
      ['HEAD', path, {}],
    ]
    const keys: Record<string, string>[] = [
      { 'x-api-key': '' },
      { 'x-api-key': 'nonsense' },
      { 'x-api-key': `${app.merchant.apiKey}x` },
      { authorization: 'Bearer nonsense' },
      { 'x-api-key': app.merchant.apiKey, authorization: 'Bearer other' },
    ]
    const seen = new Set<string>()
    for (const [method, url, headers, payload] of requests) {
      for (const key of keys) {
        const response = await app.rest(method, url, {
          key: null,
          headers: { ...headers, ...key, 'x-request-id': 'same' },
          ...(payload !== undefined && { payload }),
        })
        expect(response.status, `${method} ${url} ${JSON.stringify(headers)}`).toBe(401)
        expect(response.headers['www-authenticate']).toBe('Bearer realm="payout-gateway"')
        if (method !== 'HEAD') seen.add(`${response.headers['content-type']} ${response.text}`)
      }
    }
    expect([...seen]).toEqual([expect.stringContaining('"code":"INVALID_TOKEN"')])
    const missing = await post(app, { query: who }, {}, null)
    expect([missing.status, codeOf(missing)]).toEqual([401, 'MISSING_TOKEN'])
    expect((await post(app, { query: who }, { authorization: `Bearer ${app.merchant.apiKey}` }, null)).status).toBe(200)
  })

  test('the rate limit of a merchant applies to requests to both APIs together', async () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { hasFastPath, rateLimit: 3, clock: () => nowMs })
    const first = await post(app, { query: who })
    expect(first.headers).toMatchObject({ 'ratelimit-policy': '"default";q=3;w=1', ratelimit: '"default";r=2;t=1' })
    expect((await app.rest('GET', '/api/asset-codes')).headers.ratelimit).toBe('"default";r=1;t=1')
    // A rejected request counts too.
    expect((await post(app, '{')).headers.ratelimit).toBe('"default";r=0;t=1')

    for (const accept of ['application/json', newer, 'text/event-stream']) {
      const over = await post(app, { query: who }, { accept })
      expect([over.status, codeOf(over)]).toEqual([429, 'RATE_LIMITED'])
      expect(over.headers).toMatchObject({ 'retry-after': '1', ratelimit: '"default";r=0;t=1' })
    }
    expect((await app.rest('GET', '/api/asset-codes')).status).toBe(429)
    expect((await post(app, { query: who }, {}, null)).status).toBe(401)
    const { apiKey } = await app.otherMerchant()
    expect((await post(app, { query: who }, {}, apiKey)).status).toBe(200)
    nowMs += 1_000
    expect((await post(app, { query: who })).status).toBe(200)
    for (const accept of ['text/event-stream', 'multipart/mixed']) {
      const headers = { ...json, accept, 'x-api-key': app.merchant.apiKey }
      const stream = await app.server.inject({ method: 'POST', url: path, headers, payload: { query: who } })
      expect([stream.statusCode, stream.headers['ratelimit-policy']]).toEqual([200, '"default";q=3;w=1'])
      expect(stream.headers.ratelimit).toBe(`"default";r=${accept === 'multipart/mixed' ? 0 : 1};t=1`)
    }
  })
})

describe.each(everyExecutionPath)('GraphQL request ids on %s, fast path: %s', (engine, hasFastPath) => {
  test('the request id is in a header, in the body, in each error and in the log', async () => {
    const lines: string[] = []
    const app = await startApp(engine, { hasFastPath, onLog: (line) => lines.push(line) })
    const own = { 'x-request-id': 'mine 1' }
    const responses = [
      await post(app, { query: who }, own),
      await post(
        app,
        { query: '{ customers(after: "x") { totalCount } nothing: customers(before: "x") { totalCount } }' },
        own,
      ),
      await post(app, { query: '{ nothing }' }, own),
      await post(app, '{', own),
      await post(app, { query: who }, own, null),
      await app.rest('GET', `${path}?query=${encodeURIComponent(opening)}`, { headers: own }),
      await app.rest('PUT', path, { headers: own }),
    ]
    for (const { headers, body } of responses) {
      expect([headers['x-request-id'], body.extensions.requestId]).toEqual(['mine 1', 'mine 1'])
      for (const { extensions } of body.errors ?? []) expect(extensions.requestId).toBe('mine 1')
    }
    expect(lines).toHaveLength(responses.length)
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ request_id: 'mine 1', route: path })

    const replaced = await post(app, { query: who }, { 'x-request-id': 'x'.repeat(129) })
    expect(replaced.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    expect(replaced.body.extensions.requestId).toBe(replaced.headers['x-request-id'])
  })
})

describe.each(everyExecutionPath)('GraphQL errors on %s, fast path: %s', (engine, hasFastPath) => {
  const cause = 'the disk of account 0690000032 said no'

  test('an unexpected error is masked in the response, and the log has its cause under the request id', async () => {
    const app = await startApp(engine, { hasFastPath })
    const { ask, errorLines, lines } = failing(app, hasFastPath, new Error(cause))
    for (const [query, field] of [
      [who, 'merchant'],
      ['{ customers { nodes { email } } }', 'customers'],
      [opening, 'createWallet'],
    ] as const) {
      for (let i = 0; i < 2; i++) {
        lines.length = 0
        const { status, body } = await ask(query)
        expect(status).toBe(200)
        expect(body).toEqual({
          errors: [
            {
              message: 'The service failed. The request id names the entry in its log.',
              locations: [{ line: 1, column: expect.any(Number) }],
              path: [field],
              extensions: { code: 'INTERNAL', requestId: body.extensions.requestId },
            },
          ],
          data: { [field]: null },
          extensions: { requestId: body.extensions.requestId, cost: expect.any(Object) },
        })
        expect(errorLines()).toMatchObject([
          { request_id: body.extensions.requestId, err: { message: cause.replace(/\d+/, '[redacted]') } },
        ])
      }
    }
  })

  test('an error in one root field does not affect the others, and errors are in the order of the document', async () => {
    const app = await startApp(engine, { hasFastPath })
    const lists = ['wallets', 'payouts', 'assetCodes', 'customers', 'payoutMethods']
    const wrong = lists.map((name) => `${name}(after: "junk") { totalCount }`)
    const more = 'payoutMethodRequirements(currency: "XXX") { type } nodes(ids: []) { id } merchant { name }'
    for (const selections of [
      [...wrong, more],
      [more, ...wrong.toReversed()],
      [`... on Query { ${wrong.join(' ')} }`, more],
    ]) {
      for (let i = 0; i < 5; i++) {
        const { data, errors } = await app.graphql(`{ ${selections.join(' ')} }`)
        expect(data).toMatchObject({ merchant: { name: 'Test merchant' }, nodes: [], wallets: null, customers: null })
        const failed = Object.keys(data).filter((name) => data[name] === null)
        expect(errors.map(({ path: [name] }: { path: string[] }) => name)).toEqual(failed)
        expect(failed).toHaveLength(lists.length + 1)
      }
    }
  })

  test('errors in nested fields are in the order of the document, and in a list in the order of its items', async () => {
    const app = await startApp(engine, { hasFastPath })
    const ids = [await app.customer(), await app.customer()]
    const query = `query($ids: [ID!]!) { z: nodes(ids: $ids) { ...F id } a: nodes(ids: $ids) { id ...F } }
      fragment F on Node { ... on Customer { payouts(after: "junk") { totalCount } wallets(after: "junk") { totalCount } } }`
    const { data, errors } = await app.graphql(query, { ids })
    const customers = ids.map((id) => ({ id: toGlobalId('Customer', id), payouts: null, wallets: null }))
    expect(data).toEqual({ z: customers, a: customers })
    const paths = [
      ['z', 0],
      ['z', 1],
      ['a', 0],
      ['a', 1],
    ].flatMap((path) => [
      [...path, 'payouts'],
      [...path, 'wallets'],
    ])
    expect(errors.map(({ path }: { path: unknown[] }) => path)).toEqual(paths)
  })

  test('invalid arguments of one mutation prevent all mutations of the document', async () => {
    const app = await startApp(engine, { hasFastPath })
    const wallet = 'createWallet(input: { currency: "NGN", description: "A" }) { __typename }'
    const query = `mutation ($input: CreateWalletInput = { currency: "NGN", description: "B" }) { a: ${wallet} b: createWallet(input: $input) { __typename } }`
    const { data, errors } = await app.graphql(query, { input: null })
    expect(data).toBeNull()
    expect(errors).toMatchObject([{ path: ['b'], extensions: { code: 'INVALID_INPUT' } }])
    expect((await app.graphql('{ wallets { totalCount } }')).data).toEqual({ wallets: { totalCount: 0 } })
  })

  test('an error in a field sets only the closest nullable field to null', async () => {
    const app = await startApp(engine, { hasFastPath })
    const { ask } = failing(app, hasFastPath, new Error(cause))
    const { body } = await ask('{ __typename customer(id: "019b7679-7400-7000-8000-000000000000") { email } }')
    expect(body.data).toEqual({ __typename: 'Query', customer: null })
    expect(body.errors).toHaveLength(1)
    expect(JSON.stringify(body)).not.toContain('disk')
  })

  test('an overloaded database is reported as 503 with the advice to retry with the same idempotency key', async () => {
    const app = await startApp(engine, { hasFastPath })
    const { ask, errorLines } = failing(app, hasFastPath, Object.assign(unavailable(), { cause: new Error(cause) }))
    for (const accept of ['application/json', newer]) {
      const { status, headers, body } = await ask(opening, { accept })
      expect([status, headers['retry-after'], body.errors[0].extensions.code]).toEqual([503, '1', 'UNAVAILABLE'])
      expect(body.errors[0].message).toContain('Retry with the same idempotency key')
      expect(body.data).toEqual({ createWallet: null })
    }
    expect(errorLines().map(({ err }) => err.message)).toEqual(Array(2).fill(cause.replace(/\d+/, '[redacted]')))
  })

  test('the log and the response to an unexpected error contain no secret', async () => {
    const lines: string[] = []
    const app = await startApp(engine, { hasFastPath, onLog: (line) => lines.push(line) })
    await app.wallet({ balance: '10' })
    const canary = '5550690000032777'
    const recipient = `{ bankAccount: { accountNumber: "${canary}", bankName: "B", bankCode: "044", recipientName: "Ada",
      recipientCurrency: NGN, recipientCountry: NIGERIA } }`
    const pay = (
      amount: string,
    ) => `mutation { createPayout(input: { assetCode: USDC, amount: "${amount}", recipient: ${recipient},
      paymentPurpose: GIFTS, idempotencyKey: "${app.merchant.apiKey}" }) { __typename ... on UserError { message } } }`
    const texts = [pay('1'), pay('1000'), pay('x'), `${pay('1')} {`, pay('1').replace('createPayout', 'nothing'), who]
    const responses = await Promise.all(texts.map((query) => post(app, { query, variables: { canary } })))
    responses.push(await app.rest('GET', `${path}?query=${encodeURIComponent(pay('1'))}`))
    responses.push(await post(app, `{"query":"${canary}`), await post(app, { query: who }, {}, `pgw_test_${canary}`))

    const { ask, lines: faultLines } = failing(app, hasFastPath, new Error(`${canary} ${app.merchant.apiKey}`))
    responses.push((await ask(pay('1'))) as never)
    for (const text of [...lines, ...faultLines]) {
      expect(text).not.toContain(canary)
      expect(text).not.toContain(app.merchant.apiKey)
    }
    for (const { text } of responses) expect(text).not.toContain(app.merchant.apiKey)
    expect(lines.length).toBe(responses.length - 1)
    expect(faultLines.some((line) => line.includes('GraphQL field failed'))).toBe(true)
  })
})

/** The same service over a database that fails after the lookup of the API key. */
function failing(app: App, hasFastPath: boolean, fault: Error) {
  const lines: string[] = []
  let reads = 0
  const execute: App['db']['execute'] = (query, params) => {
    if (reads++ > 0) throw fault
    return app.db.execute(query, params)
  }
  const write = async () => {
    throw fault
  }
  const logger = createLogger('info', { write: (line) => lines.push(line) })
  const server = createServer({
    // Without a version every request looks up the key: the only read that succeeds.
    service: { ...app.service, db: { ...app.db, execute, write, tableVersion: () => null } },
    logger,
    rateLimit: null,
    hasFastPath: hasFastPath,
  })
  return {
    lines,
    errorLines: () => lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'error'),
    async ask(query: string, headers: Record<string, string> = {}) {
      // Excludes the queries of the start.
      await server.ready()
      reads = 0
      const {
        statusCode,
        headers: answered,
        body,
      } = await server.inject({
        method: 'POST',
        url: path,
        headers: { 'x-api-key': app.merchant.apiKey, ...headers },
        payload: { query },
      })
      return { status: statusCode, headers: answered, text: body, body: JSON.parse(body) }
    },
  }
}
