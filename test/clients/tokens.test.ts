import { afterEach, describe, expect, test, vi } from 'vitest'
import { createClient, createTokenSource, NoResponseError, ServiceError } from '../../clients/typescript/src/index.ts'
import { demoApiKey } from '../../src/demo/demo.ts'
import { adaAt } from './support/ada.ts'
import { payout, startServiceAndProxy } from './support/service.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** A token of a lifetime that begins now, as a JWT has it. */
function tokenFor(seconds: number, name: string, clockAheadMs = 0) {
  const now = Date.now() + clockAheadMs
  const claims = { iat: Math.floor(now / 1_000), exp: Math.floor(now / 1_000) + seconds, jti: name }
  const token = `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.${name}`
  return { token, expires_at: new Date(now + seconds * 1_000).toISOString() }
}

describe('a token source', () => {
  test('requests one token for concurrent callers', async () => {
    const from = vi.fn(async () => tokenFor(900, 'a'))
    const source = createTokenSource({ from })
    const tokens = await Promise.all(Array.from({ length: 10 }, () => source.current()))
    expect(new Set(tokens).size).toBe(1)
    expect(from).toHaveBeenCalledTimes(1)
  })

  test('replaces a token in the background before it expires, and makes callers wait for a new token after it expires', async () => {
    vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ['Date'] })
    let count = 0
    const source = createTokenSource({ from: async () => tokenFor(900, `token-${++count}`) })
    const nameOf = async () => (await source.current()).token.split('.')[2]
    expect(await nameOf()).toBe('token-1')
    vi.advanceTimersByTime(839_000)
    expect([await nameOf(), count]).toEqual(['token-1', 1])
    vi.advanceTimersByTime(2_000)
    expect(await nameOf()).toBe('token-1')
    expect([await nameOf(), count]).toEqual(['token-2', 2])
    vi.advanceTimersByTime(901_000)
    expect([await nameOf(), count]).toEqual(['token-3', 3])
  })

  test('keeps a token until it expires if no new token can be obtained', async () => {
    vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ['Date'] })
    const from = vi.fn(async () => tokenFor(900, 'a'))
    const source = createTokenSource({ from })
    const first = await source.current()
    from.mockRejectedValue(new TypeError('fetch failed'))
    vi.advanceTimersByTime(890_000)
    expect(await source.current()).toBe(first)
    vi.advanceTimersByTime(20_000)
    const error = await source.current().catch((e) => e)
    expect(error).toBeInstanceOf(NoResponseError)
    expect(error).toMatchObject({ outcome: 'unprocessed', attempts: 0 })
  })

  test.each([
    ['behind', 600_000],
    ['ahead of', -1_200_000],
  ])('uses a token for its whole lifetime if the local clock is %s the service’s clock', async (_, serviceAheadMs) => {
    vi.useFakeTimers({ now: 1_700_000_000_000, toFake: ['Date'] })
    let count = 0
    const source = createTokenSource({ from: async () => tokenFor(900, `token-${++count}`, serviceAheadMs) })
    await source.current()
    vi.advanceTimersByTime(800_000)
    await source.current()
    expect(count).toBe(1)
    vi.advanceTimersByTime(101_000)
    await source.current()
    expect(count).toBe(2)
  })

  test('keeps its current token if `drop` is called again with the previous token', async () => {
    let count = 0
    const source = createTokenSource({ from: async () => tokenFor(900, `token-${++count}`) })
    const first = await source.current()
    source.drop(first.token)
    const second = await source.current()
    source.drop(first.token)
    expect(await source.current()).toBe(second)
  })
})

describe('a client with tokens', () => {
  test('requests one new token when several requests are rejected, and sends each request again', async () => {
    const { address, proxy } = await startServiceAndProxy()
    const server = createClient({ url: address, apiKey: demoApiKey })
    const customer_id = await adaAt(address)
    let count = 0
    const tokens = createTokenSource({
      from: async () => {
        if (count++ === 0) return tokenFor(900, 'unknown')
        return (await server.post('/api/client-tokens', { body: { customer_id, scopes: ['read'] } })).data
      },
    })
    const page = createClient({ url: proxy.address, tokens })

    const responses = await Promise.all(Array.from({ length: 10 }, () => page.get('/api/payouts')))

    expect(responses.map(({ attempts }) => attempts)).toEqual(Array(10).fill(1))
    expect(count).toBe(2)
    expect(proxy.seen).toHaveLength(20)
    expect(proxy.seen.every(({ headers }) => headers['x-api-key'] === undefined)).toBe(true)
  })

  test('gives up if the service also rejects the new token', async () => {
    const { proxy } = await startServiceAndProxy()
    let count = 0
    const tokens = createTokenSource({ from: async () => tokenFor(900, `unknown-${++count}`) })
    await expect(createClient({ url: proxy.address, tokens }).get('/api/payouts')).rejects.toMatchObject({
      code: 'INVALID_TOKEN',
      outcome: 'unprocessed',
    })
    expect([count, proxy.seen.length]).toEqual([2, 2])
  })

  test('retries while the token endpoint is unavailable, and gives up if the token endpoint rejects the user', async () => {
    const { address, proxy } = await startServiceAndProxy()
    proxy.faults.push('refuse', { status: 503 }, { status: 403 })
    const tokens = createTokenSource({ from: `${proxy.address}/token` })
    const page = createClient({ url: address, tokens, retry: { baseDelayMs: 20 } })
    await expect(page.get('/api/payouts')).rejects.toMatchObject({ code: 'HTTP_403', outcome: 'unprocessed' })
    expect(proxy.seen.map(({ url }) => url)).toEqual(['/token', '/token', '/token'])
  })
})

test('the error has the outcome `unknown` and the idempotency key if a payout’s response is lost and no new token is issued', async () => {
  const { address, proxy } = await startServiceAndProxy()
  const customer_id = await adaAt(address)
  const server = createClient({ url: address, apiKey: demoApiKey })
  const body = { customer_id, scopes: ['read', 'payouts'] } as const
  const from = vi.fn(async () => (await server.post('/api/client-tokens', { body })).data)
  const tokens = createTokenSource({ from })
  const { token } = await tokens.current()
  const rejected = new ServiceError('logged out', { ...unsent, code: 'HTTP_403', status: 403 })
  from.mockRejectedValue(rejected)
  const onRetry = () => tokens.drop(token)
  const page = createClient({ url: proxy.address, tokens, onRetry, retry: { baseDelayMs: 20 } })
  proxy.faults.push('lose')
  await expect(page.post('/api/payouts/banks', { body: { ...payout, customer_id } })).rejects.toMatchObject({
    outcome: 'unknown',
    idempotencyKey: expect.any(String),
    cause: rejected,
  })
})

const unsent = {
  outcome: 'unprocessed',
  idempotencyKey: null,
  attempts: 0,
  requestId: null,
  retryAfterMs: null,
} as const

test('a client requires either an API key or tokens', () => {
  const url = 'http://127.0.0.1:1'
  const tokens = createTokenSource({ from: '/token' })
  expect(() => createClient({ url })).toThrow('Set either apiKey or tokens.')
  expect(() => createClient({ url, apiKey: 'key', tokens })).toThrow('Set either apiKey or tokens.')
})
