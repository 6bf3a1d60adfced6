// The poll schedule of rail orders. It runs in live mode, because the sandbox can advance its clock.
import { describe, expect, test } from 'vitest'
import { unavailableDatabase } from '../../../src/database/database.ts'
import type { RailOrder } from '../../../src/modules/rail-orders/rail-order.ts'
import { cancelPayout } from '../../../src/modules/rails/orders/cancel-payout.ts'
import { beginCall, canBeSubmitted } from '../../../src/modules/rails/orders/claim-order.ts'
import { maxPollWaits, nextPollAt, scheduleImmediatePolls } from '../../../src/modules/rails/orders/poll-schedule.ts'
import { executeCall, processOrder } from '../../../src/modules/rails/orders/process-order.ts'
import { setRoute } from '../../../src/modules/rails/orders/rail-routes.ts'
import { followReport } from '../../../src/modules/rails/orders/receive-reports.ts'
import type { RailCallResult } from '../../../src/modules/rails/orders/record-response.ts'
import { recordResponse } from '../../../src/modules/rails/orders/record-response.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import type { Setup } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { setAddressKey } from '../../support/modes.ts'
import { dueTime, wallTime } from '../../support/times.ts'
import { absentId } from '../payouts/payout-places.ts'
import { createBank } from './support/bank.ts'
import { createRailPayout, makeDueCall, railOrderOf, recordReport } from './support/rail-payouts.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const delays = [10 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, 24 * hour, 24 * hour]

async function startWithOrder(setup: Setup) {
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp(setup, { mode: 'live', clock: () => nowMs })
  await setAddressKey(app)
  await app.wallet({ network: 'erc20', balance: '100' })
  await setRoute(app.service, { rail: 'bank' })
  const context = app.context()
  const { id, referenceId: orderId } = await createRailPayout(context)
  return {
    context,
    id,
    orderId,
    respond: (result: RailCallResult) => makeDueCall(context, id, result),
    transfer: () => railOrderOf(context, id),
    dueIn: async () => {
      const { dueAt } = await railOrderOf(context, id)
      return dueAt === null ? null : Number(dueAt) - nowMs
    },
    wait: (ms: number) => {
      nowMs += ms
    },
  }
}

