import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import fastify from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sendText } from '../../src/server/http/response-flush.ts'

/**
 * Short and long texts, of characters of one to four bytes; and texts at the size limit for sending them
 * together with the headers.
 */
const texts = {
  nothing: '',
  short: 'Ọlá 😀',
  ascii: 'abc "1" '.repeat(2_000),
  latin: 'Adé '.repeat(2_000),
  wide: 'Ọlá '.repeat(2_000),
  astral: '😀'.repeat(2_000),
  together: 'a'.repeat(4_096),
  apart: 'a'.repeat(4_097),
} as const
const names = Object.keys(texts) as (keyof typeof texts)[]

const app = fastify()
app.get<{ Params: { name: keyof typeof texts } }>('/:name', (request, reply) => {
  reply.header('x-name', request.params.name)
  sendText(reply, { status: 200, type: 'text/plain; charset=utf-8', text: texts[request.params.name] }, setImmediate)
})

beforeAll(async () => void (await app.listen({ host: '127.0.0.1', port: 0 })))
afterAll(() => app.close())

const port = () => (app.server.address() as AddressInfo).port

test.each(names)(
  'sendText sends the text "%s" unchanged, with its length and the headers of the reply',
  async (name) => {
    const response = await fetch(`http://127.0.0.1:${port()}/${name}`)
    expect(await response.text()).toBe(texts[name])
    expect(response.headers.get('content-length')).toBe(String(Buffer.byteLength(texts[name])))
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(response.headers.get('x-name')).toBe(name)
  },
)

/** The bytes of one connection for pipelined requests. */
function sendAll(method: string): Promise<string> {
  const socket = connect(port(), '127.0.0.1')
  const heads = names.map((name, place) => {
    const isLast = place === names.length - 1
    return `${method} /${name} HTTP/1.1\r\nHost: a\r\n${isLast ? 'Connection: close\r\n' : ''}\r\n`
  })
  socket.write(heads.join(''))
  return textOf(socket)
}

test('sendText sends the responses to pipelined requests in order, each with the headers of its reply', async () => {
  let rest = Buffer.from(await sendAll('GET'))
  for (const name of names) {
    const end = rest.indexOf('\r\n\r\n') + 4
    const head = rest.subarray(0, end).toString()
    expect(head).toMatch(new RegExp(`^HTTP/1.1 200 OK\r\nx-name: ${name}\r\n`))
    const length = Buffer.byteLength(texts[name])
    expect(rest.subarray(end, end + length).toString()).toBe(texts[name])
    rest = rest.subarray(end + length)
  }
  expect(rest).toHaveLength(0)
})

test('sendText responds to a HEAD request with the length of the text and without the text', async () => {
  const heads = (await sendAll('HEAD')).split('\r\n\r\n').slice(0, -1)
  expect(heads.map((head) => Number(/content-length: (\d+)/.exec(head)?.[1]))).toEqual(
    names.map((name) => Buffer.byteLength(texts[name])),
  )
})
