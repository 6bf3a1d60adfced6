import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { createHttpRail } from '../../../src/modules/rails/adapters/http-rail.ts'
import type { ReportRequest } from '../../../src/modules/rails/adapters/rail.ts'
import { generateSharedSecret } from '../../../src/modules/webhooks/transport/standard-webhooks.ts'
import { wallTime } from '../../support/times.ts'
import { startReceiver } from '../webhooks/transport/support/receiver.ts'
import { sampleOrder } from './support/orders.ts'

const order = sampleOrder()
const secret = generateSharedSecret()
const nowMs = Date.parse('2026-11-23T10:00:00.000Z')
const limits = { connectMs: 5_000, wholeMs: 30_000 }

type Reply = (response: ServerResponse) => unknown

async function railTo(reply: Reply, change: Partial<Parameters<typeof createHttpRail>[0]> = {}) {
  const bank = await startReceiver(reply)
  const url = `http://127.0.0.1:${bank.port}/v1`
  const rail = createHttpRail({
    name: 'bank',
    url,
    secrets: [secret],
    wallClock: () => wallTime(nowMs),
    limits,
    ...change,
  })
  return { rail, bank, cancel: async () => rail.cancel?.(order) }
}

const replyWith =
  (status: number, content: unknown): Reply =>
  (response) =>
    response
      .writeHead(status)
      .end(typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content))

const noDetails = { reference: null, code: null, at: null }

function signature(key: string, id: string, body: string, seconds = nowMs / 1000): string {
  const hash = createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64'))
  return `v1,${hash.update(`${id}.${seconds}.${body}`).digest('base64')}`
}

describe('a request of an HTTP rail to its bank', () => {
  test('submits all fields of the order, with a signature that covers the id of the order', async () => {
    const { rail, bank } = await railTo(replyWith(201, { state: 'ACCEPTED' }))
    await rail.submit(order)
    const [{ method, url, headers, body } = { headers: {} as IncomingMessage['headers'], body: '' }] = bank.received
    expect([method, url]).toEqual(['POST', '/v1/transfers'])
    expect(JSON.parse(body)).toEqual({
      id: order.id,
      transaction_id: 'ABCD1234',
      amount: '61800.00000000',
      currency: 'NGN',
      country: 'Nigeria',
      transfer_type: 'nip',
      recipient: { name: 'Ada Obi', account_number: '0000014579', bank_name: 'First Bank', bank_code: '011' },
      purpose: 'GIFTS',
      narration: null,
      created_at: '2026-11-23T09:59:00.000Z',
    })
    const id = `submit_${order.id}`
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'idempotency-key': order.id,
      'webhook-id': id,
      'webhook-timestamp': String(nowMs / 1000),
      'webhook-signature': signature(secret, id, body),
    })
  })

  test('is byte-identical for repeated submissions of an order', async () => {
    const { rail, bank } = await railTo(replyWith(200, { state: 'ACCEPTED' }))
    await rail.submit(order)
    await rail.submit({ ...order, attempts: 7, now: nowMs + 86_400_000, submittedAt: '2026-11-24T10:00:00.000Z' })
    expect(bank.received[1]?.body).toBe(bank.received[0]?.body)
  })

  test('to poll or cancel an order has a signature that is valid only for that purpose', async () => {
    const { rail, bank, cancel } = await railTo(replyWith(200, { id: order.id, state: 'CANCELLED' }))
    await rail.find(order).catch(() => {})
    await cancel()
    expect(bank.received.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', `/v1/transfers/${order.id}`, ''],
      ['POST', `/v1/transfers/${order.id}/cancel`, ''],
    ])
    const signedIds = [`find_${order.id}`, `cancel_${order.id}`]
    expect(bank.received.map(({ headers }) => headers['webhook-id'])).toEqual(signedIds)
    expect(bank.received.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, undefined])
    expect(bank.received.map(({ headers }) => headers['webhook-signature'])).toEqual(
      signedIds.map((id) => signature(secret, id, '')),
    )
  })

  test('has a signature by each secret during a rotation, the newest first', async () => {
    const older = generateSharedSecret()
    const { rail, bank } = await railTo(replyWith(404, ''), { secrets: [secret, older] })
    expect(await rail.find(order)).toBe('NOT_FOUND')
    const id = `find_${order.id}`
    expect(bank.received[0]?.headers['webhook-signature']).toBe(
      `${signature(secret, id, '')} ${signature(older, id, '')}`,
    )
  })
})