describe.each(everyEngine)('the poll schedule of a rail order on %s', (engine) => {
  test.each<[what: string, first: RailCallResult, later: RailCallResult]>([
    ['does not respond', { failure: 'it is down' }, { failure: 'it is down' }],
    ['has accepted an order', { state: 'ACCEPTED' }, { state: 'ACCEPTED' }],
    ['has accepted an order and then does not respond', { state: 'ACCEPTED' }, { failure: 'it is down' }],
  ])('backs off while the bank %s, and never polls early', async (_, first, later) => {
    const { respond, dueIn, transfer, wait } = await startWithOrder(engine)
    expect(await respond(first)).toBe('submit')
    const { state, history } = await transfer()
    for (const delay of delays) {
      expect(await dueIn()).toBe(delay)
      wait(delay - 1)
      expect(await respond(later)).toBe(null)
      wait(1)
      expect(await respond(later)).toBe('find')
    }
    // An unchanged state adds no history entry.
    expect(await transfer()).toMatchObject({ state, history })
  })

  test('restarts when the bank accepts the order', async () => {
    const { respond, dueIn, wait } = await startWithOrder(engine)
    for (const delay of delays) {
      await respond({ failure: 'it is down' })
      wait(delay)
    }
    await respond({ state: 'ACCEPTED' })
    expect(await dueIn()).toBe(10 * second)
  })

  test('uses the delay nextAfterMs that the bank requests, and ends at a final state without nextAfterMs', async () => {
    const { respond, dueIn, wait } = await startWithOrder(engine)
    await respond({ state: 'ACCEPTED', nextAfterMs: 77 })
    expect(await dueIn()).toBe(77)
    wait(77)
    await respond({ state: 'ACCEPTED' })
    expect(await dueIn()).toBe(10 * second)
    wait(10 * second)
    await respond({ state: 'COMPLETED', nextAfterMs: 99 })
    expect(await dueIn()).toBe(99)
    wait(99)
    await respond({ state: 'COMPLETED' })
    expect(await dueIn()).toBe(null)
  })

  test('ends for an order on the attention queue, even if the bank requests a delay nextAfterMs', async () => {
    const { respond, dueIn, transfer, wait } = await startWithOrder(engine)
    await respond({ state: 'COMPLETED', nextAfterMs: 77 })
    wait(77)
    await respond({ state: 'REJECTED', nextAfterMs: 77 })
    expect([(await transfer()).state, await dueIn()]).toEqual(['ATTENTION', null])
  })

  test('keeps the time of the first submission when the order is submitted again', async () => {
    const { respond, transfer, wait } = await startWithOrder(engine)
    await respond({ failure: 'it is down' })
    const submittedAt = '2026-03-01T12:00:00.000Z'
    expect(await transfer()).toMatchObject({ attempts: 1, submittedAt })
    wait(10 * second)
    await respond('NOT_FOUND')
    wait(minute)
    expect(await respond({ failure: 'it is down' })).toBe('submit')
    expect(await transfer()).toMatchObject({ attempts: 2, submittedAt })
  })

  test('is not delayed by the bank’s own reports', async () => {
    const { context, id, orderId, respond, dueIn, wait } = await startWithOrder(engine)
    await respond({ state: 'ACCEPTED' })
    wait(4 * second)
    await recordReport(context, id, { state: 'ACCEPTED', nextAfterMs: hour })
    await followReport(context, { orderId, report: { state: 'ACCEPTED', nextAfterMs: hour } })
    await followReport(context, { orderId: absentId, report: { state: 'COMPLETED' } })
    expect(await dueIn()).toBe(6 * second)
  })

  test('alternates between cancelling and polling a payout that is being cancelled', async () => {
    const { context, id, respond, dueIn, transfer, wait } = await startWithOrder(engine)
    await respond({ state: 'ACCEPTED' })
    await cancelPayout(context, { payoutId: id })
    expect(await dueIn()).toBe(0)
    const calls: (string | null)[] = []
    for (const delay of delays.slice(0, 4)) {
      calls.push(await respond({ failure: 'it is down' }))
      // Repeating the cancellation does not bring the next call forward.
      await cancelPayout(context, { payoutId: id })
      expect(await dueIn()).toBe(delay)
      wait(delay)
    }
    expect(calls).toEqual(['cancel', 'find', 'cancel', 'find'])
    expect(await respond('TOO_LATE')).toBe('cancel')
    expect([await dueIn(), (await transfer()).cancelAskedAt]).toEqual([hour, null])
  })

  test('alternates between cancelling and polling even after the bank reports ACCEPTED', async () => {
    const { context, id, respond, dueIn, transfer, wait } = await startWithOrder(engine)
    await respond({ failure: 'it is down' })
    await cancelPayout(context, { payoutId: id })
    expect(await respond({ failure: 'it is down' })).toBe('cancel')
    await recordReport(context, id, { state: 'ACCEPTED' })
    expect(await transfer()).toMatchObject({ state: 'ACCEPTED', asked: 1, cancelAskedAt: expect.any(String) })
    expect([await dueIn(), await respond({ failure: 'it is down' })]).toEqual([0, 'find'])
    expect(await dueIn()).toBe(30 * second)
    wait(30 * second)
    expect(await respond({ state: 'ACCEPTED' })).toBe('cancel')
  })

  test('continues with a cancellation after a poll that returned ACCEPTED', async () => {
    const { context, id, respond, dueIn, transfer, wait } = await startWithOrder(engine)
    await respond({ failure: 'it is down' })
    await cancelPayout(context, { payoutId: id })
    await respond({ failure: 'it is down' })
    wait(10 * second)
    expect(await respond({ state: 'ACCEPTED' })).toBe('find')
    expect(await transfer()).toMatchObject({ state: 'ACCEPTED', asked: 2 })
    expect(await dueIn()).toBe(30 * second)
    wait(30 * second)
    expect(await respond('CANCELLED')).toBe('cancel')
    expect(await dueIn()).toBe(null)
  })

  test('reserves an order for a call until thirty seconds after the call’s timeout', async () => {
    const { context, orderId, dueIn, wait } = await startWithOrder(engine)
    const bank = createBank({ callMs: 1_000 })
    const call = await beginCall(context, { orderId, rail: bank.rail })
    expect([call?.call, await dueIn()]).toEqual(['submit', 31 * second])
    // A suspended process may still make the call while its result can arrive in time.
    wait(30 * second + 1)
    expect(await executeCall(context, bank.rail, call as NonNullable<typeof call>)).toBe('nothing')
    expect(bank.calls).toEqual([])
    wait(-1)
    expect(await executeCall(context, bank.rail, call as NonNullable<typeof call>)).toBe('answered')
    expect(await processOrder(context, bank.rail, orderId)).toBe('nothing')
  })

  test('polls an order whose submission has no recorded result, and does not submit the order again', async () => {
    const { context, orderId, transfer, respond, wait } = await startWithOrder(engine)
    const rail = { callMs: 1_000, idempotentForMs: hour }
    await beginCall(context, { orderId, rail })
    expect((await transfer()).state).toBe('SUBMITTING')
    wait(31 * second)
    expect(await respond({ state: 'ACCEPTED' })).toBe('find')
    const { history, attempts } = await transfer()
    expect([attempts, history.slice(-3).map(({ state, cause }) => [state, cause])]).toEqual([
      1,
      [
        ['SUBMITTING', null],
        ['UNKNOWN', 'no response of the bank was recorded'],
        ['ACCEPTED', null],
      ],
    ])
  })

  test('polls, and does not resubmit, an order that waited longer than the bank’s deduplication period', async () => {
    const { context, orderId, id, transfer, dueIn, wait } = await startWithOrder(engine)
    const rail = { callMs: 1_000, idempotentForMs: hour }
    await makeDueCall(context, id, { failure: 'it is down' }, rail)
    wait(10 * second)
    await makeDueCall(context, id, 'NOT_FOUND', rail)
    expect(await transfer()).toMatchObject({ state: 'QUEUED', attempts: 1 })
    wait(hour)
    expect((await beginCall(context, { orderId, rail }))?.call).toBe('find')
    const { history, ...order } = await transfer()
    expect(order).toMatchObject({ state: 'UNKNOWN', attempts: 1, asked: 0 })
    expect(history.at(-1)).toMatchObject({
      cause: 'the order has waited so long that another submission could pay it twice',
    })
    expect(await dueIn()).toBe(31 * second)
  })

  test.each<[what: string, submit: () => Promise<never>, cause: string]>([
    ['fails with an error', () => Promise.reject(new Error('it is down')), 'it is down'],
    ['fails with a string', () => Promise.reject('down'), 'down'],
    ['times out', () => new Promise(() => {}), 'no answer came within 0.005 seconds'],
  ])('sets the state UNKNOWN and its cause after a call to the bank that %s', async (_, submit, cause) => {
    const { context, orderId, transfer } = await startWithOrder(engine)
    const { rail } = createBank({ callMs: 5 })
    expect(await processOrder(context, { ...rail, submit }, orderId)).toBe('unanswered')
    const { state, history } = await transfer()
    expect([state, history.at(-1)?.cause]).toEqual(['UNKNOWN', cause])
  })

  test('ignores a late result without an order state if a later call has started', async () => {
    const { context, orderId, transfer, wait } = await startWithOrder(engine)
    const rail = { callMs: 1_000, idempotentForMs: hour }
    const call = await beginCall(context, { orderId, rail })
    wait(31 * second)
    expect((await beginCall(context, { orderId, rail }))?.call).toBe('find')
    const before = await transfer()
    for (const lateResult of ['NOT_FOUND', 'TOO_LATE', { failure: 'it is down' }] as const) {
      const dueAt = call?.dueAt ?? dueTime(0)
      expect(await recordResponse(context, { orderId, dueAt, response: lateResult, idempotentForMs: hour })).toEqual(
        before,
      )
    }
    expect(await transfer()).toEqual(before)
    expect(
      await recordResponse(context, { orderId: absentId, dueAt: dueTime(0), response: 'NOT_FOUND', ...rail }),
    ).toBe(null)
  })

  test.each<[what: string, before: RailCallResult, isCancelling: boolean, cause: string]>([
    [
      'has accepted',
      { state: 'ACCEPTED' },
      false,
      'the bank has no record of the order, which it reported as ACCEPTED before',
    ],
    [
      'has paid',
      { state: 'COMPLETED', nextAfterMs: 0 },
      false,
      'the bank has no record of the order, which it reported as COMPLETED before',
    ],
    [
      'should cancel',
      { failure: 'it is down' },
      true,
      'the bank has no record of the order, but an earlier submission may still arrive',
    ],
  ])('never resubmits an order that the bank %s and then does not find', async (...row) => {
    const [, before, isCancelling, cause] = row
    const { context, id, respond, transfer, dueIn, wait } = await startWithOrder(engine)
    await respond(before)
    wait(10 * second)
    if (isCancelling) await cancelPayout(context, { payoutId: id })
    await respond('NOT_FOUND')
    const { state, history } = await transfer()
    expect([state, history.at(-1)?.cause, await dueIn()]).toEqual(['ATTENTION', cause, null])
  })

  test('can be brought forward but not delayed', async () => {
    const { context, orderId, respond, dueIn, wait } = await startWithOrder(engine)
    await respond({ failure: 'it is down' })
    wait(4 * second)
    await scheduleImmediatePolls(context, { orderIds: [orderId] })
    expect(await dueIn()).toBe(0)
    wait(second)
    await scheduleImmediatePolls(context, { orderIds: [orderId] })
    expect(await dueIn()).toBe(-second)
  })
})

