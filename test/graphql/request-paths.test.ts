import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getIntrospectionQuery } from 'graphql'
import { describe, expect, test } from 'vitest'
import { unavailable } from '../../src/core/errors.ts'
import { serializeResult } from '../../src/graphql/execution/execute.ts'
import type { App } from '../support/app.ts'
import { payoutBody, startApp } from '../support/app.ts'
import { createServerVariant } from './support/ask.ts'

const path = '/graphql'
const newer = 'application/graphql-response+json'
const who = '{ merchant { name } }'
const opening = 'mutation Open { createWallet(input: { currency: "NGN", description: "x" }) { __typename } }'
const pay = (
  amount: string,
  key = 'a',
) => `mutation Pay { createPayout(input: { assetCode: USDC, amount: "${amount}", recipient: {
  bankAccount: { accountNumber: "0690000032", bankName: "B", bankCode: "044", recipientName: "Ada", recipientCurrency: NGN,
  recipientCountry: NIGERIA } }, paymentPurpose: GIFTS, idempotencyKey: "${key}" }) { __typename ... on UserError { code message field } } }`

/** Documents that are executed, that are rejected, and everything between. */
const documents: readonly (readonly [name: string, parameters: unknown])[] = [
  ['a valid query', { query: who }],
  ['full introspection', { query: getIntrospectionQuery() }],
  ['one operation of two', { query: `query A ${who} query B { __typename }`, operationName: 'B' }],
  ['two operations without an operationName', { query: `query A ${who} query B { __typename }` }],
  ['an unknown operation', { query: who, operationName: 'X' }],
  ['an empty operationName', { query: who, operationName: '' }],
  ['variables', { query: 'query Q($n: Int) { customers(first: $n) { totalCount } }', variables: { n: 1 } }],
  ['an invalid variable', { query: 'query ($id: ID!) { node(id: $id) { id } }' }],
  ['two invalid variables', { query: 'query ($a: ID!, $b: ID!) { a: node(id: $a) { id } b: node(id: $b) { id } }' }],
  ['variables of a megabyte', { query: who, variables: { x: Array(5_000).fill({}) } }],
  ['a syntax error', { query: '{' }],
  ['an unknown field', { query: '{ nothing }' }],
  ['three unknown fields', { query: '{ nothing never none }' }],
  ['a long document', { query: `{ ${'x'.repeat(10_000)} }` }],
  ['no operation', { query: 'fragment F on Query { __typename }' }],
  ['a fragment that spreads itself', { query: '{ ...F } fragment F on Query { ...F }' }],
  ['a field that fails', { query: '{ customers(after: "junk") { totalCount } }' }],
  [
    'a field that fails alongside a field that succeeds',
    { query: `{ customers(after: "junk") { totalCount } a: ${who.slice(1)}` },
  ],
  ['a nested field that fails', { query: '{ merchant { name } nodes(ids: ["x"]) { id } }' }],
  [
    'a query that is too complex',
    { query: '{ customers(first: 100) { nodes { wallets(first: 100) { nodes { id } } } } }' },
  ],
  ['a mutation with a domain error', { query: pay('1000') }],
  ['a mutation with an invalid input', { query: pay('x') }],
  ['extensions', { query: who, extensions: { a: 1 } }],
  ['no parameters', {}],
  ['an empty document', { query: ' ' }],
  ['a query of the wrong type', { query: 7, operationName: 1, variables: [], extensions: 'x' }],
  ['nothing', null],
  ['a string as the body', 'text'],
  ['a batch', [{ query: who }]],
]

const accepts = [
  undefined,
  '*/*',
  'application/json',
  newer,
  `${newer}, application/json;q=0.9`,
  'application/json;q=0',
]

/**
 * The same service over both paths: `short` uses the fast path where it applies, and `yoga` uses Yoga for every
 * request.
 */
async function bothWays(app: App, { service = app.service }: { service?: App['service'] } = {}) {
  const serving = (hasFastPath: boolean) => {
    const lines: string[] = []
    const server = createServerVariant(app, { service, hasFastPath, onLog: (line) => lines.push(line) })
    return async (request: Asking) => {
      lines.length = 0
      const { accept, headers = {}, method = 'POST', url = path, payload } = request
      const {
        statusCode,
        headers: answered,
        body,
      } = await server.inject({
        method,
        url,
        headers: {
          'x-api-key': app.merchant.apiKey,
          'x-request-id': 'same',
          ...(method === 'POST' && { 'content-type': 'application/json' }),
          ...(accept !== undefined && { accept }),
          ...headers,
        },
        ...(payload !== undefined && { payload }),
      })
      const { date: _, ...rest } = answered
      const log = lines.map((line) => {
        const { time: _time, duration_ms: _duration, pid: _pid, err, ...told } = JSON.parse(line)
        return { ...told, err: err?.message }
      })
      return { status: statusCode, headers: rest, body, log }
    }
  }
  return { short: serving(true), yoga: serving(false) }
}

