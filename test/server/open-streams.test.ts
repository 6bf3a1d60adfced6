import { EventEmitter } from 'node:events'
import Fastify from 'fastify'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { DomainError } from '../../src/core/errors.ts'
import { createKey, revokeKey } from '../../src/modules/merchants/manage-keys.ts'
import type { Service } from '../../src/operations/context.ts'
import type { HoldStream } from '../../src/server/graphql/stream-limiter.ts'
import { createStreamLimiter, takeUntilEnd } from '../../src/server/graphql/stream-limiter.ts'
import { everyEngine, startApp } from '../support/app.ts'

/** The connection of a response, as Node provides it. */
class Connection extends EventEmitter {
  destroyed = false
  destroy() {
    this.destroyed = true
    this.emit('close')
  }
}

type Who = { merchantId?: string; keyId?: string | null; tokenId?: string | null; until?: number }

/** The stream counter of one process, and a function that requests a stream. */
function startCounting(service: Service, processes = 1) {
  const server = Fastify()
  onTestFinished(() => server.close())
  const hold = createStreamLimiter(server, service, processes)
  const open = (
    who: Who = {},
    { onEnding, raw = new Connection() }: { onEnding?: () => void; raw?: Connection } = {},
  ) => {
    const { merchantId = 'one', keyId = 'key', tokenId = null, until = Number.POSITIVE_INFINITY } = who
    const request = {
      merchantId,
      caller: { keyId, tokenId, scopes: null, customerId: null },
      validity: { from: 0, until },
    }
    const headers: Record<string, string> = {}
    const reply = { raw, header: (name: string, value: string) => (headers[name] = value) }
    const held = () => hold(request as unknown as Parameters<HoldStream>[0], reply as never, onEnding)
    let refusal: DomainError | null = null
    try {
      return { raw, headers, refusal, ...held() }
    } catch (error) {
      refusal = error as DomainError
      return { raw, headers, refusal, ended: Promise.resolve(null), release: () => {} }
    }
  }
  return { server, open }
}

/** The present state of a promise; `waiting` while it is pending. */
const currentState = <Value>(promise: Promise<Value>) =>
  Promise.race([promise, new Promise<'waiting'>((resolve) => setImmediate(resolve, 'waiting'))])

const refused = (message: string) => ({ code: 'RATE_LIMITED', message })

describe('open streams', () => {
  test.each([
    [1, 100, 'At most 100 streams of a merchant may be open simultaneously.'],
    [3, 33, 'At most 100 streams of a merchant may be open simultaneously, 33 in each of 3 processes.'],
    [200, 1, 'At most 100 streams of a merchant may be open simultaneously, 1 in each of 200 processes.'],
  ])(
    'are limited, with %i processes, to %i streams of a merchant in each process',
    async (processes, most, message) => {
      const { service } = await startApp('sqlite')
      const { open } = startCounting(service, processes)
      const streams = Array.from({ length: most }, () => open())
      expect(streams.filter(({ refusal }) => refusal !== null)).toEqual([])
      expect(streams[0]?.headers).toEqual({ 'x-accel-buffering': 'no' })
      const beyond = open()
      expect([beyond.refusal, beyond.headers]).toEqual([
        expect.objectContaining(refused(message)),
        { 'retry-after': '5' },
      ])
      expect(open({ merchantId: 'other' }).refusal).toBeNull()
      streams[0]?.raw.destroy()
      expect(await streams[0]?.ended).toBeNull()
      expect([open().refusal, open().refusal?.code]).toEqual([null, 'RATE_LIMITED'])
    },
  )

  test('a client token can open at most ten of the streams of its merchant', async () => {
    const { service } = await startApp('sqlite')
    const { open } = startCounting(service)
    const of = (tokenId: string | null, count: number) =>
      Array.from({ length: count }, () => open({ tokenId }).refusal?.message ?? null)
    const tooMany = 'At most 10 streams of a token may be open simultaneously.'
    expect(of('a', 11)).toEqual([...Array(10).fill(null), tooMany])
    expect(open({ tokenId: 'a' }).headers).toEqual({ 'retry-after': '5' })
    expect([...of('b', 10), ...of(null, 20)]).toEqual(Array(30).fill(null))
  })

  test('a released stream does not count towards the limit, even while its connection stays open', async () => {
    const { service } = await startApp('sqlite')
    const { open } = startCounting(service, 100)
    const first = open()
    expect(open().refusal).not.toBeNull()
    first.release()
    expect([await first.ended, first.raw.destroyed, first.raw.listenerCount('close')]).toEqual([null, false, 0])
    const second = open()
    expect(second.refusal).toBeNull()
    // A second release must not free another stream's place.
    first.release()
    expect(open().refusal).not.toBeNull()
    second.release()
  })

  test('a stream of a caller that has disconnected ends immediately and does not count towards the limit', async () => {
    const { service } = await startApp('sqlite')
    const { open } = startCounting(service, 100)
    const raw = new Connection()
    raw.destroy()
    for (let i = 0; i < 3; i++) {
      const { refusal, ended, release } = open({}, { raw })
      expect([refusal, await ended]).toEqual([null, null])
      release()
    }
    expect(open().refusal).toBeNull()
  })

  test('streams end when the service stops, including those that start during the stop', async () => {
    const { service } = await startApp('sqlite')
    const { server, open } = startCounting(service)
    const endings: string[] = []
    const cut = open()
    open({}, { onEnding: () => endings.push('first') })
    await server.close()
    expect([cut.raw.destroyed, await cut.ended, endings]).toEqual([true, null, ['first']])
    const late = open({}, { onEnding: () => endings.push('late') })
    expect([await late.ended, endings]).toEqual([null, ['first', 'late']])
    late.release()
  })
})

