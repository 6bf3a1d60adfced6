// When a bank is asked what became of an order. The sandbox may move its clock on, so the times are held to in live.
import { describe, expect, test } from 'vitest'
import { unavailableDatabase } from '../../../src/database/database.ts'
import type { RailOrder } from '../../../src/modules/rail-orders/rail-order.ts'
import { cancelPayout } from '../../../src/modules/rails/orders/cancel-payout.ts'
import { beginCall, canBeSubmitted } from '../../../src/modules/rails/orders/claim-order.ts'
import { hastenQuestions, maxPollWaits, nextPollAt } from '../../../src/modules/rails/orders/poll-schedule.ts'
import { executeCall, processOrder } from '../../../src/modules/rails/orders/process-order.ts'
import { setRoute } from '../../../src/modules/rails/orders/rail-routes.ts'
import { followReport } from '../../../src/modules/rails/orders/receive-reports.ts'
import type { RailCallResult } from '../../../src/modules/rails/orders/record-answer.ts'
import { recordAnswer } from '../../../src/modules/rails/orders/record-answer.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import type { Setup } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { setAddressKey } from '../../support/modes.ts'
import { dueTime, wallTime } from '../../support/times.ts'
import { nobody } from '../payouts/payout-places.ts'
import { createBank } from './support/bank.ts'
import { answer, createRailPayout, railOrderOf, report } from './support/rail-payouts.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const delays = [10 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, 24 * hour, 24 * hour]

/** A payout on a rail in live, and a clock that stands until it is moved. */
async function startCarried(setup: Setup) {
  let now = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp(setup, { mode: 'live', clock: () => now })
  await setAddressKey(app)
  await app.wallet({ network: 'erc20', balance: '100' })
  await setRoute(app.service, { rail: 'bank' })
  const context = app.context()
  const { id, referenceId: orderId } = await createRailPayout(context)
  return {
    context,
    id,
    orderId,
    answer: (said: RailCallResult) => answer(context, id, said),
    transfer: () => railOrderOf(context, id),
    /** In how many milliseconds the bank is asked next. */
    dueIn: async () => {
      const { dueAt } = await railOrderOf(context, id)
      return dueAt === null ? null : Number(dueAt) - now
    },
    wait: (ms: number) => {
      now += ms
    },
  }
}

