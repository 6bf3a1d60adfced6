import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { createLogger } from '../../src/app/logger.ts'
import { unavailable } from '../../src/core/errors.ts'
import { maxQueuedWrites } from '../../src/database/group-commit.ts'
import { closeCustomer } from '../../src/modules/customers/close-customer.ts'
import { createServer } from '../../src/server/host.ts'
import type { App } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody, walletMethodBody } from '../support/bodies.ts'
import { perform } from '../support/perform.ts'
import { someOf } from '../support/some-of.ts'
import { absentId, endpoints, endpointsWithBody, walletBody } from './endpoints.ts'

const json = { 'content-type': 'application/json' }

test('ruling 9: while the write queue is full, writes are rejected before their body is read, and reads succeed', async () => {
  const app = await startApp('sqlite')
  const ask = async () => {
    const waiting = Array.from({ length: maxQueuedWrites }, () => app.db.write(async () => {}))
    const responses = await Promise.all([
      app.rest('POST', '/api/wallets', { payload: '{', headers: json }),
      app.rest('GET', '/api/asset-codes'),
    ])
    await Promise.all(waiting)
    return responses
  }
  let [refused, read] = await ask()
  // On a slow machine the service may have begun to commit the queue before it receives the request.
  for (let retries = 0; refused.status !== 503 && retries < 10; retries++) [refused, read] = await ask()

  expect([refused.status, refused.body.error.code, read.status]).toEqual([503, 'UNAVAILABLE', 200])
  expect(refused.headers['retry-after']).toMatch(/^\d+$/)
})