describe.each(everyEngine)('the API keys of open streams on %s', (engine) => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  async function startWatching() {
    let time = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { clock: () => time })
    let reads = 0
    let isAway = false
    let held: Promise<void> | null = null
    let heldRows: Promise<never[]> | null = null
    let latest: unknown = null
    const execute: Service['db']['execute'] = (query, params) => {
      reads++
      if (isAway) throw new Error('the database is away')
      if (held !== null) {
        heldRows = held.then(() => app.db.execute<never>(query, params))
        return heldRows
      }
      const rows = app.db.execute<never>(query, params)
      latest = rows
      return rows
    }
    const { open } = startCounting({ ...app.service, db: { ...app.db, execute } })
    const timersOfApp = vi.getTimerCount()
    /** Lets half a second pass, and returns the number of database reads in it. */
    const look = async () => {
      reads = 0
      vi.advanceTimersByTime(500)
      await latest
      await new Promise((resolve) => setImmediate(resolve))
      return reads
    }
    return {
      app,
      open,
      timers: () => vi.getTimerCount() - timersOfApp,
      look,
      keyOf: async () => (await createKey(app.service, app.merchant.id, { scopes: ['read'] })).id,
      pass: (ms: number) => {
        time += ms
      },
      setAway: (away: boolean) => {
        isAway = away
      },
      /** Lets no query return until the returned function is called. */
      hold: () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        held = promise
        return async () => {
          held = null
          resolve()
          await heldRows
          await new Promise((resolve) => setImmediate(resolve))
        }
      },
      time: () => time,
    }
  }

  test('that are revoked end only their own streams, within half a second', async () => {
    const { app, open, look, keyOf, timers } = await startWatching()
    const [key, other] = [await keyOf(), await keyOf()]
    const streams = [open({ keyId: key }), open({ keyId: other }), open({ keyId: key, merchantId: 'two' })]
    await look()
    for (const { ended } of streams) expect(await currentState(ended)).toBe('waiting')
    await revokeKey(app.service, key)
    await look()
    const over = expect.objectContaining({
      code: 'INVALID_TOKEN',
      message: 'The API key of this stream is no longer valid.',
    })
    expect(await Promise.all(streams.map(({ ended }) => currentState(ended)))).toEqual([over, 'waiting', over])
    for (const { release } of streams) release()
    expect(timers()).toBe(0)
  })

  test('are read with one query for all streams, and on SQLite only after a change', async () => {
    const { open, look, keyOf, timers } = await startWatching()
    const [key, other] = [await keyOf(), await keyOf()]
    expect(timers()).toBe(0)
    const streams = [open({ keyId: key }), open({ keyId: key }), open({ keyId: other })]
    expect([await look(), await look()]).toEqual([1, engine === 'sqlite' ? 0 : 1])
    // A key may be revoked between its admission and the stream.
    streams.push(open({ keyId: key, merchantId: 'two' }))
    expect([await look(), timers()]).toEqual([1, 1])
    streams.pop()?.release()
    expect(timers()).toBe(1)
    for (const { release } of streams) release()
    expect([timers(), await look()]).toEqual([0, 0])
    // The next stream is watched again.
    const again = open({ keyId: key })
    expect([await look(), await currentState(again.ended)]).toEqual([1, 'waiting'])
    again.release()
  })

  test('that are revoked end their streams after an outage of the database', async () => {
    const { app, open, look, keyOf, setAway } = await startWatching()
    const keyId = await keyOf()
    const { ended, release } = open({ keyId })
    await revokeKey(app.service, keyId)
    setAway(true)
    await look()
    expect(await currentState(ended)).toBe('waiting')
    setAway(false)
    await look()
    expect(await currentState(ended)).toMatchObject({ code: 'INVALID_TOKEN' })
    release()
  })

  test('are read by one query at a time while the database does not respond', async () => {
    const { open, look, keyOf, hold } = await startWatching()
    const { release } = open({ keyId: await keyOf() })
    const resume = hold()
    expect([await look(), await look(), await look()]).toEqual([1, 0, 0])
    await resume()
    expect(await look()).toBe(engine === 'sqlite' ? 0 : 1)
    release()
  })

  test('end their streams when they expire', async () => {
    const { open, look, keyOf, pass, time } = await startWatching()
    const keyId = await keyOf()
    const ending = open({ keyId, until: time() + 1_000 })
    const lasting = open({ keyId, until: time() + 1_001 })
    pass(999)
    await look()
    expect([await currentState(ending.ended), await currentState(lasting.ended)]).toEqual(['waiting', 'waiting'])
    pass(1)
    await look()
    expect(await currentState(ending.ended)).toMatchObject({
      code: 'INVALID_TOKEN',
      message: 'The token of this stream has expired.',
    })
    expect(await currentState(lasting.ended)).toBe('waiting')
    for (const { release } of [ending, lasting]) release()
  })
})

