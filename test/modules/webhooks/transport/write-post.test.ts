import { spawnSync } from 'node:child_process'
import { createHmac, createPublicKey, timingSafeEqual, verify } from 'node:crypto'
import { join } from 'node:path'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { WebhookRequest } from '../../../../src/modules/webhooks/transport/build-request.ts'
import { buildRequest } from '../../../../src/modules/webhooks/transport/build-request.ts'
import type { WebhookFormat } from '../../../../src/modules/webhooks/transport/formats.ts'
import {
  isEventTypeSupported,
  supportedEventTypes,
  webhookFormats,
} from '../../../../src/modules/webhooks/transport/formats.ts'
import {
  generateKeyPair,
  generateSharedSecret,
  parseSigner,
} from '../../../../src/modules/webhooks/transport/standard-webhooks.ts'
import { wallTime } from '../../../support/times.ts'
import { sampleEvent } from './support/events.ts'

const secret = generateSharedSecret()
const earlier = generateSharedSecret()
const pair = generateKeyPair()
const occurredAt = Date.parse(sampleEvent().timestamp)
const day = 24 * 60 * 60 * 1000

/** Generates any JSON object, with keys that parsing reorders and numbers that printing changes. */
const anyData = fc
  .dictionary(
    fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom('1', '10', '2', '__proto__', 'toJSON', 'signature', '\u2028'),
    ),
    fc.oneof(fc.jsonValue(), fc.constantFrom('1.00000000', '\ud800', '\u2028', '</script>', -0, 1e21, 2 ** 53)),
  )
  .chain((object) => fc.constantFrom(JSON.stringify(object), JSON.stringify(object, null, 2)))

const oddData = [
  '{"b":1,"2":1,"1":1,"a":{"10":1,"9":1}}',
  '{"n":1.0,"e":1E2,"big":9007199254740993,"z":-0,"huge":1e400}',
  '{"s":"\\u0041\\/\\ud83d\\ude00\\ud800 \u2028","k":{"__proto__":1}}',
  '{"twice":1,"twice":2}',
  ' { "spaced" : [ ] } ',
]

const write = (
  format: WebhookFormat,
  { data = sampleEvent().data, secrets = [secret], now = occurredAt } = {},
): WebhookRequest => buildRequest(sampleEvent({ data }), { format, signer: parseSigner(secrets), now: wallTime(now) })

/**
 * The provider's sample for integrators, reimplemented from its documentation: it takes the
 * signature out of the parsed body, serializes the rest, and rejects a message older than five minutes.
 */
function providerAccepts(body: string, secretText: string, now: number): boolean {
  const { signature, ...rest } = JSON.parse(body)
  const [, t = '', s = ''] = /^t=(\d+),s=([0-9a-f]{64})$/.exec(signature) ?? []
  if (t === '' || Math.abs(now - Number(t)) > 5 * 60 * 1000) return false
  const expected = createHmac('sha256', secretText)
    .update(`${t}.${JSON.stringify(rest)}`)
    .digest()
  return timingSafeEqual(expected, Buffer.from(s, 'hex'))
}

/** Verifies with the Standard Webhooks library at the time of an attempt. */
function libraryAccepts({ body, headers }: WebhookRequest, secretText: string, now: number): boolean {
  vi.setSystemTime(now)
  try {
    new Webhook(secretText).verify(body, { ...headers })
    return true
  } catch {
    return false
  }
}

function publicKeyAccepts({ body, headers }: WebhookRequest, publicKey: string): boolean {
  const x = Buffer.from(publicKey.replace('whpk_', ''), 'base64').toString('base64url')
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' })
  const content = Buffer.from(`${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`)
  const signatures = (headers['webhook-signature'] ?? '').split(' ').filter((each) => each.startsWith('v1a,'))
  return signatures.some((each) => verify(null, content, key, Buffer.from(each.slice(4), 'base64')))
}

