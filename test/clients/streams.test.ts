import { describe, expect, onTestFinished, test } from 'vitest'
import type { Client, Event, Retry } from '../../clients/typescript/src/index.ts'
import { createClient, createTokenSource, ServiceError } from '../../clients/typescript/src/index.ts'
import { demoApiKey } from '../../src/demo/demo.ts'
import { everyEngine } from '../support/app.ts'
import { cli, type TestInstallation } from '../support/process.ts'
import { payout, startServiceAndProxy } from './support/service.ts'

/** A payout whose outcome the sandbox leaves open, so that it makes one event. */
const openPayout = { ...payout, account_number: '0690000032', bank_name: 'Access Bank', bank_code: '044' }

/** A signal that ends a stream with the test. */
function untilEnd(): AbortController {
  const stopping = new AbortController()
  onTestFinished(() => stopping.abort())
  return stopping
}

async function readAll(client: Client): Promise<Event[]> {
  const events: Event[] = []
  for (let after = 0, hasMore = true; hasMore; ) {
    const { data, pagination } = await client.get('/api/events', { query: { after, limit: 100 } })
    events.push(...data)
    ;({ after, hasMore } = pagination)
  }
  return events
}

async function nextOf<T>(stream: AsyncGenerator<T, void>): Promise<T> {
  const { done, value } = await stream.next()
  if (done) throw new Error('the stream ended')
  return value as T
}

async function createKey(place: TestInstallation, scopes: string) {
  const [merchant] = (await cli(place, 'merchant', 'list', '--json')).json() as { id: string }[]
  const created = await cli(place, 'key', 'create', merchant?.id ?? '', '--scopes', scopes, '--json')
  return created.json() as { id: string; apiKey: string }
}

const eventPublished = `subscription ($after: String) {
  eventPublished(after: $after, types: [PAYOUT_INITIATED]) { sequence payout { uuid } }
}`

describe.each(everyEngine)('events on %s', (engine) => {
  test('arrive from the feed in order and without gaps, although several requests fail', async () => {
    const { address, proxy, options } = await startServiceAndProxy(engine)
    const direct = createClient({ url: address, apiKey: demoApiKey })
    const retries: Retry[] = []
    const client = createClient({ ...options, onRetry: (retry) => retries.push(retry) })
    const history = await readAll(direct)
    proxy.faults.push('refuse', 'truncate', { status: 500 }, { status: 503 })
    const { signal } = untilEnd()

    const sequences: number[] = []
    for await (const { sequence } of client.events({ signal })) {
      sequences.push(sequence)
      if (sequence === history.length) break
    }
    expect(sequences).toEqual(history.map(({ sequence }) => sequence))
    expect(retries).toHaveLength(4)

    const live = client.events({ after: history.length, types: ['payout.initiated'], signal })
    const first = nextOf(live)
    const { data: paid } = await direct.post('/api/payouts/banks', { body: openPayout })
    expect(await first).toMatchObject({ type: 'payout.initiated', object: { id: paid.id } })
    const second = nextOf(live)
    proxy.cut()
    const { data: next } = await direct.post('/api/payouts/banks', { body: openPayout })
    expect(await second).toMatchObject({ type: 'payout.initiated', object: { id: next.id } })
  })

  test('arrive exactly once from a subscription, which resumes after its connection is lost', async () => {
    const { address, proxy, options } = await startServiceAndProxy(engine)
    const direct = createClient({ url: address, apiKey: demoApiKey })
    let starts = 0
    const onStart = () => {
      starts++
    }
    const { signal } = untilEnd()
    const pay = async () => (await direct.post('/api/payouts/banks', { body: openPayout })).data.id
    const after = String((await readAll(direct)).length)
    const stream = createClient(options).subscribe(eventPublished, { after }, { signal, onStart })

    const paid = [await pay(), await pay()]
    const arrived = [await nextOf(stream), await nextOf(stream)]
    proxy.cut()
    paid.push(await pay(), await pay())
    arrived.push(await nextOf(stream), await nextOf(stream))

    expect(arrived.map(({ data }) => data.eventPublished.payout.uuid)).toEqual(paid)
    expect(arrived.map(({ id }) => Number(id))).toEqual(arrived.map(({ data }) => data.eventPublished.sequence))
    expect(starts).toBe(1)
    expect(proxy.seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, arrived[1]?.id])
  })
})

