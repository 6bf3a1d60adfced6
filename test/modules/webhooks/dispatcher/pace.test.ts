import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createConcurrencyLimiter } from '../../../../src/modules/webhooks/dispatcher/endpoint-concurrency.ts'
import type { StoredWebhookEndpoint } from '../../../../src/modules/webhooks/endpoints/webhook-endpoint.ts'
import { judgeResponse } from '../../../../src/modules/webhooks/transport/retry-schedule.ts'
import type { SendResult } from '../../../../src/modules/webhooks/transport/send.ts'
import { wallTime } from '../../../support/times.ts'

type Endpoint = Pick<StoredWebhookEndpoint, 'status' | 'failures'>

const newEndpoint: Endpoint = { status: 'enabled', failures: 0 }

/** Creates the concurrency limiter of an endpoint with a fake clock. */
function startPace(endpoint: Endpoint = newEndpoint) {
  let time = 10_000
  const monotonic = vi.spyOn(performance, 'now').mockImplementation(() => time)
  onTestFinished(() => monotonic.mockRestore())
  const pace = createConcurrencyLimiter(endpoint as StoredWebhookEndpoint, { wallClock: () => wallTime(0) })
  return {
    ...pace,
    pass: (ms: number) => {
      time += ms
    },
    /** Returns the maximum number of concurrent attempts. */
    most: () => [0, 1, 2, 3, 4, 5].find((inFlight) => !pace.hasCapacity(inFlight)),
    respond: (
      status: number | null,
      { durationMs = 1, retryAfter = null, times = 1 }: Partial<SendResult & { times: number }> = {},
    ) => {
      const sent: SendResult = { status, durationMs, retryAfter, error: null, answer: null }
      for (let responseCount = 0; responseCount < times; responseCount++) pace.recordResult(judgeResponse(status), sent)
    },
  }
}

describe('a webhook endpoint gets', () => {
  test('at most two concurrent attempts until its first success, and at most four afterwards', () => {
    const { most, respond } = startPace()
    expect(most()).toBe(2)
    respond(500)
    expect(most()).toBe(2)
    respond(200)
    expect(most()).toBe(4)
    respond(500)
    expect(most()).toBe(4)
  })

  test('after twenty consecutive failures one attempt at a time, a second after each failure, until a success', () => {
    const { most, respond, pass } = startPace()
    respond(500, { times: 19 })
    expect(most()).toBe(2)
    for (let failures = 0; failures < 2; failures++) {
      respond(500)
      pass(999)
      expect(most()).toBe(0)
      pass(1)
      expect(most()).toBe(1)
    }
    respond(200)
    expect(most()).toBe(4)
  })

  test('one attempt at a time if twenty consecutive failures are stored', () => {
    expect([19, 20].map((failures) => startPace({ status: 'enabled', failures }).most())).toEqual([2, 1])
  })

  test('one attempt as a probe if it is disabled', () => {
    const { most, respond } = startPace({ status: 'disabled', failures: 0 })
    respond(200)
    expect(most()).toBe(1)
  })

  test.each([429, 502, 504])('one attempt at a time after status %i, until a success', (status) => {
    const { most, respond } = startPace()
    respond(200)
    respond(status)
    expect(most()).toBe(1)
    respond(500)
    expect(most()).toBe(1)
    respond(200)
    expect(most()).toBe(4)
  })
})

describe('the pause that a webhook endpoint requests', () => {
  test.each([
    [429, '5', 5_000],
    [429, '60', 60_000],
    [429, '61', 60_000],
    [429, null, 0],
    // This status does not concern the whole endpoint.
    [500, '5', 0],
  ])('by status %i and Retry-After %s lasts %i ms', (status, retryAfter, restMs) => {
    const { most, respond, pass } = startPace()
    respond(status, { retryAfter })
    if (restMs > 0) {
      pass(restMs - 1)
      expect(most()).toBe(0)
      pass(1)
    }
    expect(most()).toBeGreaterThan(0)
  })

  test('does not shorten the pause after many failures', () => {
    const { most, respond, pass } = startPace()
    respond(500, { times: 19 })
    respond(429, { retryAfter: '0' })
    pass(999)
    expect(most()).toBe(0)
    respond(429, { retryAfter: '3' })
    pass(1_000)
    expect(most()).toBe(0)
  })
})

test('a webhook endpoint is unhealthy until it has responded quickly, and after each failure', () => {
  const { isUnhealthy: isDoubtful, respond } = startPace()
  const afterAnswer = (status: number | null, durationMs = 1) => {
    respond(status, { durationMs })
    return isDoubtful()
  }
  expect(isDoubtful()).toBe(true)
  expect(afterAnswer(500)).toBe(true)
  expect(afterAnswer(200)).toBe(false)
  expect(afterAnswer(200, 1_000)).toBe(true)
  expect(afterAnswer(200, 999)).toBe(false)
  expect(afterAnswer(null)).toBe(true)
  expect(startPace({ status: 'enabled', failures: 1 }).isUnhealthy()).toBe(true)
})
