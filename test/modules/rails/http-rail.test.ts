import { createHmac } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { createHttpRail } from '../../../src/modules/rails/adapters/http-rail.ts'
import type { ReportRequest } from '../../../src/modules/rails/adapters/rail.ts'
import { generateSharedSecret } from '../../../src/modules/webhooks/transport/signing-secrets.ts'
import { wallTime } from '../../support/times.ts'
import { startReceiver } from '../webhooks/transport/support/receiver.ts'
import { sampleOrder } from './support/orders.ts'

const order = sampleOrder()
const secret = generateSharedSecret()
const now = Date.parse('2026-11-23T10:00:00.000Z')
const limits = { connectMs: 5_000, wholeMs: 30_000 }

type Reply = (response: ServerResponse) => unknown

/** A rail to a bank that answers so. */
async function railTo(reply: Reply, change: Partial<Parameters<typeof createHttpRail>[0]> = {}) {
  const bank = await startReceiver(reply)
  const url = `http://127.0.0.1:${bank.port}/v1`
  const rail = createHttpRail({
    name: 'bank',
    url,
    secrets: [secret],
    wallClock: () => wallTime(now),
    limits,
    ...change,
  })
  return { rail, bank, cancel: async () => rail.cancel?.(order) }
}

const says =
  (status: number, said: unknown): Reply =>
  (response) =>
    response.writeHead(status).end(typeof said === 'string' || Buffer.isBuffer(said) ? said : JSON.stringify(said))

const nothing = { reference: null, code: null, at: null }

function signature(key: string, id: string, body: string, seconds = now / 1000): string {
  const hash = createHmac('sha256', Buffer.from(key.replace('whsec_', ''), 'base64'))
  return `v1,${hash.update(`${id}.${seconds}.${body}`).digest('base64')}`
}

describe('a bank is asked', () => {
  test('to pay, by all of the order, signed and under its id', async () => {
    const { rail, bank } = await railTo(says(201, { state: 'ACCEPTED' }))
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
      'webhook-timestamp': String(now / 1000),
      'webhook-signature': signature(secret, id, body),
    })
  })

  test('the same in the same bytes, however often and whenever', async () => {
    const { rail, bank } = await railTo(says(200, { state: 'ACCEPTED' }))
    await rail.submit(order)
    await rail.submit({ ...order, attempts: 7, now: now + 86_400_000, submittedAt: '2026-11-24T10:00:00.000Z' })
    expect(bank.received[1]?.body).toBe(bank.received[0]?.body)
  })

  test('what became of it, and to take it back, by requests that are signed for just that', async () => {
    const { rail, bank, cancel } = await railTo(says(200, { id: order.id, state: 'CANCELLED' }))
    await rail.find(order).catch(() => {})
    await cancel()
    expect(bank.received.map(({ method, url, body }) => [method, url, body])).toEqual([
      ['GET', `/v1/transfers/${order.id}`, ''],
      ['POST', `/v1/transfers/${order.id}/cancel`, ''],
    ])
    const signed = [`find_${order.id}`, `cancel_${order.id}`]
    expect(bank.received.map(({ headers }) => headers['webhook-id'])).toEqual(signed)
    expect(bank.received.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, undefined])
    expect(bank.received.map(({ headers }) => headers['webhook-signature'])).toEqual(
      signed.map((id) => signature(secret, id, '')),
    )
  })

  test('with a signature by each secret of a rotation, the newest first', async () => {
    const older = generateSharedSecret()
    const { rail, bank } = await railTo(says(404, ''), { secrets: [secret, older] })
    expect(await rail.find(order)).toBe('NOT_FOUND')
    const id = `find_${order.id}`
    expect(bank.received[0]?.headers['webhook-signature']).toBe(
      `${signature(secret, id, '')} ${signature(older, id, '')}`,
    )
  })
})

