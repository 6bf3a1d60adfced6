import { expect, test } from 'vitest'
import { attemptDelivery } from '../../../../src/modules/webhooks/dispatcher/attempt.ts'
import type { StoredWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/webhook-endpoint.ts'
import { generateSharedSecret, parseSigner } from '../../../../src/modules/webhooks/transport/standard-webhooks.ts'
import { dueTime, wallTime } from '../../../support/times.ts'
import { sampleEvent } from '../transport/support/events.ts'

const start = Date.parse('2026-03-02T09:00:00.000Z')
const endpoint = { url: 'https://example.com/', format: 'stablestack' } as StoredWebhookEndpoint

/** Attempts an event with a sender that returns a status or fails. */
async function attemptWith(statusOrError: number | Error, { tries = 0, data = '{}' } = {}) {
  const faults: unknown[] = []
  let nowMs = start
  const item = {
    sequence: 7,
    objectId: 'an object',
    message: sampleEvent({ data }),
    attemptsInSchedule: tries,
    storedAttempts: null,
  }
  const send = async () => {
    nowMs += 40
    if (statusOrError instanceof Error) throw statusOrError
    return { status: statusOrError, error: null, durationMs: 40, retryAfter: null, answer: 'ok' }
  }
  const { record: attempted } = await attemptDelivery(item, {
    endpoint,
    sender: { send, close: () => {} },
    signer: parseSigner([generateSharedSecret()]),
    wallClock: () => wallTime(nowMs),
    random: () => 0.5,
    onError: (fault) => faults.push(fault),
  })
  return { attempted, faults }
}

test('the result of an attempt contains its time, its response and the time of the next attempt', async () => {
  const { attempted, faults } = await attemptWith(500)
  expect(attempted).toEqual({
    ...{
      sequence: 7,
      objectId: 'an object',
      happenedAt: sampleEvent().timestamp,
      storedAttempts: null,
      attemptsInSchedule: 0,
    },
    ...{ attemptedAt: '2026-03-02T09:00:00.000Z', durationMs: 40, status: 500, answer: 'ok', error: null },
    ...{ outcome: 'pending', nextAttemptAt: dueTime(start + 40 + 5_000) },
  })
  expect(faults).toEqual([])
})

test.each([
  [200, 0, 'delivered', null],
  [200, 9, 'delivered', null],
  [500, 8, 'pending', expect.anything()],
  [500, 9, 'exhausted', null],
] as const)(
  'a response with status %i after %i earlier attempts makes the delivery %s',
  async (status, tries, outcome, nextAttemptAt) => {
    expect((await attemptWith(status, { tries })).attempted).toMatchObject({ outcome, nextAttemptAt })
  },
)

test.each([
  ['serialized', 200, 'no JSON'],
  ['sent', new Error('no room'), '{}'],
] as const)(
  'an event that cannot be %s counts as a failed attempt, which is retried',
  async (_, statusOrError, data) => {
    const { attempted, faults } = await attemptWith(statusOrError, { data })
    expect(attempted).toMatchObject({
      ...{
        status: null,
        answer: null,
        durationMs: 0,
        error: 'other: The event could not be sent.',
        outcome: 'pending',
      },
    })
    expect(faults.length).toBe(1)
  },
)
