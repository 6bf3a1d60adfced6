import { expect, onTestFinished, test } from 'vitest'
import { createTrustedHttpClient } from '../../../../src/modules/webhooks/transport/http-exchange.ts'
import { certificate } from './support/certificate.ts'
import { startReceiver } from './support/receiver.ts'

const most = 64 * 1024

function callerOf(options: { ca?: string } = {}) {
  const caller = createTrustedHttpClient({ limits: { connectMs: 5_000, wholeMs: 15_000 }, ...options })
  onTestFinished(caller.close)
  return caller
}

const get = { method: 'GET', headers: { 'x-a': '1' }, body: '' } as const

test.each([false, true])('a trusted HTTP client reuses its connection to a service (TLS: %s)', async (isSecure) => {
  const service = await startReceiver((response) => response.end('hello'), { isSecure })
  const { send: exchange } = callerOf({ ca: certificate })
  const url = new URL(service.url.replace('127.0.0.1', 'localhost'))
  for (let calls = 0; calls < 3; calls++) {
    expect(await exchange(url, get)).toEqual({
      status: 200,
      retryAfter: null,
      beginning: Buffer.from('hello'),
      isWhole: true,
    })
  }
  expect(await exchange(url, { method: 'POST', headers: {}, body: '€' })).toMatchObject({ status: 200 })
  expect(await exchange(url, { method: 'POST', headers: {}, body: '' })).toMatchObject({ status: 200 })
  expect(service.connections()).toBe(1)
  expect(service.received.map(({ method, headers }) => [method, headers['content-length']])).toEqual([
    ['GET', undefined],
    ['GET', undefined],
    ['GET', undefined],
    ['POST', '3'],
    ['POST', '0'],
  ])
  expect(service.received[0]?.headers['x-a']).toBe('1')
})

test('a trusted HTTP client trusts only its configured certificates', async () => {
  const service = await startReceiver(undefined, { isSecure: true })
  const url = new URL(service.url.replace('127.0.0.1', 'localhost'))
  expect(await callerOf().send(url, get)).toMatchObject({ kind: 'tls' })
  expect(await callerOf({ ca: certificate }).send(url, get)).toMatchObject({ status: 200 })
})

test.each([
  [most - 1, true, 1],
  [most, true, 1],
  // The caller does not read the rest of a longer body, so it closes the connection.
  [most + 1, false, 2],
])(
  'a trusted HTTP client reads at most 64 KiB, so it reads a response of %i bytes completely: %s',
  async (length, isWhole, connections) => {
    const service = await startReceiver((response) => response.end(Buffer.alloc(length, 'x')))
    const { send: exchange } = callerOf()
    for (let calls = 0; calls < 2; calls++) {
      const response = await exchange(new URL(service.url), get)
      expect(response).toMatchObject({ status: 200, isWhole })
      expect('beginning' in response && response.beginning.equals(Buffer.alloc(Math.min(length, most), 'x'))).toBe(true)
    }
    expect(service.connections()).toBe(connections)
  },
)

test('a trusted HTTP client retries over a new connection if the service closed the idle connection', async () => {
  const service = await startReceiver(
    (response) => (service.received.length === 2 ? response.socket?.destroy() : response.end()),
    { isSecure: true },
  )
  const { send: exchange } = callerOf({ ca: certificate })
  const url = new URL(service.url.replace('127.0.0.1', 'localhost'))
  for (let calls = 0; calls < 3; calls++) expect(await exchange(url, get)).toMatchObject({ status: 200 })
  expect(service.received.map(({ headers }) => headers.connection)).toEqual([
    'keep-alive',
    'keep-alive',
    'close',
    'keep-alive',
  ])
})