describe('a definite answer', () => {
  const whole = { state: 'COMPLETED', reference: 'R1', code: 'C1', at: '2026-11-23T11:00:00+01:00', id: order.id }
  const read = { state: 'COMPLETED', reference: 'R1', code: 'C1', at: '2026-11-23T10:00:00.000Z' }

  test.each([200, 201])('of %i is a state, to what was submitted and to what is asked for', async (status) => {
    const { rail } = await railTo(says(status, whole))
    expect(await rail.submit(order)).toEqual(read)
    expect(await rail.find(order)).toEqual(read)
  })

  test.each(['ACCEPTED', 'COMPLETED', 'REJECTED', 'RETURNED'])('may be %s and nothing else', async (state) => {
    const { rail } = await railTo(says(200, { id: order.id, state, more: { of: 'it' } }))
    expect(await rail.submit(order)).toEqual({ ...nothing, state })
  })

  test('is the rejection by 422 of what was submitted', async () => {
    const { rail } = await railTo(says(422, { id: order.id, state: 'REJECTED', code: 'NO_SUCH_ACCOUNT' }))
    expect(await rail.submit(order)).toEqual({ ...nothing, state: 'REJECTED', code: 'NO_SUCH_ACCOUNT' })
    await expect(rail.find(order)).rejects.toThrow('the bank answered with 422')
  })

  test('is 404 to what is asked for, and to nothing else', async () => {
    const { rail, cancel } = await railTo(says(404, { state: 'COMPLETED' }))
    expect(await rail.find(order)).toBe('NOT_FOUND')
    await expect(rail.submit(order)).rejects.toThrow('the bank answered with 404')
    await expect(cancel()).rejects.toThrow('the bank answered with 404')
  })

  test.each([
    [200, 'CANCELLED', true],
    [409, 'TOO_LATE', true],
    [409, 'CANCELLED', false],
    [200, 'TOO_LATE', false],
    [202, 'CANCELLED', false],
  ])('to taking it back is %i with %s: %s', async (status, state, isDefinite) => {
    const { cancel } = await railTo(says(status, { id: order.id, state }))
    if (isDefinite) expect(await cancel()).toBe(state)
    else await expect(cancel()).rejects.toThrow(`the bank answered with ${status}`)
  })

  test('to which a bank gives a text is that text in one line, or is none', async () => {
    const { rail } = await railTo(
      says(200, { id: order.id, state: 'COMPLETED', reference: ' R1 ', code: '', at: null }),
    )
    expect(await rail.find(order)).toEqual({ ...nothing, state: 'COMPLETED', reference: 'R1' })
  })
})

/** One that slips by one on a kept connection is another order's, and nothing else tells. */
describe('an answer that does not name its order', () => {
  const others = [undefined, '01980c61-0a1b-7c2d-8e3f-000000000000', '', order.transactionId]

  test.each([
    ['COMPLETED', 200],
    ['REJECTED', 200],
    ['REJECTED', 422],
    ['RETURNED', 200],
  ])('moves no money: %s by %i is no state without its id, or with another', async (state, status) => {
    for (const id of others) {
      const { rail } = await railTo(says(status, { id, state }))
      const unnamed = `the bank answered with ${status} and no state with the id of this order`
      await expect(rail.submit(order)).rejects.toThrow(unnamed)
      await expect(rail.find(order)).rejects.toThrow(status === 422 ? 'the bank answered with 422' : unnamed)
    }
  })

  test('takes no order back', async () => {
    for (const id of others) {
      const { cancel } = await railTo(says(200, { id, state: 'CANCELLED' }))
      await expect(cancel()).rejects.toThrow('the bank answered with 200 and no state with the id of this order')
    }
  })

  test('may say that it was taken, or is too late to take back: neither moves money', async () => {
    const taken = await railTo(says(201, { state: 'ACCEPTED' }))
    expect(await taken.rail.submit(order)).toEqual({ ...nothing, state: 'ACCEPTED' })
    const late = await railTo(says(409, { state: 'TOO_LATE' }))
    expect(await late.cancel()).toBe('TOO_LATE')
  })
})