test.each(everyEngine)(
  'on %s, an order that is queued again is due by the real clock, even if the merchant’s clock is ahead',
  async (engine) => {
    const nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    await app.wallet({ balance: '100' })
    const context = createContext(app.service, app.merchant.id, null, hour)
    const { id, createdAt } = await createRailPayout(context)
    expect(createdAt).toBe('2026-03-01T13:00:00.000Z')
    await makeDueCall(context, id, { failure: 'it is down' })
    await scheduleImmediatePolls(context, { orderIds: [(await railOrderOf(context, id)).orderId] })
    await makeDueCall(context, id, 'NOT_FOUND')
    expect(await railOrderOf(context, id)).toMatchObject({ state: 'QUEUED', dueAt: BigInt(nowMs) })
  },
)

test('maxPollWaits contains the delay that nextPollAt uses for each number of polls', () => {
  const { wallClock } = createService({ db: unavailableDatabase(), mode: 'live', clock: () => 0 })
  for (let pollCount = 0; pollCount <= 10; pollCount++) {
    const ranges = maxPollWaits.filter(({ minAsked, maxAsked }) => minAsked <= pollCount && pollCount <= maxAsked)
    const delay = Number(nextPollAt({ wallClock }, Math.max(0, pollCount - 1)))
    expect(ranges.map(({ delayMs }) => delayMs)).toEqual([delay])
  }
  expect(maxPollWaits.at(-1)?.maxAsked).toBe(2_147_483_647)
})

test.each([
  [0, 48 * hour, true],
  [1, hour, true],
  [1, hour + 1, false],
  [1, 0, true],
  [1, -minute, true],
  [1, -minute - 1, false],
])(
  'an order submitted %i times, first %i ms ago, to a bank that deduplicates orders for an hour: canBeSubmitted is %s',
  (...row) => {
    const [attempts, agoMs, expected] = row
    const nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const [submittedAt, longAgo] = [agoMs, 999 * hour].map((ms) => new Date(nowMs - ms).toISOString())
    const context = { wallClock: () => wallTime(nowMs), aheadMs: 0 }
    for (const times of [
      { submittedAt: submittedAt, createdAt: longAgo },
      { submittedAt: null, createdAt: submittedAt },
    ]) {
      expect(canBeSubmitted(context, { attempts, ...times } as RailOrder, { idempotentForMs: hour })).toBe(expected)
    }
  },
)