describe('a definite response of a bank', () => {
  const content = { state: 'COMPLETED', reference: 'R1', code: 'C1', at: '2026-11-23T11:00:00+01:00', id: order.id }
  const parsed = { state: 'COMPLETED', reference: 'R1', code: 'C1', at: '2026-11-23T10:00:00.000Z' }

  test.each([200, 201])('with status %i has a state, for submissions and polls', async (status) => {
    const { rail } = await railTo(replyWith(status, content))
    expect(await rail.submit(order)).toEqual(parsed)
    expect(await rail.find(order)).toEqual(parsed)
  })

  test.each(['ACCEPTED', 'COMPLETED', 'REJECTED', 'RETURNED'])('can have the state %s', async (state) => {
    const { rail } = await railTo(replyWith(200, { id: order.id, state, more: { of: 'it' } }))
    expect(await rail.submit(order)).toEqual({ ...noDetails, state })
  })

  test('with status 422 means REJECTED, but only for submissions', async () => {
    const { rail } = await railTo(replyWith(422, { id: order.id, state: 'REJECTED', code: 'NO_SUCH_ACCOUNT' }))
    expect(await rail.submit(order)).toEqual({ ...noDetails, state: 'REJECTED', code: 'NO_SUCH_ACCOUNT' })
    await expect(rail.find(order)).rejects.toThrow('the bank responded with 422')
  })

  test('with status 404 means NOT_FOUND, but only for polls', async () => {
    const { rail, cancel } = await railTo(replyWith(404, { state: 'COMPLETED' }))
    expect(await rail.find(order)).toBe('NOT_FOUND')
    await expect(rail.submit(order)).rejects.toThrow('the bank responded with 404')
    await expect(cancel()).rejects.toThrow('the bank responded with 404')
  })

  test.each([
    [200, 'CANCELLED', true],
    [409, 'TOO_LATE', true],
    [409, 'CANCELLED', false],
    [200, 'TOO_LATE', false],
    [202, 'CANCELLED', false],
  ])('to a cancellation is accepted with status %i and the state %s: %s', async (status, state, isDefinite) => {
    const { cancel } = await railTo(replyWith(status, { id: order.id, state }))
    if (isDefinite) expect(await cancel()).toBe(state)
    else await expect(cancel()).rejects.toThrow(`the bank responded with ${status}`)
  })

  test('contains trimmed texts, and null instead of empty texts', async () => {
    const { rail } = await railTo(
      replyWith(200, { id: order.id, state: 'COMPLETED', reference: ' R1 ', code: '', at: null }),
    )
    expect(await rail.find(order)).toEqual({ ...noDetails, state: 'COMPLETED', reference: 'R1' })
  })
})

/** A response that is off by one on a kept connection belongs to another order, and only the id shows it. */
describe('a bank response without the id of the order', () => {
  const others = [undefined, '01980c61-0a1b-7c2d-8e3f-000000000000', '', order.transactionId]

  test.each([
    ['COMPLETED', 200],
    ['REJECTED', 200],
    ['REJECTED', 422],
    ['RETURNED', 200],
  ])('with the state %s and status %i is rejected, so it moves no money', async (state, status) => {
    for (const id of others) {
      const { rail } = await railTo(replyWith(status, { id, state }))
      const unnamed = `the bank responded with ${status}, without the id and the state of the order`
      await expect(rail.submit(order)).rejects.toThrow(unnamed)
      await expect(rail.find(order)).rejects.toThrow(status === 422 ? 'the bank responded with 422' : unnamed)
    }
  })

  test('does not cancel an order', async () => {
    for (const id of others) {
      const { cancel } = await railTo(replyWith(200, { id, state: 'CANCELLED' }))
      await expect(cancel()).rejects.toThrow('the bank responded with 200, without the id and the state of the order')
    }
  })

  test('can be ACCEPTED or TOO_LATE, because neither moves money', async () => {
    const accepted = await railTo(replyWith(201, { state: 'ACCEPTED' }))
    expect(await accepted.rail.submit(order)).toEqual({ ...noDetails, state: 'ACCEPTED' })
    const tooLate = await railTo(replyWith(409, { state: 'TOO_LATE' }))
    expect(await tooLate.cancel()).toBe('TOO_LATE')
  })
})

