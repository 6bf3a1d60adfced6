import { describe, expect, test } from 'vitest'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody } from '../support/bodies.ts'
import { creations, endpoints, walletBody } from './endpoints.ts'

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

describe.each(everyEngine)('the envelope on %s', (engine) => {
  test.each(creations)('ruling 1: $name returns $status', async ({ method, path, body, status }) => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const response = await app.rest(method, path, { body })
    expect(response.status).toBe(status)
    expect(response.body.status).toBe('success')
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8')
  })

  test('ruling 1: any other success returns 200, with status, message, data and pagination in that order', async () => {
    const app = await startApp(engine)
    const created = await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
    const path = `/api/payout/methods/banks/${created.body.data.id}`
    const responses = [
      await app.rest('PUT', path, { body: {} }),
      await app.rest('GET', '/api/payout/methods'),
      await app.rest('DELETE', `/api/payout/methods/${created.body.data.id}`),
      await app.rest('GET', '/api/customers'),
      await app.rest('GET', '/api/asset-codes'),
    ]
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(responses.map(({ body }) => Object.keys(body))).toEqual([
      ['status', 'message', 'data'],
      ['status', 'message', 'data', 'pagination'],
      ['status', 'message'],
      ['status', 'data', 'pagination'],
      ['status', 'data'],
    ])
  })

  test('ruling 2: an error response contains a message, a code and a request id, and nothing else', async () => {
    const app = await startApp(engine)
    const { body, headers } = await app.rest('GET', '/api/wallets/none')
    expect(body).toEqual({
      status: 'failed',
      message: 'Wallet not found.',
      error: { code: 'RESOURCE_NOT_FOUND', message: 'Wallet not found.' },
      request_id: headers['x-request-id'],
    })
  })

  test('ruling 2: each invalid field is reported with its name in the request, a code and a message', async () => {
    const app = await startApp(engine)
    const { body } = await app.rest('POST', '/api/payouts/banks', {
      body: { ...payoutBody, customer_id: 'x', recipient_name: '', account_number: '#', payment_purpose: 'FUN' },
    })
    expect(Object.keys(body.error)).toEqual(['code', 'message', 'details'])
    expect(body.error.details.fields).toEqual([
      { field: 'customer_id', code: 'INVALID_FORMAT', message: 'customer_id must be a UUID' },
      {
        field: 'account_number',
        code: 'INVALID_FORMAT',
        message: 'account_number must contain only letters, digits, spaces and . / _ -',
      },
      { field: 'recipient_name', code: 'MISSING_REQUIRED_FIELD', message: 'recipient_name must not be empty' },
      {
        field: 'payment_purpose',
        code: 'INVALID_PARAMETER',
        message: expect.stringMatching(/^payment_purpose must be/),
      },
    ])
    for (const { message } of body.error.details.fields) expect(body.message).toContain(message)
    expect(body.message).toBe(body.error.message)
  })

  test.each([
    ['application/problem+json'],
    ['application/json, application/problem+json'],
    ['application/json;q=0.8, application/problem+json;q=0.9'],
    ['application/problem+json, */*'],
    ['Application/Problem+JSON;Q=1.000'],
  ])('ruling 10: with Accept: %s an error response is a problem detail', async (accept) => {
    const app = await startApp(engine)
    const { status, headers, body } = await app.rest('POST', '/api/wallets', {
      body: { ...walletBody, customer_id: 'x' },
      headers: { accept },
    })
    expect(status).toBe(400)
    expect(headers['content-type']).toBe('application/problem+json; charset=utf-8')
    expect(body).toEqual({
      type: '/docs/errors#invalid_input',
      title: 'INVALID_INPUT',
      status: 400,
      detail: 'customer_id must be a UUID.',
      fields: [{ field: 'customer_id', code: 'INVALID_FORMAT', message: 'customer_id must be a UUID' }],
      request_id: headers['x-request-id'],
    })
  })

  test('ruling 10: the problem detail for insufficient funds has the available and the required amount', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '1' })
    const { body } = await app.rest('POST', '/api/payouts/banks', {
      body: payoutBody,
      headers: { accept: 'application/problem+json' },
    })
    expect(body).toMatchObject({ status: 422, available: '1.00000000', required: '40.00000000' })
  })

  test.each([
    ['*/*'],
    ['application/json'],
    ['application/*'],
    [''],
    ['text/html, */*;q=0.1'],
    ['application/json, application/problem+json;q=0.9'],
    ['application/json, application/problem+json;q=0'],
    ['application/problem+json;q=0, */*'],
  ])('ruling 10: with Accept: "%s" an error response is an envelope', async (accept) => {
    const app = await startApp(engine)
    const { headers, body } = await app.rest('GET', '/api/wallets/none', { headers: { accept } })
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(body.status).toBe('failed')
  })

  test('ruling 10: a success is application/json even if Accept allows only problem details', async () => {
    const app = await startApp(engine)
    const { headers, body } = await app.rest('GET', '/api/customers', {
      headers: { accept: 'application/problem+json' },
    })
    expect(headers['content-type']).toBe('application/json; charset=utf-8')
    expect(body.status).toBe('success')
  })
})