// Fakes only the clock that the library reads.
beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('webhook bodies', () => {
  test('of the format `standard` are the envelope with the unchanged JSON text of the object', () => {
    const [data = ''] = oddData
    expect(write('standard', { data }).body).toBe(
      `{"id":"evt_01980c61-0a1b-7c2d-8e3f-405162738495","type":"payout.completed","timestamp":"2026-11-21T10:00:00.000Z","sequence":1234,"object":{"type":"payout","id":"01980c61-0a1b-7c2d-8e3f-405162738490","version":2},"mode":"sandbox","data":${data}}`,
    )
  })

  test('of the format `thin` are the envelope without the object', () => {
    const { data: _, ...rest } = JSON.parse(write('standard').body)
    expect(write('thin').body).toBe(JSON.stringify(rest))
  })

  test('of the format `stablestack` match the provider’s format and contain the time of the attempt', () => {
    const sentAt = occurredAt + 3 * day
    const body = JSON.parse(write('stablestack', { now: sentAt }).body)
    expect(Object.keys(body)).toEqual(['id', 'timestamp', 'event_type', 'signature', 'data'])
    expect(body).toMatchObject({
      id: sampleEvent().id,
      timestamp: sentAt,
      event_type: 'payout.completed',
      signature: expect.stringMatching(new RegExp(`^t=${sentAt},s=[0-9a-f]{64}$`)),
      data: JSON.parse(sampleEvent().data),
    })
  })

  test('contain the event, whatever data the event has', () => {
    fc.assert(
      fc.property(anyData, (data) => {
        expect(JSON.parse(write('standard', { data }).body).data).toEqual(JSON.parse(data))
        expect(JSON.parse(write('thin', { data }).body)).not.toHaveProperty('data')
        expect(JSON.parse(write('stablestack', { data }).body).data).toEqual(JSON.parse(data))
      }),
    )
  })
})

describe('webhook headers', () => {
  test('contain the id and the time of the attempt in seconds, but no part of the secret', () => {
    const { headers } = write('standard', { now: occurredAt + 1_999 })
    expect(headers).toEqual({
      'content-type': 'application/json',
      'user-agent': 'payout-gateway',
      'webhook-id': sampleEvent().id,
      'webhook-timestamp': String(occurredAt / 1000 + 1),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    })
  })

  test.each(webhookFormats)(
    'of %s are accepted by the Standard Webhooks library, whatever data the event has',
    (format) => {
      fc.assert(
        fc.property(fc.oneof(anyData, fc.constantFrom(...oddData)), (data) => {
          expect(libraryAccepts(write(format, { data }), secret, occurredAt)).toBe(true)
        }),
      )
    },
  )

  test.each(webhookFormats)('of %s are accepted at each attempt, even days later', (format) => {
    for (const sentAt of [occurredAt, occurredAt + 5_000, occurredAt + 3 * day + 1, occurredAt + 4 * day]) {
      expect(libraryAccepts(write(format, { now: sentAt }), secret, sentAt)).toBe(true)
      // A signature by the event's time, or a replayed attempt, would be rejected.
      expect(libraryAccepts(write(format, { now: sentAt }), secret, sentAt + 6 * 60 * 1000)).toBe(false)
    }
  })

  test('during a rotation have a signature by each valid secret', () => {
    const post = write('standard', { secrets: [secret, earlier] })
    expect(post.headers['webhook-signature']?.split(' ')).toHaveLength(2)
    expect(libraryAccepts(post, secret, occurredAt)).toBe(true)
    expect(libraryAccepts(post, earlier, occurredAt)).toBe(true)
    expect(libraryAccepts(post, generateSharedSecret(), occurredAt)).toBe(false)
    expect(libraryAccepts(write('standard'), earlier, occurredAt)).toBe(false)
  })

  test('have a v1a signature in addition to v1 if the endpoint has a key pair', () => {
    const rotated = generateKeyPair()
    const post = write('thin', { secrets: [secret, pair.privateKey, earlier, rotated.privateKey] })
    expect(post.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+ v1a,\S+ v1a,\S+$/)
    expect(publicKeyAccepts(post, pair.publicKey)).toBe(true)
    expect(publicKeyAccepts(post, rotated.publicKey)).toBe(true)
    expect(publicKeyAccepts(post, generateKeyPair().publicKey)).toBe(false)
    expect(libraryAccepts(post, secret, occurredAt)).toBe(true)
  })

  test.each(webhookFormats)(
    'of %s have signatures that cover every byte of the body, the id and the time',
    (format) => {
      const { body, headers } = write(format, { secrets: [secret, pair.privateKey] })
      const isAccepted = (post: WebhookRequest) => [
        libraryAccepts(post, secret, occurredAt),
        publicKeyAccepts(post, pair.publicKey),
      ]
      expect(isAccepted({ body, headers })).toEqual([true, true])
      for (let at = 0; at < body.length; at++) {
        const tampered = `${body.slice(0, at)}${body[at] === '0' ? '1' : '0'}${body.slice(at + 1)}`
        expect(isAccepted({ body: tampered, headers })).toEqual([false, false])
      }
      for (const change of [{ 'webhook-id': 'evt_other' }, { 'webhook-timestamp': String(occurredAt / 1000 + 1) }]) {
        expect(isAccepted({ body, headers: { ...headers, ...change } })).toEqual([false, false])
      }
    },
  )
})