describe('an HTTP rail fails with an unknown outcome', () => {
  const unclearMessage = 'the bank responded with 200, without the id and the state of the order'
  test.each<[what: string, status: number, said: unknown, message: string]>([
    ['a bank’s internal error', 500, { id: order.id, state: 'REJECTED' }, 'the bank responded with 500'],
    ['a proxy’s 503', 503, 'try later', 'the bank responded with 503'],
    [
      'a 422 without a state',
      422,
      { error: 'no' },
      'the bank responded with 422, without the id and the state of the order',
    ],
    [
      'a 422 with another state',
      422,
      { id: order.id, state: 'COMPLETED' },
      'the bank responded with 422, without the id and the state of the order',
    ],
    ['a 400', 400, { id: order.id, state: 'REJECTED' }, 'the bank responded with 400'],
    [
      'a conflict',
      409,
      { id: order.id, state: 'REJECTED' },
      'the bank responded with 409, without the id and the state of the order',
    ],
    ['202', 202, { id: order.id, state: 'ACCEPTED' }, 'the bank responded with 202'],
    ['204', 204, '', 'the bank responded with 204'],
    ['a redirect', 307, { id: order.id, state: 'COMPLETED' }, 'the bank responded with 307'],
    ['empty', 200, '', unclearMessage],
    ['no JSON', 200, '<html>', unclearMessage],
    ['truncated JSON', 200, `{"id":"${order.id}","state":"COMPLETED"`, unclearMessage],
    ['a list', 200, [{ id: order.id, state: 'COMPLETED' }], unclearMessage],
    ['an unknown state', 200, { id: order.id, state: 'PAID' }, unclearMessage],
    ['a lowercase state', 200, { id: order.id, state: 'completed' }, unclearMessage],
    ['no state', 200, { id: order.id, status: 'COMPLETED' }, unclearMessage],
    ['a duplicate state', 200, `{"id":"${order.id}","state":"REJECTED","state":"COMPLETED"}`, unclearMessage],
    [
      'bytes that are not UTF-8',
      200,
      Buffer.from(`{"id":"${order.id}","state":"COMPLETED","code":"\xff"}`, 'latin1'),
      unclearMessage,
    ],
    ['the state of another order', 200, { id: sampleOrder().transactionId, state: 'COMPLETED' }, unclearMessage],
    [
      'a reference that is too long',
      200,
      { id: order.id, state: 'COMPLETED', reference: 'x'.repeat(256) },
      unclearMessage,
    ],
    [
      'a reference with control characters',
      200,
      { id: order.id, state: 'COMPLETED', reference: 'a\u001b[2Jb' },
      unclearMessage,
    ],
    ['a reference that is not a string', 200, { id: order.id, state: 'COMPLETED', reference: 17 }, unclearMessage],
    ['an invalid time', 200, { id: order.id, state: 'COMPLETED', at: 'yesterday' }, unclearMessage],
    [
      'more than 64 KiB',
      200,
      { id: order.id, state: 'COMPLETED', more: 'x'.repeat(65_536) },
      'the bank responded with 200 and more than 64 KiB',
    ],
  ])('if the response is unusable: %s', async (_, status, content, message) => {
    const { rail } = await railTo(replyWith(status, content))
    await expect(rail.submit(order)).rejects.toMatchObject({ message })
  })

  test('if no response arrives in time', async () => {
    const silent = await railTo(() => {}, { limits: { connectMs: 200, wholeMs: 200 } })
    await expect(silent.rail.submit(order)).rejects.toThrow(
      'the bank did not respond: No complete response arrived within 0.2 seconds.',
    )
    const cut = await railTo((response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"state":"COMPLETED"}')
      setImmediate(() => response.destroy())
    })
    await expect(cut.rail.find(order)).rejects.toThrow(/^the bank did not respond: /)
    const absent = await railTo(() => {}, { url: 'http://127.0.0.1:1' })
    await expect(absent.rail.find(order)).rejects.toThrow(
      'the bank did not respond: No connection could be made (ECONNREFUSED).',
    )
  })

  test('if the response is a redirect, which the rail does not follow', async () => {
    const other = await startReceiver(replyWith(200, { state: 'COMPLETED' }))
    const { rail } = await railTo((response) => response.writeHead(302, { location: other.url }).end())
    await expect(rail.find(order)).rejects.toThrow('the bank responded with 302')
    expect(other.received).toEqual([])
  })
})