describe.each(everyEngine)('status 400 on %s', (engine) => {
  test.each([
    ['an unfinished object', '{"type":'],
    ['a trailing comma', '{"type":"BANK",}'],
    ['single quotes', "{'type':'BANK'}"],
    ['two values', '{}{}'],
    ['a bare word', 'BANK'],
    ['NaN', '{"amount":NaN}'],
    ['white space', '  '],
    ['invalid UTF-8', Buffer.from('7b2274797065223a22ff227d', 'hex')],
    ['a surrogate in UTF-8', Buffer.from('7b2274797065223a22eda080227d', 'hex')],
    ['UTF-16', Buffer.from('{}', 'utf16le')],
  ])('ruling 3: %s is rejected as malformed JSON', async (_, payload) => {
    const app = await startApp(engine)
    for (const { method, path } of endpointsWithBody) {
      const { status, body } = await app.rest(method, path, { payload, headers: json })
      expect([status, body.error.code]).toEqual([400, 'MALFORMED_JSON'])
    }
  })

  test.each([['[]'], ['[{"type":"BANK"}]'], ['null'], ['"text"'], ['7'], ['true']])(
    'ruling 3: the body %s is rejected because it is not a JSON object',
    async (payload) => {
      const app = await startApp(engine)
      for (const { method, path } of endpointsWithBody) {
        const { status, body } = await app.rest(method, path, { payload, headers: json })
        expect([status, body.error.code]).toEqual([400, 'INVALID_INPUT'])
      }
    },
  )

  test.each([
    ['/api/payout/methods/banks', ['account_name', 'account_number', 'bank_name', 'currency', 'bank_code']],
    ['/api/payout/methods/wallets', ['wallet_address', 'network', 'currency']],
    ['/api/wallets', ['currency', 'description']],
    [
      '/api/payouts/banks',
      [
        'currency',
        'account_number',
        'bank_name',
        'bank_code',
        'amount',
        'recipient_name',
        'recipient_currency',
        'recipient_country',
      ],
    ],
  ])('ruling 3: %s reports all required fields together if they are absent, null or empty', async (path, required) => {
    const app = await startApp(engine)
    for (const value of [undefined, null, '']) {
      const { status, body } = await app.rest('POST', path, {
        body: Object.fromEntries(required.map((field) => [field, value])),
      })
      expect(status).toBe(400)
      const { fields } = body.error.details
      expect(fields.map(({ field }: { field: string }) => field).sort()).toEqual([...required].sort())
      for (const { code } of fields) expect(code).toBe('MISSING_REQUIRED_FIELD')
    }
  })

  // Objects without a string form in JavaScript, and nesting deeper than recursion can follow.
  const hostileValues = [
    0,
    true,
    [],
    ['USDC'],
    {},
    { toString: 1, valueOf: 1 },
    { toJSON: null, length: 3 },
    JSON.parse('{"__proto__":{"toString":null}}'),
  ]
  test.each([
    ['/api/payout/methods/banks', { ...bankMethodBody, customer_id: null, sort_code: null, iban: null }],
    ['/api/payout/methods/wallets', { ...walletMethodBody, customer_id: null, label: null }],
    ['/api/wallets', { ...walletBody, customer_id: null }],
    ['/api/payouts/banks', { ...payoutBody, customer_id: null, narration: null, transfer_type: null }],
  ])('ruling 3: %s rejects a value of the wrong type in any field', async (path, body) => {
    const app = await startApp(engine)
    const deepFields = someOf(app, Object.keys(body))
    for (const field of Object.keys(body)) {
      for (const value of someOf(app, hostileValues)) {
        const response = await app.rest('POST', path, { body: { ...body, [field]: value } })
        expect(response.status, `${field}: ${JSON.stringify(value)}`).toBe(400)
        expect(response.body.error.details.fields[0].field).toBe(field)
      }
      if (!deepFields.includes(field)) continue
      const deep = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
      const payload = JSON.stringify({ ...body, [field]: 'DEEP' }).replace('"DEEP"', deep)
      expect((await app.rest('POST', path, { payload, headers: json })).status, `${field}: deep`).toBe(400)
    }
  })

  test.each([
    ['/api/payout/methods/banks', { type: 'WALLET' }, 'type must be one of BANK.'],
    ['/api/payout/methods/banks', { currency: 'USDC' }, 'currency must be one of NGN, ZAR, USD, CAD, EUR, GBP.'],
    ['/api/payout/methods/wallets', { type: 'BANK' }, 'type must be one of WALLET.'],
    ['/api/payout/methods/wallets', { currency: 'ZAR' }, 'currency must be one of USDC, USDT.'],
    ['/api/payout/methods/wallets', { network: 'erc-20' }, 'network must be one of erc20, polygon, bep20, solana.'],
    ['/api/wallets', { currency: 'usdc' }, 'currency must be one of USDC, USDT, NGN, ZAR, USD, CAD, EUR, GBP.'],
    ['/api/payouts/banks', { recipient_currency: 'KES' }, 'recipient_currency must be one of NGN, ZAR.'],
    ['/api/payouts/banks', { recipient_country: 'SA' }, 'recipient_country must be one of Nigeria, South Africa.'],
    ['/api/payouts/banks', { transfer_type: 'sepa' }, 'transfer_type must be one of ach, fed_wire, swift.'],
  ])('ruling 3: %s rejects %j and lists the allowed values', async (path, change, message) => {
    const app = await startApp(engine)
    const own = endpoints.find((endpoint) => endpoint.path === path)?.body
    const { status, body } = await app.rest('POST', path, { body: { ...own, ...change } })
    expect([status, body.message]).toEqual([400, message])
  })
})