describe('a subscription', () => {
  test('reconnects if its connection is silent for too long', async () => {
    const { address, proxy, options } = await startServiceAndProxy()
    const direct = createClient({ url: address, apiKey: demoApiKey })
    const retries: Retry[] = []
    const client = createClient({ ...options, onRetry: (retry) => retries.push(retry) })
    const after = String((await readAll(direct)).length)
    await direct.post('/api/payouts/banks', { body: openPayout })
    proxy.faults.push('stall')
    const { signal } = untilEnd()
    const stream = client.subscribe(eventPublished, { after }, { signal, silenceMs: 5_000 })
    expect((await nextOf(stream)).data.eventPublished.sequence).toBeGreaterThan(Number(after))
    expect(retries.map(({ error }) => error.message)).toEqual(['The stream of /graphql was silent for 5000 ms.'])
  })

  test('ends when its signal aborts', async () => {
    const { options } = await startServiceAndProxy()
    const stopping = untilEnd()
    const stream = createClient(options).subscribe(eventPublished, {}, { signal: stopping.signal })
    const next = stream.next()
    stopping.abort()
    expect(await next).toEqual({ done: true, value: undefined })
  })

  test('continues with a new token after the service rejects the old token', async () => {
    const { place, address, proxy } = await startServiceAndProxy()
    const direct = createClient({ url: address, apiKey: demoApiKey })
    const { id, apiKey } = await createKey(place, 'read')
    const keys = [apiKey, demoApiKey]
    const tokens = createTokenSource({
      from: async () => {
        const server = createClient({ url: address, apiKey: keys.shift() ?? '' })
        return (await server.post('/api/client-tokens', { body: { scopes: ['read'] } })).data
      },
    })
    const connected = Promise.withResolvers<void>()
    const { signal } = untilEnd()
    const page = createClient({ url: proxy.address, tokens })
    const after = String((await readAll(direct)).length)
    const stream = page.subscribe(eventPublished, { after }, { signal, onStart: connected.resolve })
    const next = nextOf(stream)
    await connected.promise
    await cli(place, 'key', 'revoke', id)
    await expect.poll(() => keys).toEqual([])
    await direct.post('/api/payouts/banks', { body: openPayout })
    expect((await next).data.eventPublished.payout).toEqual({ uuid: expect.any(String) })
  })

  test('restarts with new events if the option `onStart` is set and the service does not know the subscription’s position', async () => {
    const { address, options } = await startServiceAndProxy()
    const direct = createClient({ url: address, apiKey: demoApiKey })
    const started = Promise.withResolvers<void>()
    const { signal } = untilEnd()
    const stream = createClient(options).subscribe(
      eventPublished,
      {},
      { signal, lastEventId: '9999999', onStart: started.resolve },
    )
    const next = nextOf(stream)
    await started.promise
    await direct.post('/api/payouts/banks', { body: openPayout })
    expect((await next).data.eventPublished.payout).toEqual({ uuid: expect.any(String) })
  })

  test('throws if the option `onStart` is not set and the service does not know the subscription’s position', async () => {
    const { options } = await startServiceAndProxy()
    const stream = createClient(options).subscribe(eventPublished, {}, { ...untilEnd(), lastEventId: '9999999' })
    await expect(stream.next()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})

describe('a stream throws the error of the service for', () => {
  test.each([
    ['an unknown API key', 'pgw_sandbox_unknown', { status: 401, code: 'INVALID_TOKEN' }],
    ['an API key without the scope read', null, { status: 403, code: 'INSUFFICIENT_SCOPE' }],
  ])('%s', async (_, key, expected) => {
    const { place, options } = await startServiceAndProxy()
    const { apiKey } = key === null ? await createKey(place, 'payouts') : { apiKey: key }
    const client = createClient({ ...options, apiKey })
    for (const stream of [client.events(), client.subscribe(eventPublished)]) {
      const error = await stream.next().catch((e: unknown) => e)
      expect(error).toBeInstanceOf(ServiceError)
      expect(error).toMatchObject(expected)
    }
  })

  test('a position after the latest event', async () => {
    const { options } = await startServiceAndProxy()
    await expect(createClient(options).events({ after: 9_999_999 }).next()).rejects.toMatchObject({ status: 400 })
  })
})

test('client.forward passes the results of a subscription to the given sink', async () => {
  const { address, options } = await startServiceAndProxy()
  const direct = createClient({ url: address, apiKey: demoApiKey })
  const after = String((await readAll(direct)).length)
  const { promise, resolve } = Promise.withResolvers<unknown>()
  const end = createClient(options).forward({ query: eventPublished, variables: { after } }, { next: resolve })
  const { data } = await direct.post('/api/payouts/banks', { body: openPayout })
  expect(await promise).toMatchObject({ data: { eventPublished: { payout: { uuid: data.id } } } })
  end()
})

test('a subscription with `isAfterResponses` delays its results until all earlier requests have received responses', async () => {
  const { address, proxy, options } = await startServiceAndProxy()
  const direct = createClient({ url: address, apiKey: demoApiKey })
  const client = createClient({ ...options, retry: { baseDelayMs: 20, attemptTimeoutMs: 3_000 } })
  const after = String((await readAll(direct)).length)
  await direct.post('/api/payouts/banks', { body: openPayout })
  const order: string[] = []
  proxy.faults.push('stall')
  const slow = client.get('/api/asset-codes').then(() => order.push('response'))
  await expect.poll(() => proxy.seen.length).toBe(1)
  const { signal } = untilEnd()
  // A long poll delays nothing.
  void client.events({ after: Number(after) + 1, signal }).next()
  await nextOf(client.subscribe(eventPublished, { after }, { signal, isAfterResponses: true }))
  order.push('event')
  await slow
  expect(order).toEqual(['response', 'event'])
})