test('an HTTP rail parses any response as a state of its order, as NOT_FOUND (404) or as an error', async () => {
  let reply = { status: 200, body: Buffer.alloc(0) }
  const { rail } = await railTo((response) => response.writeHead(reply.status).end(reply.body))
  const states = ['ACCEPTED', 'COMPLETED', 'REJECTED', 'RETURNED']
  const object = fc.record(
    {
      state: fc.oneof(fc.constantFrom(...states, 'CANCELLED', 'accepted'), fc.jsonValue()),
      id: fc.oneof(fc.constantFrom(order.id, order.id.toUpperCase()), fc.uuid(), fc.jsonValue()),
      reference: fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()),
      code: fc.jsonValue(),
      at: fc.oneof(fc.date({ noInvalidDate: true }).map(String), fc.jsonValue()),
    },
    { requiredKeys: [] },
  )
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.json().map((text) => Buffer.from(text)),
    object.map((value) => Buffer.from(JSON.stringify(value))),
    fc.tuple(object, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([value, index, byte]) => {
      const bytes = Buffer.from(JSON.stringify(value))
      bytes[index % bytes.length] = byte
      return bytes
    }),
  )
  const status = fc.oneof(fc.constantFrom(200, 201, 404, 422), fc.integer({ min: 200, max: 599 }))
  await fc.assert(
    fc.asyncProperty(status, body, fc.constantFrom('submit', 'find'), async (status, body, question) => {
      reply = { status, body: [204, 205, 304].includes(status) ? Buffer.alloc(0) : body }
      const result = await rail[question](order).catch((error: Error) => error)
      if (result instanceof Error) {
        expect(result.message).toMatch(/^the bank (responded with \d{3}|did not respond)/)
      } else if (result === 'NOT_FOUND') {
        expect([status, question]).toEqual([404, 'find'])
      } else {
        // Any other JSON parser reads the same state.
        const parsed = JSON.parse(body.toString())
        expect(states).toContain(result.state)
        expect(parsed.state).toBe(result.state)
        // A response that moves money must have the order's id.
        expect(result.state === 'ACCEPTED' ? [undefined, order.id] : [order.id]).toContain(parsed.id?.toLowerCase())
        expect([200, 201, ...(question === 'submit' && result.state === 'REJECTED' ? [422] : [])]).toContain(status)
        for (const text of [result.reference, result.code]) expect(text ?? '').toMatch(/^[^\p{Cc}]{0,255}$/u)
      }
    }),
    { numRuns: 400 },
  )
})