describe.each(everyEngine)('request ids on %s', (engine) => {
  test.each([
    ['a single character', '~'],
    ['128 characters', 'r'.repeat(128)],
    ['punctuation and inner spaces', 'trace 7/{"a":"b"}'],
  ])("ruling 11: the response has the caller's request id if that is %s", async (_, id) => {
    const app = await startApp(engine)
    const success = await app.rest('GET', '/api/customers', { headers: { 'x-request-id': id } })
    expect(success.headers['x-request-id']).toBe(id)
    const failure = await app.rest('GET', '/api/wallets/none', { headers: { 'x-request-id': id } })
    expect(failure.headers['x-request-id']).toBe(id)
    expect(failure.body.request_id).toBe(id)
  })

  test.each([
    ['empty', ''],
    ['129 characters', 'r'.repeat(129)],
    ['not in ASCII', 'clé'],
    ['a control character', 'a\u0001b'],
    ['a delete character', 'a\u007fb'],
  ])("ruling 11: a caller's request id is replaced if it is %s", async (_, id) => {
    const app = await startApp(engine)
    const { headers } = await app.rest('GET', '/api/customers', { headers: { 'x-request-id': id } })
    expect(headers['x-request-id']).toMatch(uuidPattern)
  })

  test.each([
    ...endpoints.map(({ method, path }) => [method, path, {}] as const),
    ['GET', '/api/nothing', {}],
    ['GET', '/api/customers/%zz', {}],
    ['GET', '/api/customers/%ff', {}],
    ['GET', `/api/customers/${'x'.repeat(20_000)}`, {}],
    ['PATCH', '/api/customers', {}],
    ['HEAD', '/api/customers', {}],
    ['GET', '/api/customers', { key: null }],
    ['GET', '/api/customers', { headers: { accept: 'text/html' } }],
    ['POST', '/api/wallets', { payload: '{', headers: { 'content-type': 'application/json' } }],
    ['POST', '/api/wallets', { payload: '{', headers: { 'content-type': 'text/plain' } }],
    ['POST', '/api/wallets', { payload: ' '.repeat(300_000), headers: { 'content-type': 'application/json' } }],
    ['GET', '/livez', { key: null }],
    ['GET', '/readyz', { key: null }],
  ] as const)('ruling 11: %s %.60s returns a request id', async (method, path, request) => {
    const app = await startApp(engine)
    const { headers, body } = await app.rest(method, path, request)
    expect(headers['x-request-id']).toMatch(uuidPattern)
    if (body?.status === 'failed') expect(body.request_id).toBe(headers['x-request-id'])
  })

  test('ruling 11: every log line of a request has its request id', async () => {
    const lines: string[] = []
    const app = await startApp(engine, { onLog: (line) => lines.push(line) })
    const { headers } = await app.rest('GET', '/api/customers')
    await app.rest('POST', '/api/wallets', { body: {}, headers: { 'x-request-id': 'mine' } })
    expect(lines.map((line) => JSON.parse(line).request_id)).toEqual([headers['x-request-id'], 'mine'])
  })
})