describe('nothing is known', () => {
  const unclear = 'the bank answered with 200 and no state with the id of this order'
  test.each<[what: string, status: number, said: unknown, message: string]>([
    ['a fault of the bank', 500, { id: order.id, state: 'REJECTED' }, 'the bank answered with 500'],
    ['an answer of what stands before it', 503, 'try later', 'the bank answered with 503'],
    [
      'a refusal that says no state',
      422,
      { error: 'no' },
      'the bank answered with 422 and no state with the id of this order',
    ],
    [
      'a refusal with another state',
      422,
      { id: order.id, state: 'COMPLETED' },
      'the bank answered with 422 and no state with the id of this order',
    ],
    ['any other refusal', 400, { id: order.id, state: 'REJECTED' }, 'the bank answered with 400'],
    [
      'a conflict',
      409,
      { id: order.id, state: 'REJECTED' },
      'the bank answered with 409 and no state with the id of this order',
    ],
    ['202', 202, { id: order.id, state: 'ACCEPTED' }, 'the bank answered with 202'],
    ['204', 204, '', 'the bank answered with 204'],
    ['a redirect', 307, { id: order.id, state: 'COMPLETED' }, 'the bank answered with 307'],
    ['nothing', 200, '', unclear],
    ['no JSON', 200, '<html>', unclear],
    ['half of it', 200, `{"id":"${order.id}","state":"COMPLETED"`, unclear],
    ['a list', 200, [{ id: order.id, state: 'COMPLETED' }], unclear],
    ['an unknown state', 200, { id: order.id, state: 'PAID' }, unclear],
    ['a state in small letters', 200, { id: order.id, state: 'completed' }, unclear],
    ['no state', 200, { id: order.id, status: 'COMPLETED' }, unclear],
    ['two states', 200, `{"id":"${order.id}","state":"REJECTED","state":"COMPLETED"}`, unclear],
    [
      'bytes that are no UTF-8',
      200,
      Buffer.from(`{"id":"${order.id}","state":"COMPLETED","code":"\xff"}`, 'latin1'),
      unclear,
    ],
    ['the state of another order', 200, { id: sampleOrder().transactionId, state: 'COMPLETED' }, unclear],
    ['a reference too long', 200, { id: order.id, state: 'COMPLETED', reference: 'x'.repeat(256) }, unclear],
    [
      'a reference with control characters',
      200,
      { id: order.id, state: 'COMPLETED', reference: 'a\u001b[2Jb' },
      unclear,
    ],
    ['a reference that is no text', 200, { id: order.id, state: 'COMPLETED', reference: 17 }, unclear],
    ['a time that is none', 200, { id: order.id, state: 'COMPLETED', at: 'yesterday' }, unclear],
    [
      'more than 64 KiB',
      200,
      { id: order.id, state: 'COMPLETED', more: 'x'.repeat(65_536) },
      'the bank answered with 200 and more than 64 KiB',
    ],
  ])('where the answer is %s', async (_, status, said, message) => {
    const { rail } = await railTo(says(status, said))
    await expect(rail.submit(order)).rejects.toMatchObject({ message })
  })

  test('where no answer comes, or not in time', async () => {
    const silent = await railTo(() => {}, { limits: { connectMs: 200, wholeMs: 200 } })
    await expect(silent.rail.submit(order)).rejects.toThrow(
      'the bank did not answer: No whole answer came within 0.2 seconds.',
    )
    const cut = await railTo((response) => {
      response.writeHead(200, { 'content-length': '100' }).write('{"state":"COMPLETED"}')
      setImmediate(() => response.destroy())
    })
    await expect(cut.rail.find(order)).rejects.toThrow(/^the bank did not answer: /)
    const absent = await railTo(() => {}, { url: 'http://127.0.0.1:1' })
    await expect(absent.rail.find(order)).rejects.toThrow(
      'the bank did not answer: No connection could be made (ECONNREFUSED).',
    )
  })

  test('of no order is a redirect followed', async () => {
    const other = await startReceiver(says(200, { state: 'COMPLETED' }))
    const { rail } = await railTo((response) => response.writeHead(302, { location: other.url }).end())
    await expect(rail.find(order)).rejects.toThrow('the bank answered with 302')
    expect(other.received).toEqual([])
  })
})

test('whatever a bank answers is a state that it says, NOT_FOUND by its status, or an error', async () => {
  let said = { status: 200, body: Buffer.alloc(0) }
  const { rail } = await railTo((response) => response.writeHead(said.status).end(said.body))
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
    // What was changed on its way.
    fc.tuple(object, fc.nat(), fc.integer({ min: 0, max: 255 })).map(([value, place, byte]) => {
      const bytes = Buffer.from(JSON.stringify(value))
      bytes[place % bytes.length] = byte
      return bytes
    }),
  )
  const status = fc.oneof(fc.constantFrom(200, 201, 404, 422), fc.integer({ min: 200, max: 599 }))
  await fc.assert(
    fc.asyncProperty(status, body, fc.constantFrom('submit', 'find'), async (status, body, question) => {
      said = { status, body: [204, 205, 304].includes(status) ? Buffer.alloc(0) : body }
      const answer = await rail[question](order).catch((error: Error) => error)
      if (answer instanceof Error) {
        expect(answer.message).toMatch(/^the bank (answered with \d{3}|did not answer)/)
      } else if (answer === 'NOT_FOUND') {
        expect([status, question]).toEqual([404, 'find'])
      } else {
        // What parsing makes of it, which any other reader of JSON would too.
        const read = JSON.parse(body.toString())
        expect(states).toContain(answer.state)
        expect(read.state).toBe(answer.state)
        // Nothing that moves money is taken of an answer that does not name its order.
        expect(answer.state === 'ACCEPTED' ? [undefined, order.id] : [order.id]).toContain(read.id?.toLowerCase())
        expect([200, 201, ...(question === 'submit' && answer.state === 'REJECTED' ? [422] : [])]).toContain(status)
        for (const text of [answer.reference, answer.code]) expect(text ?? '').toMatch(/^[^\p{Cc}]{0,255}$/u)
      }
    }),
    { numRuns: 400 },
  )
})

