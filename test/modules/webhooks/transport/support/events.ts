import type { EventMessage } from '../../../../../src/modules/webhooks/transport/build-request.ts'

/** An event with default values. */
export function sampleEvent(change: Partial<EventMessage> = {}): EventMessage {
  return {
    id: 'evt_01980c61-0a1b-7c2d-8e3f-405162738495',
    type: 'payout.completed',
    timestamp: '2026-11-21T10:00:00.000Z',
    sequence: 1234,
    object: { type: 'payout', id: '01980c61-0a1b-7c2d-8e3f-405162738490', version: 2 },
    mode: 'sandbox',
    data: '{"id":"01980c61-0a1b-7c2d-8e3f-405162738490","amount":"40.00000000"}',
    ...change,
  }
}