type Asking = {
  readonly method?: 'GET' | 'POST' | 'HEAD' | 'PUT'
  readonly url?: string
  readonly accept?: string | undefined
  readonly headers?: Record<string, string>
  readonly payload?: string
}

describe('the GraphQL fast path and Yoga', () => {
  test.each(documents)('return the same response to %s', async (_, parameters) => {
    const app = await startApp('sqlite')
    const { short, yoga } = await bothWays(app)
    for (const accept of accepts) {
      const request = { accept, payload: JSON.stringify(parameters) }
      const answered = await short(request)
      expect(answered.headers['content-length'], String(accept)).toBe(String(Buffer.byteLength(answered.body)))
      expect(await yoga(request), String(accept)).toEqual(answered)
    }
  })

  test.each<[string, Asking]>([
    ['no JSON', { payload: '{' }],
    ['a duplicate name', { payload: '{"query":"{a}","query":"{b}"}' }],
    ['invalid UTF-8', { payload: '{"query":"\\ud800"}' }],
    ['a form', { payload: 'query={a}', headers: { 'content-type': 'application/x-www-form-urlencoded' } }],
    ['a bare document', { payload: who, headers: { 'content-type': 'application/graphql' } }],
    [
      'another JSON media type',
      { payload: '{"query":"{a}"}', headers: { 'content-type': 'application/graphql+json' } },
    ],
    ['another charset', { payload: '{}', headers: { 'content-type': 'application/json; charset=latin1' } }],
    ['a compressed body', { payload: '{}', headers: { 'content-encoding': 'gzip' } }],
    ['300 kB', { payload: JSON.stringify({ query: 'x'.repeat(300_000) }) }],
    ['no body', {}],
    ['a wrong API key', { payload: '{}', headers: { 'x-api-key': 'wrong' } }],
    ['another HTTP method', { method: 'PUT' }],
  ])('return the same response to an invalid request: %s', async (_, request) => {
    const { short, yoga } = await bothWays(await startApp('sqlite'))
    for (const accept of accepts)
      expect(await yoga({ ...request, accept })).toEqual(await short({ ...request, accept }))
  })

  test('return the same response when the service or its database fails', async () => {
    const app = await startApp('sqlite')
    for (const fault of [new Error('broken'), unavailable()]) {
      let reads = 0
      const execute: App['db']['execute'] = (query, params) => {
        // The first read looks up the key.
        if (reads++ > 0) throw fault
        return app.db.execute(query, params)
      }
      const write = async () => {
        throw fault
      }
      const { short, yoga } = await bothWays(app, {
        service: { ...app.service, db: { ...app.db, execute, write, tableVersion: () => null } },
      })
      for (const query of [who, '{ __typename merchant { name } }', opening]) {
        for (const accept of accepts) {
          const request = { accept, payload: JSON.stringify({ query }) }
          reads = 0
          const answered = await short(request)
          reads = 0
          expect(await yoga(request)).toEqual(answered)
        }
      }
    }
  })

  test('have the same effect for a mutation', async () => {
    const app = await startApp('sqlite')
    await app.wallet({ balance: '10' })
    const { short, yoga } = await bothWays(app)
    const ask = (by: typeof short, query: string) => by({ payload: JSON.stringify({ query }) })
    expect(await ask(yoga, opening)).toEqual(await ask(short, opening))
    const paid = await ask(short, pay('1', 'a'))
    expect(paid.body).toContain('CreatePayoutPayload')
    for (const [by, key] of [
      [yoga, 'b'],
      [yoga, 'a'],
      [short, 'b'],
    ] as const) {
      expect(await ask(by, pay('1', key))).toEqual(paid)
    }
    const { data } = await app.graphql('{ wallets { totalCount } payouts { totalCount } }')
    expect(data).toEqual({ wallets: { totalCount: 3 }, payouts: { totalCount: 2 } })
  })
})

test('serializeResult inserts data that is already JSON text unchanged', () => {
  const extensions = { requestId: 'r', cost: { requested: 1, limit: 2 } }
  const data = { a: ['é', null, { b: '1.00000000' }] }
  expect(serializeResult({ dataText: JSON.stringify(data), extensions })).toBe(serializeResult({ data, extensions }))
})