describe('takeUntilEnd', () => {
  async function* counting(closed: () => void = () => {}) {
    try {
      for (let i = 1; ; i++) yield i
    } finally {
      closed()
    }
  }

  test('returns all results of a stream that is not ended', async () => {
    async function* two() {
      yield 1
      yield 2
    }
    const seen: number[] = []
    for await (const each of takeUntilEnd(two(), new Promise<never>(() => {}))) seen.push(each)
    expect(seen).toEqual([1, 2])
  })

  test.each([
    ['with a last result', 7, [1, 7]],
    ['without another result if no last result is given', null, [1]],
  ])('ends a stream %s, and closes its source', async (_, last, expected) => {
    const { promise, resolve } = Promise.withResolvers<number | null>()
    const closed = vi.fn()
    const seen: number[] = []
    for await (const each of takeUntilEnd(counting(closed), promise)) {
      seen.push(each)
      if (each === 1) resolve(last)
      await promise
    }
    await new Promise((done) => setImmediate(done))
    expect([seen, closed.mock.calls.length]).toEqual([expected, 1])
  })

  test('fails if the source fails', async () => {
    async function* failing() {
      yield 1
      throw new Error('no more')
    }
    const results = takeUntilEnd(failing(), new Promise(() => {}))
    expect((await results.next()).value).toBe(1)
    await expect(results.next()).rejects.toThrow('no more')
  })

  test('ends a stream even if closing its source fails or is not supported', async () => {
    const iterator = (close?: () => Promise<never>) => ({
      next: async () => ({ value: 1, done: false as const }),
      ...(close && { return: close }),
    })
    const closings = [async () => Promise.reject(new Error('still open')), undefined]
    for (const close of closings) {
      const results = takeUntilEnd({ [Symbol.asyncIterator]: () => iterator(close) }, new Promise(() => {}))
      await results.next()
      expect(await results.return(undefined)).toEqual({ value: undefined, done: true })
    }
    await new Promise((done) => setImmediate(done))
  })
})