describe.each(everyEngine)('status 404 on %s', (engine) => {
  test('ruling 5: responses for missing objects and for objects of other merchants have identical bytes', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    const walletId = await app.wallet({ customerId })
    const { body } = await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
    const methodId = body.data.id
    const { apiKey } = await app.otherMerchant()

    const asStranger = async (id: string) => {
      const given = { key: apiKey, headers: { 'x-request-id': 'same' } }
      const own = { customer_id: id }
      const responses = [
        await app.rest('GET', `/api/customers/${id}`, given),
        await app.rest('GET', `/api/wallets/${id}`, given),
        await app.rest('GET', `/api/wallets/${id}/customer`, given),
        await app.rest('PUT', `/api/payout/methods/banks/${id}`, { ...given, body: {} }),
        await app.rest('DELETE', `/api/payout/methods/${id}`, given),
        await app.rest('POST', '/api/wallets', { ...given, body: { ...walletBody, ...own } }),
        await app.rest('POST', '/api/payout/methods/banks', { ...given, body: { ...bankMethodBody, ...own } }),
        await app.rest('POST', '/api/payout/methods/wallets', { ...given, body: { ...walletMethodBody, ...own } }),
        await app.rest('POST', '/api/payouts/banks', { ...given, body: { ...payoutBody, ...own } }),
      ]
      return responses.map(({ status, text, headers: { date: _, ...headers } }) => ({ status, text, headers }))
    }
    const absent = await asStranger(absentId)
    expect(new Set(absent.map(({ status }) => status))).toEqual(new Set([404]))
    for (const id of [customerId, walletId, methodId]) expect(await asStranger(id)).toEqual(absent)
    const list = await app.rest('GET', `/api/payout/methods?customer_id=${customerId}`, { key: apiKey })
    expect(list.body.data).toEqual([])
  })

  test.each([
    'me',
    '0',
    'null',
    '%20',
    '%00',
    '..%2f..%2fetc%2fpasswd',
    "'%20or%201=1--",
    'xxxxxxxx-xxxx-7xxx-8xxx-xxxxxxxxxxxx',
    `${absentId}0`,
    `{${absentId}}`,
    absentId.replaceAll('-', ''),
    '%zz',
    '%',
    '%ff%fe',
    '%C0%AF',
    'x'.repeat(20_000),
    '%F0%9F%92%B8',
    '__proto__',
    'constructor',
  ])('ruling 5: a path with the invalid id %.40s is not found', async (id) => {
    const app = await startApp(engine)
    const responses = [
      await app.rest('GET', `/api/customers/${id}`),
      await app.rest('GET', `/api/wallets/${id}`),
      await app.rest('GET', `/api/wallets/${id}/customer`),
      await app.rest('PUT', `/api/payout/methods/banks/${id}`, { body: {} }),
      await app.rest('DELETE', `/api/payout/methods/${id}`),
    ]
    for (const { status, body } of responses) {
      expect(status).toBe(404)
      expect(['RESOURCE_NOT_FOUND', 'ENDPOINT_NOT_FOUND']).toContain(body.error.code)
    }
  })

  test.each(['/api', '/api/customer', '/api/payout', '/api/payouts/banks/1', '/API/customers', '//api/customers'])(
    'ruling 5: the unknown path %s is not found, with an API key or without',
    async (path) => {
      const app = await startApp(engine)
      for (const key of [app.merchant.apiKey, null]) {
        const { status, body } = await app.rest('GET', path, { key })
        expect([status, body.error.code]).toEqual([404, 'ENDPOINT_NOT_FOUND'])
      }
    },
  )
})

