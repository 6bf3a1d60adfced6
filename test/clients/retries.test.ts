import { describe, expect, test } from 'vitest'
import type { Retry } from '../../clients/typescript/src/index.ts'
import { createClient, NoResponseError, ServiceError } from '../../clients/typescript/src/index.ts'
import { everyEngine } from '../support/app.ts'
import { adaAt } from './support/ada.ts'
import type { Fault } from './support/proxy.ts'
import { payout, startServiceAndProxy } from './support/service.ts'

const pay = `mutation Pay($input: CreatePayoutInput!) {
  createPayout(input: $input) {
    __typename
    ... on CreatePayoutPayload { payout { uuid idempotencyKey } }
    ... on UserError { code message }
  }
}`

const bankAccount = {
  accountName: 'Ngozi Obi',
  accountNumber: '9999999900',
  bankName: 'Zenith Bank',
  bankCode: '057',
  recipientCurrency: 'NGN',
  recipientCountry: 'NIGERIA',
} as const

describe.each(everyEngine)('a client with an unreliable connection on %s', (engine) => {
  test('creates one payout through REST although four attempts fail, and returns the idempotency key of the attempts', async () => {
    const { proxy, address, options } = await startServiceAndProxy(engine)
    const retries: Retry[] = []
    const client = createClient({ ...options, onRetry: (retry) => retries.push(retry) })
    const customer_id = await adaAt(address)
    const countPayouts = async () => (await client.get('/api/payouts', { query: { customer_id } })).pagination.total
    const before = await countPayouts()
    proxy.seen.length = 0
    proxy.faults.push('refuse', 'lose', 'truncate', { status: 502 })

    const paid = await client.post('/api/payouts/banks', { body: { ...payout, customer_id } })

    expect(paid).toMatchObject({ status: 'success', attempts: 5, isReplayed: true, data: { amount: '25.50000000' } })
    expect(new Set(proxy.seen.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([paid.idempotencyKey]))
    expect(retries.map(({ path, failures }) => [path, failures])).toEqual(
      [1, 2, 3, 4].map((failures) => ['/api/payouts/banks', failures]),
    )
    expect(await countPayouts()).toBe(before + 1)
  })

  test('creates one payout through GraphQL although three attempts fail, and returns the idempotency key of the attempts', async () => {
    const { proxy, address, options } = await startServiceAndProxy(engine)
    const client = createClient(options)
    const customerId = await adaAt(address)
    const countPayouts = async () =>
      (await client.graphql('{ payouts(first: 0) { totalCount } }')).data.payouts.totalCount
    const before = await countPayouts()
    proxy.seen.length = 0
    proxy.faults.push('lose', 'truncate', { status: 503 })

    const input = { customerId, assetCode: 'USDC', amount: '3', recipient: { bankAccount } }
    const { data, attempts, idempotencyKey } = await client.graphql(pay, { input })

    expect(attempts).toBe(4)
    expect(data.createPayout).toMatchObject({ __typename: 'CreatePayoutPayload', payout: { idempotencyKey } })
    expect(proxy.seen.map(({ body }) => JSON.parse(body).variables.input.idempotencyKey)).toEqual(
      Array(4).fill(idempotencyKey),
    )
    expect(await countPayouts()).toBe(before + 1)
  })
})

test('client.fetch retries a mutation that has an idempotency key, and does not retry any other mutation', async () => {
  const { proxy, options } = await startServiceAndProxy()
  const client = createClient(options)
  const send = (query: string, input: object) =>
    client.fetch('/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query, variables: { input } }),
    })
  const open = `mutation ($input: CreateWalletInput!) {
    createWallet(input: $input) { ... on CreateWalletPayload { wallet { id } } ... on UserError { message } }
  }`
  proxy.faults.push('lose')
  const response = await send(open, { currency: 'NGN', description: 'Fees', idempotencyKey: 'wallet-1' })
  expect(await response.json()).toMatchObject({ data: { createWallet: { wallet: { id: expect.any(String) } } } })

  proxy.seen.length = 0
  proxy.faults.push('lose')
  await expect(send(open, { currency: 'NGN', description: 'Fees' })).rejects.toMatchObject({
    outcome: 'unknown',
    attempts: 1,
  })
  expect(proxy.seen).toHaveLength(1)
})

describe('a client whose request fails', () => {
  test('does not retry an invalid request, and reports the outcome `rejected`', async () => {
    const { proxy, options } = await startServiceAndProxy()
    const client = createClient(options)
    const error = await client.post('/api/payouts/banks', { body: { ...payout, amount: '1,5' } }).catch((e) => e)

    expect(error).toBeInstanceOf(ServiceError)
    expect(error).toMatchObject({ code: 'INVALID_INPUT', status: 400, outcome: 'rejected', attempts: 1 })
    expect(error.details.fields).toMatchObject([{ field: 'amount', code: 'INVALID_FORMAT' }])
    expect(error.requestId).toMatch(/./)
    expect(proxy.seen).toHaveLength(1)
  })

  test('reports the outcome `rejected` if the response is lost and the service rejects the retry', async () => {
    const { proxy, options } = await startServiceAndProxy()
    proxy.faults.push('lose')
    const rejected = createClient(options).post('/api/payouts/banks', { body: { ...payout, amount: '99999999' } })
    await expect(rejected).rejects.toMatchObject({ code: 'INSUFFICIENT_FUNDS', outcome: 'rejected', attempts: 2 })
  })

  test('reports the outcome `unknown` if the response is lost and the retry gets 401', async () => {
    const { proxy, options } = await startServiceAndProxy()
    proxy.faults.push('lose', { status: 401 })
    await expect(createClient(options).post('/api/payouts/banks', { body: payout })).rejects.toMatchObject({
      code: 'HTTP_401',
      outcome: 'unknown',
      idempotencyKey: expect.any(String),
    })
  })

  test('reports the outcome `unknown` after a 500, and does not retry', async () => {
    const { proxy, options } = await startServiceAndProxy()
    proxy.faults.push({ status: 500 })
    await expect(createClient(options).post('/api/payouts/banks', { body: payout })).rejects.toMatchObject({
      outcome: 'unknown',
      attempts: 1,
    })
  })

  test('throws a ServiceError with the code INVALID_DOCUMENT for an invalid GraphQL document', async () => {
    const { options } = await startServiceAndProxy()
    await expect(createClient(options).graphql('{ nonsense }')).rejects.toMatchObject({
      name: 'ServiceError',
      code: 'INVALID_DOCUMENT',
      outcome: 'rejected',
    })
  })
})