describe.each(everyEngine)('the schedule of a rail in live on %s', (engine) => {
  test.each<[what: string, first: RailCallResult, later: RailCallResult]>([
    ['does not answer', { failure: 'it is down' }, { failure: 'it is down' }],
    ['has accepted an order', { state: 'ACCEPTED' }, { state: 'ACCEPTED' }],
    ['has accepted an order and does not answer any more', { state: 'ACCEPTED' }, { failure: 'it is down' }],
  ])('asks a bank that %s less and less often, and not a millisecond early', async (_, first, later) => {
    const { answer, dueIn, transfer, wait } = await startCarried(engine)
    expect(await answer(first)).toBe('submit')
    const { state, history } = await transfer()
    for (const delay of delays) {
      expect(await dueIn()).toBe(delay)
      wait(delay - 1)
      expect(await answer(later)).toBe(null)
      wait(1)
      expect(await answer(later)).toBe('find')
    }
    // That nothing has changed is no step.
    expect(await transfer()).toMatchObject({ state, history })
  })

  test('starts again when the bank accepts what it was asked about for long', async () => {
    const { answer, dueIn, wait } = await startCarried(engine)
    for (const delay of delays) {
      await answer({ failure: 'it is down' })
      wait(delay)
    }
    await answer({ state: 'ACCEPTED' })
    expect(await dueIn()).toBe(10 * second)
  })

  test('asks when the bank itself has more, and never what is over', async () => {
    const { answer, dueIn, wait } = await startCarried(engine)
    await answer({ state: 'ACCEPTED', nextAfterMs: 77 })
    expect(await dueIn()).toBe(77)
    wait(77)
    await answer({ state: 'ACCEPTED' })
    expect(await dueIn()).toBe(10 * second)
    wait(10 * second)
    await answer({ state: 'COMPLETED', nextAfterMs: 99 })
    expect(await dueIn()).toBe(99)
    wait(99)
    await answer({ state: 'COMPLETED' })
    expect(await dueIn()).toBe(null)
  })

  test('asks nothing of what a person must look at, whenever the bank has more', async () => {
    const { answer, dueIn, transfer, wait } = await startCarried(engine)
    await answer({ state: 'COMPLETED', nextAfterMs: 77 })
    wait(77)
    await answer({ state: 'REJECTED', nextAfterMs: 77 })
    expect([(await transfer()).state, await dueIn()]).toEqual(['ATTENTION', null])
  })

  test('counts from when an order was first submitted, however often it is submitted again', async () => {
    const { answer, transfer, wait } = await startCarried(engine)
    await answer({ failure: 'it is down' })
    const submittedAt = '2026-03-01T12:00:00.000Z'
    expect(await transfer()).toMatchObject({ attempts: 1, submittedAt })
    wait(10 * second)
    await answer('NOT_FOUND')
    wait(minute)
    expect(await answer({ failure: 'it is down' })).toBe('submit')
    expect(await transfer()).toMatchObject({ attempts: 2, submittedAt })
  })

  test('is not put off by what the bank reports by itself', async () => {
    const { context, id, orderId, answer, dueIn, wait } = await startCarried(engine)
    await answer({ state: 'ACCEPTED' })
    wait(4 * second)
    await report(context, id, { state: 'ACCEPTED', nextAfterMs: hour })
    await followReport(context, { orderId, report: { state: 'ACCEPTED', nextAfterMs: hour } })
    await followReport(context, { orderId: nobody, report: { state: 'COMPLETED' } })
    expect(await dueIn()).toBe(6 * second)
  })

  test('asks about a payout to be cancelled by turns, on the same schedule', async () => {
    const { context, id, answer, dueIn, transfer, wait } = await startCarried(engine)
    await answer({ state: 'ACCEPTED' })
    await cancelPayout(context, { payoutId: id })
    expect(await dueIn()).toBe(0)
    const asked: (string | null)[] = []
    for (const delay of delays.slice(0, 4)) {
      asked.push(await answer({ failure: 'it is down' }))
      // Whoever wants it cancelled once more hastens nothing.
      await cancelPayout(context, { payoutId: id })
      expect(await dueIn()).toBe(delay)
      wait(delay)
    }
    expect(asked).toEqual(['cancel', 'find', 'cancel', 'find'])
    expect(await answer('TOO_LATE')).toBe('cancel')
    expect([await dueIn(), (await transfer()).cancelAskedAt]).toEqual([hour, null])
  })

  test('keeps the turn of a cancellation where the bank says meanwhile that it has accepted the order', async () => {
    const { context, id, answer, dueIn, transfer, wait } = await startCarried(engine)
    await answer({ failure: 'it is down' })
    await cancelPayout(context, { payoutId: id })
    expect(await answer({ failure: 'it is down' })).toBe('cancel')
    // By itself: what it is asked next comes at once.
    await report(context, id, { state: 'ACCEPTED' })
    expect(await transfer()).toMatchObject({ state: 'ACCEPTED', asked: 1, cancelAskedAt: expect.any(String) })
    expect([await dueIn(), await answer({ failure: 'it is down' })]).toEqual([0, 'find'])
    expect(await dueIn()).toBe(30 * second)
    wait(30 * second)
    expect(await answer({ state: 'ACCEPTED' })).toBe('cancel')
  })

  test('goes on with a cancellation after the bank answers that it has accepted the order', async () => {
    const { context, id, answer, dueIn, transfer, wait } = await startCarried(engine)
    await answer({ failure: 'it is down' })
    await cancelPayout(context, { payoutId: id })
    await answer({ failure: 'it is down' })
    wait(10 * second)
    expect(await answer({ state: 'ACCEPTED' })).toBe('find')
    expect(await transfer()).toMatchObject({ state: 'ACCEPTED', asked: 2 })
    expect(await dueIn()).toBe(30 * second)
    wait(30 * second)
    expect(await answer('CANCELLED')).toBe('cancel')
    expect(await dueIn()).toBe(null)
  })

  test('has a call for itself until it must have ended, and half a minute longer', async () => {
    const { context, orderId, dueIn, wait } = await startCarried(engine)
    const bank = createBank({ callMs: 1_000 })
    const begun = await beginCall(context, { orderId, rail: bank.rail })
    expect([begun?.call, await dueIn()]).toEqual(['submit', 31 * second])
    // Whoever stood still makes the call as long as its answer comes in time.
    wait(30 * second + 1)
    expect(await executeCall(context, bank.rail, begun as NonNullable<typeof begun>)).toBe('nothing')
    expect(bank.calls).toEqual([])
    wait(-1)
    expect(await executeCall(context, bank.rail, begun as NonNullable<typeof begun>)).toBe('answered')
    expect(await processOrder(context, bank.rail, orderId)).toBe('nothing')
  })

  test('asks about an order for which no answer was recorded, and does not submit it again', async () => {
    const { context, orderId, transfer, answer, wait } = await startCarried(engine)
    const rail = { callMs: 1_000, idempotentForMs: hour }
    await beginCall(context, { orderId, rail })
    expect((await transfer()).state).toBe('SUBMITTING')
    wait(31 * second)
    expect(await answer({ state: 'ACCEPTED' })).toBe('find')
    const { history, attempts } = await transfer()
    expect([attempts, history.slice(-3).map(({ state, cause }) => [state, cause])]).toEqual([
      1,
      [
        ['SUBMITTING', null],
        ['UNKNOWN', 'no answer was recorded'],
        ['ACCEPTED', null],
      ],
    ])
  })

  test('asks about an order that waited longer than its bank pays it once, and does not submit it', async () => {
    const { context, orderId, id, transfer, dueIn, wait } = await startCarried(engine)
    const rail = { callMs: 1_000, idempotentForMs: hour }
    await answer(context, id, { failure: 'it is down' }, rail)
    wait(10 * second)
    await answer(context, id, 'NOT_FOUND', rail)
    expect(await transfer()).toMatchObject({ state: 'QUEUED', attempts: 1 })
    wait(hour)
    expect((await beginCall(context, { orderId, rail }))?.call).toBe('find')
    const { history, ...now } = await transfer()
    expect(now).toMatchObject({ state: 'UNKNOWN', attempts: 1, asked: 0 })
    expect(history.at(-1)).toMatchObject({ cause: 'it has waited too long to be submitted again' })
    expect(await dueIn()).toBe(31 * second)
  })

  test.each<[what: string, submit: () => Promise<never>, cause: string]>([
    ['throws', () => Promise.reject(new Error('it is down')), 'it is down'],
    ['throws what is no error', () => Promise.reject('down'), 'down'],
    ['does not answer in time', () => new Promise(() => {}), 'no answer came within 0.005 seconds'],
  ])('knows nothing of an order where the bank %s, and says why', async (_, submit, cause) => {
    const { context, orderId, transfer } = await startCarried(engine)
    const { rail } = createBank({ callMs: 5 })
    expect(await processOrder(context, { ...rail, submit }, orderId)).toBe('unanswered')
    const { state, history } = await transfer()
    expect([state, history.at(-1)?.cause]).toEqual(['UNKNOWN', cause])
  })

  test('takes nothing from a late answer that says nothing of the order, when others have asked since', async () => {
    const { context, orderId, transfer, wait } = await startCarried(engine)
    const rail = { callMs: 1_000, idempotentForMs: hour }
    const begun = await beginCall(context, { orderId, rail })
    wait(31 * second)
    expect((await beginCall(context, { orderId, rail }))?.call).toBe('find')
    const before = await transfer()
    for (const late of ['NOT_FOUND', 'TOO_LATE', { failure: 'it is down' }] as const) {
      const dueAt = begun?.dueAt ?? dueTime(0)
      expect(await recordAnswer(context, { orderId, dueAt, answer: late, idempotentForMs: hour })).toEqual(before)
    }
    expect(await transfer()).toEqual(before)
    expect(await recordAnswer(context, { orderId: nobody, dueAt: dueTime(0), answer: 'NOT_FOUND', ...rail })).toBe(null)
  })

  test.each<[what: string, before: RailCallResult, isToBeCancelled: boolean, cause: string]>([
    ['has accepted', { state: 'ACCEPTED' }, false, 'the bank has no such order, of which it said ACCEPTED'],
    [
      'has paid',
      { state: 'COMPLETED', nextAfterMs: 0 },
      false,
      'the bank has no such order, of which it said COMPLETED',
    ],
    [
      'is to cancel',
      { failure: 'it is down' },
      true,
      'the bank has no such order, and may not be asked again without a person',
    ],
  ])('never submits an order again that its bank %s and then does not have', async (...each) => {
    const [, before, isToBeCancelled, cause] = each
    const { context, id, answer, transfer, dueIn, wait } = await startCarried(engine)
    await answer(before)
    wait(10 * second)
    if (isToBeCancelled) await cancelPayout(context, { payoutId: id })
    await answer('NOT_FOUND')
    const { state, history } = await transfer()
    expect([state, history.at(-1)?.cause, await dueIn()]).toEqual(['ATTENTION', cause, null])
  })

  test('is brought forward for what waits, and never put off', async () => {
    const { context, orderId, answer, dueIn, wait } = await startCarried(engine)
    await answer({ failure: 'it is down' })
    wait(4 * second)
    await hastenQuestions(context, { orderIds: [orderId] })
    expect(await dueIn()).toBe(0)
    wait(second)
    await hastenQuestions(context, { orderIds: [orderId] })
    expect(await dueIn()).toBe(-second)
  })
})