describe('the reports endpoint of an HTTP rail', () => {
  const rail = createHttpRail({
    name: 'bank',
    url: 'http://127.0.0.1:1',
    secrets: [secret],
    wallClock: () => wallTime(nowMs),
  })
  const validReport = { id: order.id, state: 'COMPLETED', reference: 'R1' }
  const body = JSON.stringify(validReport)
  const id = 'report_1'

  function signedRequest(headers: ReportRequest['headers'] = {}, sentBody = body): ReportRequest {
    const signedHeaders = {
      'webhook-id': id,
      'webhook-timestamp': String(nowMs / 1000),
      'webhook-signature': signature(secret, id, body),
    }
    return { headers: { ...signedHeaders, ...headers }, body: sentBody, now: wallTime(nowMs) }
  }
  const codeOf = (run: () => unknown) => {
    try {
      run()
    } catch (error) {
      return error instanceof DomainError ? error.code : error
    }
    return null
  }

  test('verifies the signature and returns the id of the message', () => {
    expect(rail.reports?.verify(signedRequest())).toBe(id)
    const others = `v1,b3RoZXI= v1a,b3RoZXI= ${signature(secret, id, body)}`
    expect(rail.reports?.verify(signedRequest({ 'webhook-signature': others }))).toBe(id)
  })

  test.each([299, -299])('accepts a signature that is %i seconds old', (age) => {
    const time = nowMs / 1000 - age
    const headers = { 'webhook-timestamp': String(time), 'webhook-signature': signature(secret, id, body, time) }
    expect(rail.reports?.verify(signedRequest(headers))).toBe(id)
  })

  const at = (time: number) => ({
    'webhook-timestamp': String(time),
    'webhook-signature': signature(secret, id, body, time),
  })
  test.each<[what: string, headers: ReportRequest['headers']]>([
    ['by another secret', { 'webhook-signature': signature(generateSharedSecret(), id, body) }],
    ['under another id', { 'webhook-id': 'report_2' }],
    ['without an id', { 'webhook-id': undefined }],
    ['without a time', { 'webhook-timestamp': undefined }],
    ['without a signature', { 'webhook-signature': undefined }],
    ['by an empty signature', { 'webhook-signature': '' }],
    ['more than five minutes ago', at(nowMs / 1000 - 301)],
    ['more than five minutes ahead', at(nowMs / 1000 + 301)],
    ['at an invalid time', at(Number.NaN)],
    ['with another signature version', { 'webhook-signature': signature(secret, id, body).replace('v1,', 'v2,') }],
    [
      'after ten other signatures',
      { 'webhook-signature': `${'v1,b3RoZXI= '.repeat(10)}${signature(secret, id, body)}` },
    ],
  ])('rejects a request signed %s', (_, headers) => {
    expect(codeOf(() => rail.reports?.verify(signedRequest(headers)))).toBe('INVALID_TOKEN')
    expect(() => rail.reports?.verify(signedRequest(headers))).toThrow(
      /^The signature is not by the rail's secret, or not of /,
    )
  })

  test('rejects a body with one changed byte', () => {
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.integer({ min: 32, max: 126 }), (index, code) => {
        const changedBody = body.slice(0, index) + String.fromCharCode(code) + body.slice(index + 1)
        fc.pre(changedBody !== body)
        expect(codeOf(() => rail.reports?.verify(signedRequest({}, changedBody)))).toBe('INVALID_TOKEN')
      }),
    )
  })

  test('accepts a single report or a list of up to 100', () => {
    const parsed = { ...noDetails, ...validReport }
    expect(rail.reports?.read(body)).toEqual([parsed])
    expect(rail.reports?.read(JSON.stringify({ reports: Array(100).fill(validReport) }))).toEqual(
      Array(100).fill(parsed),
    )
  })

  test.each([
    ['body', 'must be a JSON object without duplicate names', '[]'],
    ...['{', '5', '"text"', 'true', 'null', ''].map((sent) => [
      ...(['body', 'must be a JSON object without duplicate names'] as const),
      sent,
    ]),
    [
      'body',
      'must be a JSON object without duplicate names',
      `{"id":"${order.id}","state":"REJECTED","state":"COMPLETED"}`,
    ],
    ['id', 'is required', JSON.stringify({ state: 'COMPLETED' })],
    [
      'state',
      'must be one of ACCEPTED, COMPLETED, REJECTED, RETURNED',
      JSON.stringify({ ...validReport, state: 'PAID' }),
    ],
    ['reports', 'must have a length of at least 1', JSON.stringify({ reports: [] })],
    ['reports', 'must have a length of at most 100', JSON.stringify({ reports: Array(101).fill(validReport) })],
    ['reports.1.state', 'is required', JSON.stringify({ reports: [validReport, { id: order.id }] })],
    ['at', 'must be a date and time', JSON.stringify({ ...validReport, at: 'now' })],
  ])('rejects reports with an invalid %s, and explains that it %s', (field, message, sentBody) => {
    let error: unknown
    try {
      rail.reports?.read(sentBody)
    } catch (caught) {
      error = caught
    }
    expect(error).toMatchObject({ code: 'INVALID_INPUT', details: { fields: [{ field }] } })
    expect((error as DomainError).details.fields?.[0]?.message).toContain(message)
  })

  test('rejects requests that the rail itself signed if they are sent back as reports', async () => {
    const { rail, bank } = await railTo(replyWith(200, { state: 'ACCEPTED' }))
    await rail.submit(order)
    expect(codeOf(() => rail.reports?.read(bank.received[0]?.body ?? ''))).toBe('INVALID_INPUT')
  })
})

test('an HTTP rail allows eight concurrent calls of 30 seconds each and 30 days of deduplication', () => {
  const url = 'http://127.0.0.1:1'
  expect(createHttpRail({ name: 'bank', url, secrets: [secret], wallClock: () => wallTime(nowMs) })).toMatchObject({
    ...{ name: 'bank', maxConcurrentCalls: 8, callMs: 30_000, idempotentForMs: 30 * 24 * 3_600_000 },
  })
})

test('createHttpRail rejects an invalid secret with an error that does not contain the secret', () => {
  const create = (text: string) =>
    createHttpRail({ name: 'bank', url: 'http://127.0.0.1:1', secrets: [text], wallClock: () => wallTime(nowMs) })
  expect(() => create('whsec_c2VjcmV0')).toThrow(/^((?!c2VjcmV0).)*$/)
})