describe('reports', () => {
  const rail = createHttpRail({
    name: 'bank',
    url: 'http://127.0.0.1:1',
    secrets: [secret],
    wallClock: () => wallTime(now),
  })
  const one = { id: order.id, state: 'COMPLETED', reference: 'R1' }
  const body = JSON.stringify(one)
  const id = 'report_1'

  function posted(headers: ReportRequest['headers'] = {}, sent = body): ReportRequest {
    const signed = {
      'webhook-id': id,
      'webhook-timestamp': String(now / 1000),
      'webhook-signature': signature(secret, id, body),
    }
    return { headers: { ...signed, ...headers }, body: sent, now: wallTime(now) }
  }
  const codeOf = (run: () => unknown) => {
    try {
      run()
    } catch (error) {
      return error instanceof DomainError ? error.code : error
    }
    return null
  }

  test('are known by their signature, and each by its id', () => {
    expect(rail.reports?.verify(posted())).toBe(id)
    const others = `v1,b3RoZXI= v1a,b3RoZXI= ${signature(secret, id, body)}`
    expect(rail.reports?.verify(posted({ 'webhook-signature': others }))).toBe(id)
  })

  test.each([299, -299])('may be of %i seconds ago', (age) => {
    const time = now / 1000 - age
    const headers = { 'webhook-timestamp': String(time), 'webhook-signature': signature(secret, id, body, time) }
    expect(rail.reports?.verify(posted(headers))).toBe(id)
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
    ['of more than five minutes ago', at(now / 1000 - 301)],
    ['of more than five minutes to come', at(now / 1000 + 301)],
    ['of no time', at(Number.NaN)],
    ['with another version of it', { 'webhook-signature': signature(secret, id, body).replace('v1,', 'v2,') }],
    [
      'behind more signatures than anyone has',
      { 'webhook-signature': `${'v1,b3RoZXI= '.repeat(10)}${signature(secret, id, body)}` },
    ],
  ])('are refused that are signed %s', (_, headers) => {
    expect(codeOf(() => rail.reports?.verify(posted(headers)))).toBe('INVALID_TOKEN')
    expect(() => rail.reports?.verify(posted(headers))).toThrow(
      /^The signature is not by the rail's secret, or not of /,
    )
  })

  test('are refused of which a byte was changed', () => {
    fc.assert(
      fc.property(fc.nat(body.length - 1), fc.integer({ min: 32, max: 126 }), (place, code) => {
        const sent = body.slice(0, place) + String.fromCharCode(code) + body.slice(place + 1)
        fc.pre(sent !== body)
        expect(codeOf(() => rail.reports?.verify(posted({}, sent)))).toBe('INVALID_TOKEN')
      }),
    )
  })

  test('are one or up to 100', () => {
    const read = { ...nothing, ...one }
    expect(rail.reports?.read(body)).toEqual([read])
    expect(rail.reports?.read(JSON.stringify({ reports: Array(100).fill(one) }))).toEqual(Array(100).fill(read))
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
    ['state', 'must be one of ACCEPTED, COMPLETED, REJECTED, RETURNED', JSON.stringify({ ...one, state: 'PAID' })],
    ['reports', 'must have a length of at least 1', JSON.stringify({ reports: [] })],
    ['reports', 'must have a length of at most 100', JSON.stringify({ reports: Array(101).fill(one) })],
    ['reports.1.state', 'is required', JSON.stringify({ reports: [one, { id: order.id }] })],
    ['at', 'must be a date and time', JSON.stringify({ ...one, at: 'now' })],
  ])('whose %s can not be read are refused: it %s', (field, message, sent) => {
    let refusal: unknown
    try {
      rail.reports?.read(sent)
    } catch (error) {
      refusal = error
    }
    expect(refusal).toMatchObject({ code: 'INVALID_INPUT', details: { fields: [{ field }] } })
    expect((refusal as DomainError).details.fields?.[0]?.message).toContain(message)
  })

  test('are never what we ourselves have sent, which the same secret has signed', async () => {
    const { rail, bank } = await railTo(says(200, { state: 'ACCEPTED' }))
    await rail.submit(order)
    expect(codeOf(() => rail.reports?.read(bank.received[0]?.body ?? ''))).toBe('INVALID_INPUT')
  })
})

test('a bank by HTTP is given eight orders at a time, half a minute for each, and again for thirty days', () => {
  const url = 'http://127.0.0.1:1'
  expect(createHttpRail({ name: 'bank', url, secrets: [secret], wallClock: () => wallTime(now) })).toMatchObject({
    ...{ name: 'bank', maxConcurrentCalls: 8, callMs: 30_000, idempotentForMs: 30 * 24 * 3_600_000 },
  })
})

test('a secret that is none makes no rail', () => {
  const make = (text: string) =>
    createHttpRail({ name: 'bank', url: 'http://127.0.0.1:1', secrets: [text], wallClock: () => wallTime(now) })
  expect(() => make('whsec_c2VjcmV0')).toThrow(/^((?!c2VjcmV0).)*$/)
})
