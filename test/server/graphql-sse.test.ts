import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { processServerSentEvents } from '../../src/server/graphql/stream-formats.ts'

const fetchAPI = { ReadableStream, Response } as unknown as Parameters<typeof processServerSentEvents>[1]

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const written = (text: string, id?: string) => ({ stringify: () => text, ...(id !== undefined && { id }) })

const form = (results: object) => processServerSentEvents(results as never, fetchAPI, undefined as never) as Response

/** Reads a response chunk by chunk: `null` if none has arrived. */
function reading(response: Response) {
  const reader = (response.body as ReadableStream<BufferSource>).pipeThrough(new TextDecoderStream()).getReader()
  let pendingRead: Promise<string | undefined> | null = null
  const next = async () => {
    pendingRead ??= reader.read().then(({ value }) => value)
    const turns = async () => {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
      return null
    }
    const piece = await Promise.race([pendingRead, turns()])
    if (piece !== null) pendingRead = null
    return piece
  }
  return { next, cancel: () => reader.cancel() }
}

test('server-sent events of one result are a comment, a next event and a complete event', async () => {
  const response = form(written('{"data":1}'))
  expect([response.status, Object.fromEntries(response.headers)]).toEqual([
    200,
    {
      'content-type': 'text/event-stream',
      connection: 'keep-alive',
      'cache-control': 'no-cache',
      'content-encoding': 'none',
    },
  ])
  expect(await response.text()).toBe(':\n\nevent: next\ndata: {"data":1}\n\nevent: complete\ndata:\n\n')
  expect(vi.getTimerCount()).toBe(0)
})

test('a response with server-sent events has the status and the headers of the result', async () => {
  const http = { status: 429, headers: { 'retry-after': '5', 'cache-control': 'no-store' } }
  const { status, headers } = form({ ...written('{}'), extensions: { http } })
  expect([status, headers.get('retry-after'), headers.get('cache-control')]).toEqual([429, '5', 'no-store'])
})

test('server-sent events are sent individually with their ids, and a heartbeat comment every twelve seconds', async () => {
  let tell = (_: object | null) => {}
  async function* results() {
    for (;;) {
      const result = await new Promise<object | null>((resolve) => {
        tell = resolve
      })
      if (result === null) return
      yield result
    }
  }
  const { next } = reading(form(results()))
  expect(await next()).toBe(':\n\n')
  vi.advanceTimersByTime(11_999)
  expect(await next()).toBeNull()
  vi.advanceTimersByTime(1)
  expect(await next()).toBe(':\n\n')
  tell(written('{"a":1}', '7'))
  expect(await next()).toBe('event: next\nid: 7\ndata: {"a":1}\n\n')
  expect(await next()).toBeNull()
  tell(null)
  expect([await next(), await next()]).toEqual(['event: complete\ndata:\n\n', undefined])
  expect(vi.getTimerCount()).toBe(0)
})

test('heartbeat comments of server-sent events do not accumulate while nobody reads them', async () => {
  const response = form(
    (async function* () {
      await new Promise(() => {})
    })(),
  )
  await new Promise((resolve) => setImmediate(resolve))
  vi.advanceTimersByTime(120_000)
  const { next, cancel } = reading(response)
  const seen: unknown[] = []
  for (let piece = await next(); piece !== null; piece = await next()) seen.push(piece)
  expect(seen.length).toBeLessThan(4)
  await cancel()
})

test('a response with server-sent events fails when the source of the results fails', async () => {
  const response = form(
    (async function* () {
      yield written('{"a":1}')
      throw new Error('the source is gone')
    })(),
  )
  await expect(response.text()).rejects.toThrow('the source is gone')
  expect(vi.getTimerCount()).toBe(0)
})

test('the source of server-sent events is closed when the reader disconnects', async () => {
  const closed = vi.fn()
  for (const close of [closed, undefined]) {
    const iterator = { next: () => new Promise(() => {}), ...(close && { return: close }) }
    const { next, cancel } = reading(form({ [Symbol.asyncIterator]: () => iterator }))
    expect([await next(), vi.getTimerCount()]).toEqual([':\n\n', 1])
    await cancel()
    expect(vi.getTimerCount()).toBe(0)
  }
  expect(closed).toHaveBeenCalledOnce()
})