describe.each(everyEngine)('HTTP-level rejections on %s', (engine) => {
  test.each(endpoints)('ruling 6: $name rejects every unsupported method with 405', async ({ path, allow }) => {
    const app = await startApp(engine)
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const) {
      if (allow.includes(method)) continue
      const response = await app.rest(method, path)
      expect([method, response.status, response.headers.allow]).toEqual([method, 405, allow])
      if (method !== 'HEAD') expect(response.body.error.code).toBe('METHOD_NOT_ALLOWED')
    }
    for (const method of ['PROPFIND', 'PURGE', 'M-SEARCH']) {
      const response = await app.rest(method as 'TRACE', path)
      expect([response.status, response.headers.allow]).toEqual([405, allow])
    }
  })

  test('ruling 6: HEAD returns the headers of GET without the body', async () => {
    const app = await startApp(engine)
    for (const path of ['/api/customers', '/api/asset-codes?asset_type=FIAT', '/api/wallets/none']) {
      const [get, head] = [await app.rest('GET', path), await app.rest('HEAD', path)]
      expect(head.status).toBe(get.status)
      expect(head.text).toBe('')
      expect(head.headers['content-length']).toBe(get.headers['content-length'])
      expect(head.headers['content-type']).toBe(get.headers['content-type'])
    }
    expect((await app.rest('HEAD', '/api/customers', { key: null })).status).toBe(401)
  })

  test.each(endpoints)('ruling 6: $name rejects an Accept without JSON with 406', async ({ method, path, body }) => {
    const app = await startApp(engine)
    // A file may have another text type.
    const isFile = /exports|statement$/.test(path)
    for (const accept of ['text/html', isFile ? 'application/pdf' : 'application/xml, text/*', 'image/png']) {
      const response = await app.rest(method, path, { ...(body && { body }), headers: { accept } })
      expect([response.status, response.body.error.code]).toEqual([406, 'NOT_ACCEPTABLE'])
    }
  })

  test.each(endpointsWithBody)(
    'ruling 6: $name rejects every media type except JSON with 415',
    async ({ method, path, body }) => {
      const app = await startApp(engine)
      const payload = JSON.stringify(body)
      for (const type of [
        'text/plain',
        'text/json',
        'application/x-www-form-urlencoded',
        'application/jsonx',
        'json',
        '',
      ]) {
        const response = await app.rest(method, path, { payload, headers: { 'content-type': type } })
        expect([type, response.status, response.body.error.code]).toEqual([type, 415, 'UNSUPPORTED_MEDIA_TYPE'])
      }
      const untyped = await app.server.inject({
        method: method as 'PUT',
        url: path,
        headers: { 'x-api-key': app.merchant.apiKey },
        payload,
      })
      expect(untyped.statusCode).toBe(415)
    },
  )

  test.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset=UTF-8'])(
    'ruling 6: %s is accepted as JSON',
    async (type) => {
      const app = await startApp(engine)
      const payload = JSON.stringify({ ...bankMethodBody, account_name: 'Adaobí' })
      const headers = { 'content-type': type }
      const { status, body } = await app.rest('POST', '/api/payout/methods/banks', { payload, headers })
      expect([status, body.data.account_name]).toEqual([201, 'Adaobí'])
    },
  )

  test.each(endpointsWithBody)(
    'ruling 6: $name rejects a body above 256 KiB with 413, and accepts a body of exactly 256 KiB',
    async ({ method, path }) => {
      const app = await startApp(engine)
      const sized = (bytes: number) => `{"x":"${' '.repeat(bytes - 8)}"}`
      const over = await app.rest(method, path, { payload: sized(262_145), headers: json })
      expect([over.status, over.body.error.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
      const streamed = await app.server.inject({
        method: method as 'PUT',
        url: path,
        headers: { ...json, 'x-api-key': app.merchant.apiKey, 'transfer-encoding': 'chunked' },
        payload: Readable.from([sized(262_145)]),
      })
      expect(streamed.statusCode).toBe(413)
      const at = await app.rest(method, path, { payload: sized(262_144), headers: json })
      expect(at.status).not.toBe(413)
    },
  )

  test('ruling 6: a request above the rate limit of its merchant gets 429, and succeeds a second later', async () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { rateLimit: 3, clock: () => nowMs })
    const { apiKey } = await app.otherMerchant()
    const left: unknown[] = []
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await app.rest('GET', '/api/asset-codes')
      expect([status, headers['ratelimit-policy']]).toEqual([200, '"default";q=3;w=1'])
      left.push(headers.ratelimit)
    }
    expect(left).toEqual(['"default";r=2;t=1', '"default";r=1;t=1', '"default";r=0;t=1'])

    const over = await app.rest('POST', '/api/wallets', { body: walletBody })
    expect([over.status, over.body.error.code]).toEqual([429, 'RATE_LIMITED'])
    expect(over.headers).toMatchObject({
      'retry-after': '1',
      ratelimit: '"default";r=0;t=1',
      'ratelimit-policy': '"default";q=3;w=1',
    })
    expect((await app.rest('GET', '/api/asset-codes', { key: apiKey })).status).toBe(200)
    expect((await app.rest('GET', '/api/asset-codes', { key: null })).status).toBe(401)
    nowMs += 1_000
    expect((await app.rest('GET', '/api/asset-codes')).status).toBe(200)
  })

  test('ruling 6: an unavailable database is reported as 503 in the envelope', async () => {
    const app = await startApp(engine)
    const rest = failingRest(app, async () => {
      throw unavailable()
    })
    const { status, headers, body } = await rest('POST', '/api/wallets', walletBody)
    expect([status, headers['retry-after'], body.error.code]).toEqual([503, '1', 'UNAVAILABLE'])
    // Ruling 9: the outcome is unknown, so the message explains how to find out.
    expect(body.message).toContain('Retry with the same idempotency key')
  })
})