test('a client retries until a service with a rate limit accepts the request', async () => {
  const { options } = await startServiceAndProxy('sqlite', { RATE_LIMIT: '1' })
  const client = createClient(options)
  const responses = await Promise.all([1, 2, 3].map(() => client.get('/api/asset-codes')))
  expect(responses.map(({ status }) => status)).toEqual(['success', 'success', 'success'])
  expect(Math.max(...responses.map(({ attempts }) => attempts))).toBeGreaterThan(1)
})

describe('a client whose proxy asks it to wait', () => {
  const waits = async (headers: object) => {
    const { proxy, options } = await startServiceAndProxy()
    const retries: Retry[] = []
    const client = createClient({ ...options, onRetry: (retry) => retries.push(retry) })
    proxy.faults.push({ status: 429, headers } satisfies Fault)
    await client.get('/api/asset-codes')
    return retries.map(({ delayMs }) => delayMs)
  }

  test('waits for the number of seconds in Retry-After', async () => {
    expect(await waits({ 'retry-after': '1' })).toEqual([expect.toSatisfy((ms) => ms >= 1_000)])
  })

  test('waits until the date in Retry-After, measured from the Date header of the response', async () => {
    const date = Date.parse('2020-01-01T00:00:00Z')
    const headers = { date: new Date(date).toUTCString(), 'retry-after': new Date(date + 1_000).toUTCString() }
    expect(await waits(headers)).toEqual([expect.toSatisfy((ms) => ms >= 1_000)])
  })

  test('waits until the reset time of the RateLimit header if no requests remain', async () => {
    expect(await waits({ ratelimit: '"default";r=0;t=1' })).toEqual([expect.toSatisfy((ms) => ms >= 1_000)])
  })

  test('gives up if the requested delay exceeds the client’s time limit', async () => {
    const { proxy, options } = await startServiceAndProxy()
    proxy.faults.push({ status: 503, headers: { 'retry-after': '3600' } })
    await expect(createClient(options).get('/api/asset-codes')).rejects.toMatchObject({
      outcome: 'unknown',
      attempts: 1,
      retryAfterMs: 3_600_000,
    })
  })
})

test('a client gives up after its time limit, and its error contains the idempotency key for a later retry', async () => {
  const { proxy, options } = await startServiceAndProxy()
  proxy.faults.push(...Array<Fault>(1_000).fill('refuse'))
  const client = createClient({ ...options, retry: { baseDelayMs: 20, maxDelayMs: 50, totalMs: 500 } })
  const error = await client.post('/api/payouts/banks', { body: payout }).catch((e) => e)
  expect(error).toBeInstanceOf(NoResponseError)
  expect(error).toMatchObject({ outcome: 'unknown', idempotencyKey: proxy.seen[0]?.headers['idempotency-key'] })
  // The last attempt may end before it reaches the proxy.
  expect(error.attempts - proxy.seen.length).toBeOneOf([0, 1])
  expect(error.attempts).toBeGreaterThan(1)
})

test('a client does not follow a redirect, which could send its API key to another host', async () => {
  const { proxy, options } = await startServiceAndProxy()
  proxy.faults.push({ status: 308, headers: { location: 'http://127.0.0.1:9/' } })
  await expect(createClient(options).get('/api/asset-codes')).rejects.toMatchObject({
    code: 'REDIRECTED',
    outcome: 'unprocessed',
  })
  expect(proxy.seen).toHaveLength(1)
})

test('aborting the signal of a request ends the request, even between two attempts', async () => {
  const { proxy, options } = await startServiceAndProxy()
  const stopping = new AbortController()
  proxy.faults.push({ status: 503, headers: { 'retry-after': '30' } })
  const client = createClient({ ...options, onRetry: () => stopping.abort(new Error('the user left')) })
  await expect(client.get('/api/asset-codes', { signal: stopping.signal })).rejects.toThrow('the user left')
  await expect(client.get('/api/asset-codes', { signal: stopping.signal })).rejects.toThrow('the user left')
  expect(proxy.seen).toHaveLength(1)
})

test('a client repeats an attempt that gets no response within its time limit', async () => {
  const { proxy, options } = await startServiceAndProxy()
  proxy.faults.push('stall')
  const client = createClient({ ...options, retry: { baseDelayMs: 20, attemptTimeoutMs: 2_000 } })
  expect(await client.get('/api/asset-codes')).toMatchObject({ attempts: 2 })
})
