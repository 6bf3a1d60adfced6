import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createUuidV7Generator } from '../../../src/core/ids-and-clock.ts'
import { eventId, maxEventSequence, sequenceOfEventId } from '../../../src/modules/outbox/event.ts'

const uuidV7 = /^evt_[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
const newId = createUuidV7Generator()

const events = fc.record({
  merchantId: fc.constant(null).map(() => newId(Date.now())),
  // Within the time range of UUIDv7 and the range of stored sequence numbers.
  time: fc.bigInt({ min: 0n, max: 2n ** 48n - 1n }),
  sequence: fc.integer({ min: 1, max: maxEventSequence }),
})

test('ruling 55: an event id is a deterministic UUIDv7 of the event’s time and contains its sequence number', () => {
  fc.assert(
    fc.property(events, (event) => {
      const id = eventId(event)
      expect(id).toMatch(uuidV7)
      expect(eventId({ ...event })).toBe(id)
      expect(sequenceOfEventId(id)).toBe(event.sequence)
      expect(BigInt(`0x${id.slice(4).replaceAll('-', '').slice(0, 12)}`)).toBe(event.time)
    }),
  )
})

test('two events with the same time have different ids, whether they have the same merchant or not', () => {
  fc.assert(
    fc.property(events, events, (one, other) => {
      fc.pre(one.sequence !== other.sequence)
      expect(eventId({ ...one, sequence: other.sequence })).not.toBe(eventId(one))
      expect(eventId({ ...one, merchantId: other.merchantId })).not.toBe(eventId(one))
    }),
  )
})

test.each([
  '',
  'evt_',
  '01980c60-1f2e-7d3c-8b4a-5a00000004d2',
  'evt_01980c60-1f2e-4d3c-8b4a-5a00000004d2',
  'evt_01980c60-1f2e-7d3c-cb4a-5a00000004d2',
  'evt_01980C60-1F2E-7D3C-8B4A-5A00000004D2',
  ' evt_01980c60-1f2e-7d3c-8b4a-5a00000004d2',
  eventId({ merchantId: newId(0), time: 0n, sequence: maxEventSequence + 1 }),
])('sequenceOfEventId returns null for %j', (text) => {
  expect(sequenceOfEventId(text)).toBeNull()
})
