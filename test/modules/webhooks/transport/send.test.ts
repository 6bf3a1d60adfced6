import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { createServer } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { buildRequest } from '../../../../src/modules/webhooks/transport/build-request.ts'
import { createSender } from '../../../../src/modules/webhooks/transport/send.ts'
import { maxIdleSockets } from '../../../../src/modules/webhooks/transport/ssrf-guard.ts'
import { generateSharedSecret, parseSigner } from '../../../../src/modules/webhooks/transport/standard-webhooks.ts'
import { wallTime } from '../../../support/times.ts'
import { certificate } from './support/certificate.ts'
import { sampleEvent } from './support/events.ts'
import { fakeLookup, startReceiver } from './support/receiver.ts'

const post = { body: '{"a":"ü€😀"}', headers: { 'content-type': 'application/json' } }
/** Short limits, for tests that wait until they expire. */
const limits = { connectMs: 200, wholeMs: 400 }

/** The allowlist in live mode: receivers of tests are at loopback addresses. */
const live = { mode: 'live', allowlistEntries: ['127.0.0.0/8', '::1/128'], ca: certificate } as const

function senderOf(change: Partial<Parameters<typeof createSender>[0]> = {}) {
  const sender = createSender({ mode: 'sandbox', allowlistEntries: [], ...change })
  onTestFinished(sender.close)
  return sender
}

/** Starts a server that responds with raw bytes of the test. */
async function startRaw(
  respond: (socket: Socket, chunk: Buffer) => void,
  onClose: (value?: unknown) => void = () => {},
): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', onClose)
    socket.on('data', (chunk) => respond(socket, chunk))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

describe('a response to a webhook', () => {
  test('is recorded with its status, its Retry-After and the start of its body', async () => {
    const receiver = await startReceiver((response) =>
      response.writeHead(503, { 'retry-after': '120' }).end('too much to do'),
    )
    expect(await senderOf().send(receiver.url, post)).toEqual({
      status: 503,
      error: null,
      durationMs: expect.any(Number),
      retryAfter: '120',
      answer: 'too much to do',
    })
  })

  test('belongs to a request with exactly the given headers and body', async () => {
    const receiver = await startReceiver()
    const signer = parseSigner([generateSharedSecret()])
    const written = buildRequest(sampleEvent(), {
      format: 'standard',
      signer,
      now: wallTime(Date.parse(sampleEvent().timestamp)),
    })
    await senderOf().send(`${receiver.url}?a=b%20c`, written)
    await senderOf().send(receiver.url, post)
    const [first, second] = receiver.received
    expect(first).toMatchObject({ method: 'POST', url: '/hook?a=b%20c', body: written.body, headers: written.headers })
    expect(second).toMatchObject({
      body: post.body,
      headers: { 'content-length': String(Buffer.byteLength(post.body)) },
    })
  })

  test.each([
    ['nothing', Buffer.alloc(0), ''],
    ['invalid UTF-8', Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x62]), 'a\ufffd\ufffd(b'],
    ['NUL, which a database cannot store', Buffer.from('a\0b'), 'ab'],
    ['more than 1 KiB', Buffer.alloc(5_000, 'x'), 'x'.repeat(1024)],
    ['several chunks', ['x'.repeat(1000), 'y'.repeat(1000)], 'x'.repeat(1000) + 'y'.repeat(24)],
    ['a character that crosses the limit of 1 KiB', Buffer.from(`${'x'.repeat(1023)}ü`), 'x'.repeat(1023)],
    ['an incomplete character at its end', Buffer.from([0x61, 0xe2, 0x82]), 'a'],
  ])('with %s in its body is stored as text', async (_, body, expected) => {
    const receiver = await startReceiver((response) => {
      for (const piece of Array.isArray(body) ? body : [body]) response.write(piece)
      response.end()
    })
    expect(await senderOf().send(receiver.url, post)).toMatchObject({ status: 200, answer: expected })
  })

  test.each([201, 204, 304, 404, 410, 500])('with status %i and without a body is accepted', async (status) => {
    const receiver = await startReceiver((response) => response.writeHead(status).end())
    expect(await senderOf().send(receiver.url, post)).toMatchObject({ status, error: null, answer: '' })
  })

  // Ruling 63.
  test('that never ends is truncated, and its connection is closed', async () => {
    const closed = Promise.withResolvers<void>()
    const receiver = await startReceiver((response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384, 'x')));
      }
      response.on('drain', more).on('close', closed.resolve)
      more()
    })
    const sent = await senderOf().send(receiver.url, post)
    expect(sent).toMatchObject({ status: 200, error: null, answer: 'x'.repeat(1024) })
    await closed.promise
  })
})