test.each(everyEngine)(
  'an order to submit again waits where it was first queued, by whichever clock, on %s',
  async (engine) => {
    const now = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => now })
    await app.wallet({ balance: '100' })
    const context = createContext(app.service, app.merchant.id, null, hour)
    const { id, createdAt } = await createRailPayout(context)
    expect(createdAt).toBe('2026-03-01T13:00:00.000Z')
    await answer(context, id, { failure: 'it is down' })
    await hastenQuestions(context, { orderIds: [(await railOrderOf(context, id)).orderId] })
    await answer(context, id, 'NOT_FOUND')
    expect(await railOrderOf(context, id)).toMatchObject({ state: 'QUEUED', dueAt: BigInt(now) })
  },
)

test('the longest wait for an order follows from how often it was asked about', () => {
  const { wallClock } = createService({ db: unavailableDatabase(), mode: 'live', clock: () => 0 })
  for (let asked = 0; asked <= 10; asked++) {
    const ranges = maxPollWaits.filter(({ minAsked, maxAsked }) => minAsked <= asked && asked <= maxAsked)
    const delay = Number(nextPollAt({ wallClock }, Math.max(0, asked - 1)))
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
])('an order that was submitted %i times, first %i ms ago, may be submitted again within an hour: %s', (...each) => {
  const [attempts, agoMs, may] = each
  const now = Date.parse('2026-03-01T12:00:00.000Z')
  const [ago, never] = [agoMs, 999 * hour].map((ms) => new Date(now - ms).toISOString())
  const context = { wallClock: () => wallTime(now), aheadMs: 0 }
  for (const times of [
    { submittedAt: ago, createdAt: never },
    { submittedAt: null, createdAt: ago },
  ]) {
    expect(canBeSubmitted(context, { attempts, ...times } as RailOrder, { idempotentForMs: hour })).toBe(may)
  }
})