describe('the provider’s sample code for verification', () => {
  const accepts = ({ body }: WebhookRequest, now: number) => providerAccepts(body, secret, now)

  test('accepts the first attempt and attempts days later, and rejects a replayed attempt', () => {
    for (const sentAt of [occurredAt, occurredAt + 5_000, occurredAt + 3 * day, occurredAt + 4 * day + 999]) {
      expect(accepts(write('stablestack', { now: sentAt }), sentAt)).toBe(true)
      expect(accepts(write('stablestack', { now: sentAt }), sentAt + 5 * 60 * 1000 + 1)).toBe(false)
    }
  })

  test('accepts a message with any data', () => {
    fc.assert(fc.property(anyData, (data) => accepts(write('stablestack', { data }), occurredAt)))
  })

  test.each(oddData)('accepts a message with the data %j', (data) => {
    expect(accepts(write('stablestack', { data }), occurredAt)).toBe(true)
  })

  test('accepts a message during a rotation only with the newest secret', () => {
    const { body } = write('stablestack', { secrets: [secret, earlier] })
    expect(providerAccepts(body, secret, occurredAt)).toBe(true)
    expect(providerAccepts(body, earlier, occurredAt)).toBe(false)
  })

  test('rejects a message with changed data, type, signature or time', () => {
    const { body } = write('stablestack')
    for (const other of [
      body.replace('40.0', '41.0'),
      body.replace('completed', 'failed'),
      body.replace(/s=./, (found) => (found === 's=0' ? 's=1' : 's=0')),
      body.replace(`"timestamp":${occurredAt}`, `"timestamp":${occurredAt + 1}`),
    ]) {
      expect(other).not.toBe(body)
      expect(providerAccepts(other, secret, occurredAt)).toBe(false)
    }
  })
})

const hasPython = spawnSync('python3', ['--version']).status === 0

test.skipIf(!hasPython)(
  `python's standard library verifies messages of this service and rejects changed messages${hasPython ? '' : ': python3 IS MISSING'}`,
  () => {
    const posts = webhookFormats.flatMap((format) =>
      [sampleEvent().data, ...oddData].map((data) =>
        write(format, { data, secrets: [secret, earlier, pair.privateKey] }),
      ),
    )
    const requests = posts.flatMap(({ body, headers }) => [
      { secret, headers, body, now: occurredAt / 1000 },
      { secret: earlier, headers, body, now: occurredAt / 1000 + 299 },
      { secret, headers, body, now: occurredAt / 1000 + 301 },
      { secret, headers, body: body.replace('payout.completed', 'payout.failed'), now: occurredAt / 1000 },
      { secret: generateSharedSecret(), headers, body, now: occurredAt / 1000 },
    ])
    const input = requests
      .map((each) => JSON.stringify({ ...each, body: Buffer.from(each.body).toString('base64') }))
      .join('\n')
    const { stdout, stderr } = spawnSync('python3', [join(import.meta.dirname, 'support/verify.py')], { input })

    expect(stderr.toString()).toBe('')
    expect(stdout.toString().trim().split('\n')).toEqual(
      posts.flatMap(() => ['accepted payout.completed', 'accepted payout.completed', 'refused', 'refused', 'refused']),
    )
  },
)

describe('the webhook event types', () => {
  test('of the formats `standard` and `thin` are all event types', () => {
    for (const format of ['standard', 'thin'] as const) {
      expect(supportedEventTypes(format)).toBeNull()
      expect(isEventTypeSupported(format, 'payout_method.deleted')).toBe(true)
    }
  })

  // Ruling 61.
  test('of the format `stablestack` are the provider’s event types and the test event', () => {
    for (const type of ['payout.initiated', 'payout.completed', 'payout.failed', 'webhook.test'])
      expect(isEventTypeSupported('stablestack', type)).toBe(true)
    for (const type of ['wallet.transaction.inbound', 'wallet.transaction.outbound'])
      expect(isEventTypeSupported('stablestack', type)).toBe(true)
    for (const type of ['payout.returned', 'customer.created', 'wallet.created', 'webhook_endpoint.disabled'])
      expect(isEventTypeSupported('stablestack', type)).toBe(false)
  })
})