describe('the failure of a webhook attempt is reported with its kind and message if', () => {
  const failed = (kind: string, message: string | RegExp) => ({
    status: null,
    retryAfter: null,
    answer: null,
    error: { kind, message: typeof message === 'string' ? message : expect.stringMatching(message) },
  })

  test('no server listens', async () => {
    expect(await senderOf().send('http://127.0.0.1:1/', post)).toMatchObject(
      failed('connect', 'No connection could be made (ECONNREFUSED).'),
    )
  })

  test('no response arrives', async () => {
    const closed = Promise.withResolvers()
    const url = await startRaw(() => {}, closed.resolve)
    const begunAt = performance.now()
    const sent = await senderOf({ limits }).send(url, post)
    expect(sent).toMatchObject(failed('timeout', 'No complete response arrived within 0.4 seconds.'))
    expect(sent.durationMs).toBeGreaterThanOrEqual(390)
    expect(sent.durationMs).toBeLessThanOrEqual(Math.ceil(performance.now() - begunAt))
    await closed.promise
  })

  // Ruling 63.
  test.each([
    ['head', 'HTTP/1.1 200 OK\r\nx-a: 1\r\n'],
    ['body', 'HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n'],
  ])('the response’s %s arrives one byte at a time', async (_, beginning) => {
    const url = await startRaw((socket) => {
      socket.write(beginning)
      const timer = setInterval(() => socket.write('x'), 20)
      socket.on('close', () => clearInterval(timer))
    })
    expect(await senderOf({ limits }).send(url, post)).toMatchObject(failed('timeout', /^No complete response/))
  })

  test('the connection is reset before a response', async () => {
    const url = await startRaw((socket) => socket.resetAndDestroy())
    expect(await senderOf().send(url, post)).toMatchObject(failed('reset', /closed before the response was complete/))
  })

  test('the connection is closed in the middle of a response', async () => {
    const url = await startRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'))
    expect(await senderOf().send(url, post)).toMatchObject(failed('reset', /closed before the response was complete/))
  })

  test('the response is not HTTP, or its header section has no end', async () => {
    const noise = await startRaw((socket) => socket.write('hello\r\n\r\n'))
    const endless = await startRaw((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${'x-a: 1234567890\r\n'.repeat(5_000)}`),
    )
    for (const url of [noise, endless])
      expect(await senderOf().send(url, post)).toMatchObject(
        failed('protocol', /^The response is not valid HTTP \(HPE_/),
      )
  })

  test('the response switches the protocol', async () => {
    const closed = Promise.withResolvers()
    const url = await startRaw(
      (socket) => socket.write('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      closed.resolve,
    )
    expect(await senderOf().send(url, post)).toMatchObject(failed('protocol', /^The response switches protocols/))
    await closed.promise
  })

  test('the TLS handshake never completes', async () => {
    const url = await startRaw(() => {})
    expect(await senderOf({ limits }).send(url.replace('http', 'https'), post)).toMatchObject(
      failed('timeout', 'No connection could be made within 0.2 seconds.'),
    )
  })

  test('a TLS connection is closed before a response', async () => {
    const lookUp = fakeLookup({ 'hooks.test': [['127.0.0.1']] })
    const receiver = await startReceiver((response) => response.socket?.destroy(), { isSecure: true })
    const sent = await senderOf({ ...live, lookUp }).send(`https://hooks.test:${receiver.port}/`, post)
    expect(sent).toMatchObject(failed('reset', /closed before the response was complete/))
  })

  test('the certificate is untrusted or was issued for another host name', async () => {
    const { port, received } = await startReceiver(undefined, { isSecure: true })
    const lookUp = fakeLookup({ 'hooks.test': [['127.0.0.1']], 'other.test': [['127.0.0.1']] })
    const trusting = senderOf({ ...live, lookUp })
    expect(await senderOf({ lookUp }).send(`https://hooks.test:${port}/`, post)).toMatchObject(
      failed('tls', /^The TLS handshake failed/),
    )
    expect(await trusting.send(`https://other.test:${port}/`, post)).toMatchObject(
      failed('tls', 'The TLS handshake failed (ERR_TLS_CERT_ALTNAME_INVALID).'),
    )
    expect(received).toEqual([])
    expect(await trusting.send(`https://hooks.test:${port}/`, post)).toMatchObject({ status: 200 })
  })

  test('the URL is not permitted', async () => {
    const receiver = await startReceiver()
    for (const [mode, url] of [
      ['live', receiver.url],
      ['live', 'https://127.0.0.1/'],
      ['sandbox', 'http://169.254.169.254/latest/meta-data'],
      ['sandbox', 'http://user@127.0.0.1/'],
      ['sandbox', 'nothing'],
    ] as const)
      expect(await senderOf({ mode }).send(url, post)).toMatchObject(failed('url_refused', /^The URL must/))
    expect(receiver.connections()).toBe(0)
  })
})

describe('connections of the webhook sender', () => {
  test.each([false, true])('are kept for the next request (TLS: %s)', async (isSecure) => {
    const receiver = await startReceiver(undefined, { isSecure })
    const sender = senderOf(isSecure ? live : {})
    const url = receiver.url.replace('127.0.0.1', 'localhost')
    for (let turn = 0; turn < 5; turn++) expect(await sender.send(url, post)).toMatchObject({ status: 200 })
    expect(receiver.connections()).toBe(1)
  })

  test('that the receiver closed while idle do not count as a failed attempt', async () => {
    let requestCount = 0
    const url = await startRaw((socket) => {
      requestCount++
      // The receiver drops the first connection when it is reused.
      if (requestCount === 2) socket.resetAndDestroy()
      else socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
    })
    const sender = senderOf()
    expect(await sender.send(url, post)).toMatchObject({ status: 200 })
    expect(await sender.send(url, post)).toMatchObject({ status: 200, error: null })
    expect(requestCount).toBe(3)
  })

  test('over TLS that the receiver closed while idle do not count as a failed attempt', async () => {
    const receiver = await startReceiver(
      (response) => (receiver.received.length === 2 ? response.socket?.destroy() : response.end()),
      { isSecure: true },
    )
    const sender = senderOf(live)
    const url = receiver.url.replace('127.0.0.1', 'localhost')
    for (let posts = 0; posts < 2; posts++) expect(await sender.send(url, post)).toMatchObject({ status: 200 })
    expect(receiver.received.map(({ headers }) => headers.connection)).toEqual(['keep-alive', 'keep-alive', 'close'])
  })

  test('that the receiver closed while idle are retried only within the remaining time of the attempt', async () => {
    let requestCount = 0
    const url = await startRaw((socket) => {
      requestCount++
      if (requestCount === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      if (requestCount === 2) setTimeout(() => socket.resetAndDestroy(), 50)
    })
    const sender = senderOf({ limits })
    expect(await sender.send(url, post)).toMatchObject({ status: 200 })
    const { error } = await sender.send(url, post)
    expect(error?.kind).toBe('timeout')
    expect(Number(/within (.*) seconds/.exec(error?.message ?? '')?.[1])).toBeLessThan(0.4)
  })

  test.each([
    ['an invalid response', 'protocol', 'hello\r\n\r\n'],
    ['an incomplete response', 'reset', 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc'],
  ])('that are reused are not retried after %s', async (_, kind, response) => {
    let requestCount = 0
    const url = await startRaw((socket) => {
      requestCount++
      socket.write(requestCount === 1 ? 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n' : response)
      // After the request was read.
      if (requestCount > 1) setTimeout(() => socket.resetAndDestroy(), 20)
    })
    const sender = senderOf()
    expect(await sender.send(url, post)).toMatchObject({ status: 200 })
    expect(await sender.send(url, post)).toMatchObject({ status: null, error: { kind } })
    expect(requestCount).toBe(2)
  })

  test.each([false, true])(
    'that were opened before the connection timeout can wait longer for a response, and leave no timer (TLS: %s)',
    async (isSecure) => {
      const received = Promise.withResolvers<ServerResponse>()
      const receiver = await startReceiver((response) => received.resolve(response), { isSecure })
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
      onTestFinished(() => void vi.useRealTimers())
      const sender = senderOf(isSecure ? live : {})
      const sending = sender.send(receiver.url.replace('127.0.0.1', 'localhost'), post)
      const response = await received.promise
      await vi.advanceTimersByTimeAsync(14_999)
      response.end()
      expect(await sending).toMatchObject({ status: 200 })
      const nowhere = `${isSecure ? 'https' : 'http'}://localhost:1/`
      expect(await sender.send(nowhere, post)).toMatchObject({ error: { kind: 'connect' } })
      expect(vi.getTimerCount()).toBe(0)
    },
  )

  test('that are reset before their first response count as a failed attempt', async () => {
    let connections = 0
    const url = await startRaw((socket) => {
      connections++
      socket.resetAndDestroy()
    })
    expect(await senderOf().send(url, post)).toMatchObject({ error: { kind: 'reset' } })
    expect(connections).toBe(1)
  })

  test('are kept open up to a maximum number', async () => {
    const receiver = await startReceiver()
    const names = Array.from({ length: maxIdleSockets + 40 }, (_, index) => `n${index}.test`)
    const lookUp = fakeLookup(Object.fromEntries(names.map((name) => [name, [['127.0.0.1']]])))
    const sender = senderOf({ lookUp })
    for (const name of names) await sender.send(`http://${name}:${receiver.port}/`, post)
    expect(receiver.connections()).toBe(names.length)
    // Kept connections are reused, the others are opened again.
    for (const name of names) await sender.send(`http://${name}:${receiver.port}/`, post)
    expect(receiver.connections()).toBe(names.length + 40)
  })

  test.each([false, true])('are closed when their sender is closed (TLS: %s)', async (isSecure) => {
    const receiver = await startReceiver(undefined, { isSecure })
    const sender = senderOf(isSecure ? live : {})
    const url = receiver.url.replace('127.0.0.1', 'localhost')
    await sender.send(url, post)
    sender.close()
    expect(await sender.send(url, post)).toMatchObject({ status: 200 })
    expect(receiver.connections()).toBe(2)
  })
})