test('Yoga is not loaded when the service starts', () => {
  const src = join(import.meta.dirname, '../../src')
  const files = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
  const loading = files.filter((file) =>
    /^(?:import|export) (?!type )[^\n]*'graphql-yoga'|^\} from 'graphql-yoga'/m.test(
      readFileSync(join(src, file), 'utf8'),
    ),
  )
  expect(loading).toEqual([])
  expect(readFileSync(join(src, 'server/graphql/yoga.ts'), 'utf8')).toContain("await import('graphql-yoga')")
})

describe('requests that Yoga handles', () => {
  const get = (parameters: Record<string, string>) => `${path}?${new URLSearchParams(parameters)}`

  test('Yoga handles GET and HEAD with any query string', async () => {
    const { short } = await bothWays(await startApp('sqlite'))
    const answered = await short({ method: 'GET', url: get({ query: who, operationName: '', a: '/health' }) })
    expect([answered.status, JSON.parse(answered.body).data]).toEqual([200, { merchant: { name: 'Test merchant' } }])
    for (const accept of ['application/json', 'text/event-stream', 'multipart/mixed']) {
      const head = await short({ method: 'HEAD', accept, url: get({ query: who }) })
      expect([head.status, head.body, head.log]).toMatchObject([200, '', [{ operation: 'query', code: null }]])
    }
    for (const [name, code] of [
      ['variables={"a":1,"a":2}', 'INVALID_INPUT'],
      ['query={b}', 'INVALID_INPUT'],
      ['variables=[]', 'INVALID_INPUT'],
    ] as const) {
      const refused = await short({ method: 'GET', url: `${get({ query: who })}&${name}` })
      expect([refused.status, JSON.parse(refused.body).errors[0].extensions.code]).toEqual([400, code])
    }
  })

  test('Yoga rejects a mutation over GET with 405 for any Accept header, and does not run the mutation', async () => {
    const app = await startApp('sqlite')
    const { short } = await bothWays(app)
    for (const accept of ['application/json', newer, 'text/event-stream', 'multipart/mixed']) {
      const refused = await short({ method: 'GET', accept, url: get({ query: opening }) })
      expect([refused.status, refused.headers.allow]).toEqual([405, 'POST'])
      expect(refused.log).toMatchObject([{ operation: 'mutation Open', code: 'METHOD_NOT_ALLOWED' }])
    }
    expect((await app.graphql('{ wallets { totalCount } }')).data).toEqual({ wallets: { totalCount: 0 } })
  })

  test('Yoga sends one result as an event stream or as multipart, with the same JSON text', async () => {
    const { short } = await bothWays(await startApp('sqlite'))
    for (const query of [who, '{ nothing }', '{ customers(after: "junk") { totalCount } }']) {
      const payload = JSON.stringify({ query })
      const { body } = await short({ payload })
      const events = await short({ payload, accept: 'text/event-stream' })
      expect(events.body).toBe(`:\n\nevent: next\ndata: ${body}\n\nevent: complete\ndata:\n\n`)
      const parts = await short({ payload, accept: 'text/event-stream;q=0.1, multipart/mixed' })
      expect(parts.headers['content-type']).toBe('multipart/mixed; boundary="-"')
      const head = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}`
      expect(parts.body).toBe(`\r\n---\r\n${head}\r\n\r\n${body}\r\n-----\r\n`)
    }
  })

  test('Yoga rejects a subscription with 406 before it starts if Accept allows no stream', async () => {
    const app = await startApp('sqlite')
    await app.wallet({ balance: '10' })
    const queries: object[] = []
    const execute: App['db']['execute'] = (query, params) => {
      queries.push(params)
      return app.db.execute(query, params)
    }
    const { short } = await bothWays(app, { service: { ...app.service, db: { ...app.db, execute } } })
    const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1' } })
    const payload = JSON.stringify({ query: `subscription Watch { payoutChanged(id: "${body.data.id}") { status } }` })
    // The API key is cached by then.
    await short({ payload: JSON.stringify({ query: who }) })
    queries.length = 0
    for (const accept of ['application/json', newer, '*/*', 'image/png']) {
      const refused = await short({ payload, accept })
      expect([refused.status, refused.headers['content-type']]).toEqual([406, 'application/json; charset=utf-8'])
      expect(refused.log).toMatchObject([{ code: 'NOT_ACCEPTABLE' }])
    }
    expect(queries).toEqual([])
  })
})
