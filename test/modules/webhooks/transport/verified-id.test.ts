import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  createSignedHeaders,
  generateKeyPair,
  generateSharedSecret,
  parseSigner,
  verifySignature,
} from '../../../../src/modules/webhooks/transport/standard-webhooks.ts'
import { wallTime } from '../../../support/times.ts'

const [newest, older] = [generateSharedSecret(), generateSharedSecret()]
const time = Date.parse('2026-11-21T10:00:00.000Z')
const signer = parseSigner([newest, older])
const body = '{"a":1}'
const id = 'msg_1'

/** Returns the result for a message that was changed after it was signed. */
function read(
  change: Partial<Record<string, string | string[] | undefined>> = {},
  { now = time, by = signer, text = body } = {},
) {
  const headers = createSignedHeaders(id, { body, signer: parseSigner([newest]), now: wallTime(time) })
  return verifySignature({ ...headers, ...change }, { body: text, signer: by, now: wallTime(now) })
}

test('a message that was signed with any valid secret is accepted', () => {
  expect(read()).toBe(id)
  expect(read({}, { by: parseSigner([older, newest]) })).toBe(id)
  expect(read({}, { by: parseSigner([older]) })).toBeNull()
})

test.each([
  [299_999, id],
  [300_000, id],
  [300_001, null],
  [-300_000, id],
  [-300_001, null],
])('a message that was signed %i ms earlier is verified as %s', (ageMs, expected) => {
  expect(read({}, { now: time + ageMs })).toBe(expected)
})

test('a message whose body, id or time was changed after signing is rejected', () => {
  expect(read({}, { text: '{"a":2}' })).toBeNull()
  expect(read({ 'webhook-id': 'msg_2' })).toBeNull()
  expect(read({ 'webhook-timestamp': String(time / 1000 + 1) })).toBeNull()
})

test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])(
  'a signed message is rejected unless it has exactly one header %s',
  (name) => {
    expect(read({ [name]: undefined })).toBeNull()
    const headers = createSignedHeaders(id, { body, signer: parseSigner([newest]), now: wallTime(time) })
    expect(read({ [name]: [headers[name as keyof typeof headers]] })).toBeNull()
  },
)

test.each(['', 'a b', 'ü', 'a\n', 'x'.repeat(256)])('a signed message with the id %j is rejected', (odd) => {
  expect(
    verifySignature(createSignedHeaders(odd, { body, signer, now: wallTime(time) }), {
      body,
      signer,
      now: wallTime(time),
    }),
  ).toBeNull()
})

test('a signed message with an id of 255 characters is accepted', () => {
  const long = `${'~!'.repeat(127)}x`
  expect(
    verifySignature(createSignedHeaders(long, { body, signer, now: wallTime(time) }), {
      body,
      signer,
      now: wallTime(time),
    }),
  ).toBe(long)
})

test.each(['x', '', '1e3', '-1', ' 1', '1 ', '9'.repeat(13)])(
  'a signed message with the timestamp %j is rejected',
  (timestamp) => {
    // The time that each of them would be parsed as.
    const signedAtMs = Number(timestamp) * 1000 || 0
    const headers = createSignedHeaders(id, { body, signer, now: wallTime(signedAtMs) })
    expect(
      verifySignature({ ...headers, 'webhook-timestamp': timestamp }, { body, signer, now: wallTime(signedAtMs) }),
    ).toBeNull()
  },
)

test('a valid signature is accepted only if it is among the first ten signatures', () => {
  const { 'webhook-signature': ours } = createSignedHeaders(id, {
    body,
    signer: parseSigner([newest]),
    now: wallTime(time),
  })
  const others = ['v1,x', `v1a,${ours.slice(3)}`, '', `v1,${'A'.repeat(43)}=`]
  expect(read({ 'webhook-signature': [...others, ours].join(' ') })).toBe(id)
  expect(read({ 'webhook-signature': [ours, ...others].join(' ') })).toBe(id)
  expect(read({ 'webhook-signature': others.join(' ') })).toBeNull()
  expect(read({ 'webhook-signature': [...Array(9).fill('v1,x'), ours].join(' ') })).toBe(id)
  expect(read({ 'webhook-signature': [...Array(10).fill('v1,x'), ours].join(' ') })).toBeNull()
})

test('a message with only an asymmetric signature is rejected', () => {
  const signed = createSignedHeaders(id, {
    body,
    signer: parseSigner([newest, generateKeyPair().privateKey]),
    now: wallTime(time),
  })
  const [, asymmetric] = signed['webhook-signature'].split(' ')
  expect(read({ 'webhook-signature': asymmetric })).toBeNull()
})

test('a signed message is accepted with any contents', () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[\x21-\x7e]{1,255}$/),
      fc.string({ unit: 'binary' }),
      fc.nat(2 ** 40),
      (id, body, now) => {
        const signed = { body, signer, now: wallTime(now) }
        expect(verifySignature(createSignedHeaders(id, signed), signed)).toBe(id)
      },
    ),
    { numRuns: 50 },
  )
})