describe.each(everyEngine)('statuses 409, 422 and 500 on %s', (engine) => {
  test('ruling 7: creating a wallet for a closed customer returns 409', async () => {
    const app = await startApp(engine)
    const customerId = await app.customer()
    await perform(closeCustomer, app.context(), { customerId })
    const body = { ...walletBody, customer_id: customerId }
    const response = await app.rest('POST', '/api/wallets', { body })
    expect([response.status, response.body.error.code]).toEqual([409, 'CUSTOMER_CLOSED'])
  })

  test('ruling 7: simultaneous requests with the same idempotency key create one wallet', async () => {
    const app = await startApp(engine)
    const given = { body: walletBody, headers: { 'idempotency-key': 'k' } }
    const responses = await Promise.all(Array.from({ length: 8 }, () => app.rest('POST', '/api/wallets', given)))
    const ids = new Set<string>()
    for (const { status, body } of responses) {
      expect([201, 409]).toContain(status)
      if (status === 201) ids.add(body.data.id)
    }
    expect(ids.size).toBe(1)
  })

  test('ruling 8: insufficient funds return 422 with the available and the required amount', async () => {
    const app = await startApp(engine)
    await app.fee('0.5')
    await app.wallet({ balance: '40.4' })
    const { status, body } = await app.rest('POST', '/api/payouts/banks', { body: payoutBody })
    expect(status).toBe(422)
    expect(body.error).toMatchObject({
      code: 'INSUFFICIENT_FUNDS',
      details: { available: '40.40000000', required: '40.50000000' },
    })
  })

  test.each([
    ['WALLET_NOT_FOUND', {}],
    ['RATE_UNAVAILABLE', { rates: [] }],
  ])('ruling 8: a payout that fails with %s returns 422', async (code, options) => {
    const app = await startApp(engine, options)
    const { status, body } = await app.rest('POST', '/api/payouts/banks', { body: payoutBody })
    expect([status, body.error.code]).toEqual([422, code])
  })

  test('ruling 9: an unexpected error returns only its request id, and the log has the cause under that id', async () => {
    const lines: string[] = []
    const app = await startApp(engine)
    const rest = failingRest(
      app,
      async () => {
        throw new Error('the internal cause')
      },
      (line) => lines.push(line),
    )
    const { status, headers, text, body } = await rest('POST', '/api/payout/methods/banks', bankMethodBody)
    expect([status, body.error]).toEqual([500, { code: 'INTERNAL', message: expect.any(String) }])
    expect(text).not.toContain('cause')
    const logged = lines.map((line) => JSON.parse(line)).find(({ level }) => level === 'error')
    expect(logged).toMatchObject({ request_id: headers['x-request-id'], err: { message: /^the cause/ } })
    expect(lines.join('')).not.toContain(bankMethodBody.account_number)
  })
})

/** The same service over a database whose writes have the outcome of `write`. */
function failingRest(app: App, write: () => Promise<never>, onLog: (line: string) => void = () => {}) {
  const service = { ...app.service, db: { ...app.db, write } }
  const server = createServer({ service, logger: createLogger('info', { write: onLog }), rateLimit: null })
  return async (method: 'POST', url: string, payload: object) => {
    const headers = { 'x-api-key': app.merchant.apiKey }
    const { statusCode, headers: answered, body } = await server.inject({ method, url, headers, payload })
    return { status: statusCode, headers: answered, text: body, body: JSON.parse(body) }
  }
}
