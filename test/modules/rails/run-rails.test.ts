import { describe, expect, onTestFinished, test } from 'vitest'
import { createMerchantContext } from '../../../src/modules/merchants/merchant.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { createHttpRail } from '../../../src/modules/rails/adapters/http-rail.ts'
import type { Rail } from '../../../src/modules/rails/adapters/rail.ts'
import { parsePostedReports } from '../../../src/modules/rails/adapters/wire-format.ts'
import { resolveAttentionByOperator } from '../../../src/modules/rails/attention/resolve-attention.ts'
import { beginCall } from '../../../src/modules/rails/orders/claim-order.ts'
import { executeCall, processOrder } from '../../../src/modules/rails/orders/process-order.ts'
import { pauseSubmissions, resumeSubmissions, setRoute } from '../../../src/modules/rails/orders/rail-routes.ts'
import { startRailWorker } from '../../../src/modules/rails/orders/rail-worker.ts'
import { followReport } from '../../../src/modules/rails/orders/receive-reports.ts'
import { insertRailReport } from '../../../src/modules/rails/repository.ts'
import { generateSharedSecret } from '../../../src/modules/webhooks/transport/standard-webhooks.ts'
import type { Mode } from '../../../src/operations/context.ts'
import type { App, Setup } from '../../support/app.ts'
import { payoutBody, startApp } from '../../support/app.ts'
import { everyEngineAndMode, setAddressKey } from '../../support/modes.ts'
import { startReceiver } from '../webhooks/transport/support/receiver.ts'
import { createBank } from './support/bank.ts'
import { sampleOrder } from './support/orders.ts'
import { makeDueCall } from './support/rail-payouts.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** An app with a clock that tests advance and a route of all payouts to the rail `bank`. */
async function startWithRoute(setup: Setup, mode: Mode) {
  let time = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp(setup, { mode, clock: () => time })
  await setAddressKey(app)
  await app.wallet({ network: 'erc20', balance: '1000' })
  await setRoute(app.service, { rail: 'bank' })
  const runners: { poll: () => Promise<void> }[] = []
  const run = (
    rail: Rail,
    { service = app.service, ...options }: Partial<Parameters<typeof startRailWorker>[0]> = {},
  ) => {
    const rails = startRailWorker({
      service,
      rails: [rail],
      paused: [],
      contextOf: (merchantId) => createMerchantContext(service, merchantId),
      onUnknownOrders: () => {},
      onError: rethrow,
      clock: () => time,
      ...options,
    })
    runners.push(rails)
    onTestFinished(() => rails.stop())
    return rails
  }
  const advance = (ms: number) => {
    time += ms
    for (const { poll } of runners) poll()
  }
  const afterAdvance = <Value>(ms: number, read: () => Value): Value => {
    advance(ms)
    return read()
  }
  return { app, run, advance, afterAdvance }
}

function rethrow(error: unknown): void {
  throw error
}

async function pay(app: App, amount = '1'): Promise<{ id: string; orderId: string }> {
  const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount } })
  expect(body.data.status).toBe('PROCESSING')
  return { id: body.data.id, orderId: body.data.reference_id }
}

async function status(app: App, id: string): Promise<string> {
  return (await app.rest('GET', `/api/payouts/${id}`)).body.data.status
}

async function timeline(app: App, id: string) {
  const query = 'query($id: ID!) { payout(id: $id) { timeline { state cause } } }'
  return (await app.graphql(query, { id })).data.payout.timeline
}

async function balance(app: App): Promise<string> {
  return (await app.rest('GET', '/api/wallets')).body.data[0].balance
}

describe.each(everyEngineAndMode)('a rail worker on %s in %s', (engine, mode) => {
  test('completes a paid payout with the bank’s reference', async () => {
    const { app, run } = await startWithRoute(engine, mode)
    const bank = createBank({ decide: ({ id }) => ({ state: 'COMPLETED', reference: `B-${id.slice(0, 8)}` }) })
    run(bank.rail)

    const { id, orderId } = await pay(app)

    await expect.poll(() => status(app, id)).toBe('COMPLETED')
    const { body } = await app.rest('GET', `/api/payouts/${id}`)
    expect(body.data.fiat_reference_id).toBe(`B-${orderId.slice(0, 8)}`)
    expect([...bank.taken.values()]).toMatchObject([{ id: orderId, currency: 'NGN', attempts: 1 }])
    await app.expectBooksToBalance()
  })

  test('keeps a payout PROCESSING and polls the bank when a response belongs to another order', async () => {
    const { app, run, afterAdvance } = await startWithRoute(engine, mode)
    let isFixed = false
    // The bank responds to every request with the rejection of an earlier order.
    const bank = await startReceiver((response, { method, url = '' }) => {
      const id = /[\w-]{36}$/.exec(url)?.[0]
      const content = isFixed ? { id, state: 'COMPLETED' } : { state: 'REJECTED', code: 'LIMIT_EXCEEDED' }
      response.writeHead(isFixed || method === 'GET' ? 200 : 422).end(JSON.stringify(content))
    })
    const url = `http://127.0.0.1:${bank.port}`
    run(createHttpRail({ name: 'bank', url, secrets: [generateSharedSecret()], wallClock: app.service.wallClock }))
    const { id } = await pay(app)

    const causes = async () => (await timeline(app, id)).map(({ cause }: { cause: string | null }) => cause)
    await expect.poll(causes).toContain('the bank responded with 422, without the id and the state of the order')
    for (const pollCount of [1, 2]) {
      await expect.poll(() => afterAdvance(minute, () => bank.received.length)).toBeGreaterThan(pollCount)
    }
    expect([await status(app, id), await balance(app)]).toEqual(['PROCESSING', '999.00000000'])

    isFixed = true
    await expect.poll(() => afterAdvance(hour, () => status(app, id))).toBe('COMPLETED')
    expect(bank.received.filter(({ method }) => method === 'POST')).toHaveLength(1)
    await app.expectBooksToBalance()
  })

  test('polls the bank after a lost response and never submits the order twice', async () => {
    const { app, run, afterAdvance } = await startWithRoute(engine, mode)
    let isLost = true
    const bank = createBank({ fate: () => (isLost ? 'answer lost' : 'answered') })
    run(bank.rail)
    const { id, orderId } = await pay(app)
    await expect.poll(() => bank.submitted(orderId)).toBe(1)

    // Time alone never fails the payout.
    for (const ms of [10 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, 24 * hour]) {
      const before = bank.calls.length
      await expect.poll(() => afterAdvance(ms, () => bank.calls.length)).toBeGreaterThan(before)
    }
    expect(await status(app, id)).toBe('PROCESSING')
    isLost = false
    await expect.poll(() => afterAdvance(24 * hour, () => status(app, id))).toBe('COMPLETED')

    expect(bank.submitted(orderId)).toBe(1)
    expect(bank.taken.size).toBe(1)
    await app.expectBooksToBalance()
  })

  test('keeps its poll interval when the bank reports an unchanged state', async () => {
    const { app, run, advance } = await startWithRoute(engine, mode)
    let state: 'ACCEPTED' | 'COMPLETED' = 'ACCEPTED'
    const bank = createBank({ decide: () => ({ state }) })
    run(bank.rail)
    const { id, orderId } = await pay(app)
    await expect.poll(async () => (await timeline(app, id)).at(-1).state).toBe('ACCEPTED')
    state = 'COMPLETED'
    const report = { orderId, report: { state: 'ACCEPTED' } } as const
    for (let seconds = 0; seconds < 9; seconds++) {
      advance(second)
      await followReport(app.context(), report)
    }
    expect(bank.calls.length).toBe(1)
    advance(second)
    await expect.poll(() => status(app, id)).toBe('COMPLETED')
  })

  test('resubmits an order that the bank does not have, but only within the bank’s deduplication period', async () => {
    const { app, run, advance, afterAdvance } = await startWithRoute(engine, mode)
    let isDown = true
    const bank = createBank({
      fate: (call) => (isDown && call === 'submit' ? 'lost' : 'answered'),
      idempotentForMs: hour,
    })
    run(bank.rail)
    const earlyPayout = await pay(app)
    await expect.poll(() => bank.submitted(earlyPayout.orderId)).toBe(1)
    isDown = false
    await expect.poll(() => afterAdvance(10 * second, () => status(app, earlyPayout.id))).toBe('COMPLETED')
    expect([bank.submitted(earlyPayout.orderId), bank.taken.size]).toEqual([2, 1])

    isDown = true
    const latePayout = await pay(app)
    await expect.poll(() => bank.submitted(latePayout.orderId)).toBe(1)
    advance(2 * hour)
    await expect
      .poll(() => bank.calls.filter(({ call, id }) => call === 'find' && id === latePayout.orderId).length)
      .toBe(1)
    advance(48 * hour)
    expect([bank.submitted(latePayout.orderId), await status(app, latePayout.id)]).toEqual([1, 'PROCESSING'])
  })

  test('resubmits at growing intervals an order that the bank never accepts, without blocking other orders', async () => {
    const { app, run, advance, afterAdvance } = await startWithRoute(engine, mode)
    const lostOrders = new Set<string>()
    const bank = createBank({
      fate: (call, { id }) => (call === 'submit' && lostOrders.has(id) ? 'lost' : 'answered'),
      maxConcurrentCalls: 2,
      idempotentForMs: 30 * 24 * hour,
    })
    await pauseSubmissions(app.service, { rail: 'bank' })
    const blockedPayouts = await Promise.all(Array.from({ length: 8 }, () => pay(app)))
    for (const { orderId } of blockedPayouts) lostOrders.add(orderId)
    await resumeSubmissions(app.service, { rail: 'bank' })
    run(bank.rail)
    for (const { orderId } of blockedPayouts)
      await expect.poll(() => afterAdvance(second, () => bank.submitted(orderId))).toBeGreaterThan(0)

    for (let hours = 0; hours < 24; hours += 3) {
      const { id } = await pay(app)
      await expect.poll(() => afterAdvance(minute, () => status(app, id))).toBe('COMPLETED')
      for (let each = 0; each < 3; each++) advance(hour)
    }
    for (const { orderId } of blockedPayouts) expect(bank.submitted(orderId)).toBeLessThan(10)
    lostOrders.clear()
    for (const { id } of blockedPayouts)
      await expect.poll(() => afterAdvance(24 * hour, () => status(app, id))).toBe('COMPLETED')
    await app.expectBooksToBalance()
  })

  test('polls, and does not resubmit, an order that another worker submitted before that worker died', async () => {
    const { app, run, advance, afterAdvance } = await startWithRoute(engine, mode)
    const bank = createBank()
    const dyingWorker = run({
      ...bank.rail,
      submit: async (order) => {
        await bank.rail.submit(order)
        return new Promise(() => {})
      },
    })
    const { id, orderId } = await pay(app)
    await expect.poll(() => bank.taken.size).toBe(1)
    await dyingWorker.stop()

    run(bank.rail)
    advance(20 * second)
    expect(await status(app, id)).toBe('PROCESSING')
    await expect.poll(() => afterAdvance(minute, () => status(app, id))).toBe('COMPLETED')
    expect(bank.submitted(orderId)).toBe(1)
  })

  test('does not submit an order whose payout was failed while the process was suspended', async () => {
    const { app, advance } = await startWithRoute(engine, mode)
    const { id, orderId } = await pay(app)
    const bank = createBank({ idempotentForMs: 0 })
    const context = app.context()
    const call = await beginCall(context, { orderId, rail: bank.rail })
    advance(hour)
    expect(await processOrder(context, bank.rail, orderId)).toBe('answered')
    await resolveAttentionByOperator(context, {
      payoutId: id,
      action: 'FAIL',
      reason: 'the bank has no record of the order',
    })

    expect(await executeCall(context, bank.rail, call as NonNullable<typeof call>)).toBe('nothing')
    expect(bank.taken.size).toBe(0)
    expect(await status(app, id)).toBe('FAILED')
  })

  test('never submits an order twice when two workers run', async () => {
    const { app, run } = await startWithRoute(engine, mode)
    const bank = createBank()
    run(bank.rail)
    run(bank.rail)
    const created = await Promise.all(Array.from({ length: 20 }, () => pay(app)))
    for (const { id } of created) await expect.poll(() => status(app, id)).toBe('COMPLETED')
    expect(created.map(({ orderId }) => bank.submitted(orderId))).toEqual(created.map(() => 1))
    await app.expectBooksToBalance()
  })

  test('probes an unavailable bank rarely, and submits all orders, oldest first, when the bank is available again', async () => {
    const { app, run, advance, afterAdvance } = await startWithRoute(engine, mode)
    let isDown = true
    const bank = createBank({
      fate: () => (isDown ? 'lost' : 'answered'),
      maxConcurrentCalls: 1,
      idempotentForMs: 7 * 24 * hour,
    })
    run(bank.rail)
    const created: { id: string; orderId: string }[] = []
    for (let each = 0; each < 12; each++) {
      created.push(await pay(app))
      advance(1)
    }
    await expect.poll(() => bank.calls.length).toBeGreaterThanOrEqual(5)
    for (let hours = 0; hours < 24; hours++) advance(hour)
    expect(bank.calls.length).toBeLessThan(40)

    isDown = false
    for (const { id } of created)
      await expect.poll(() => afterAdvance(5 * minute, () => status(app, id))).toBe('COMPLETED')
    expect([...bank.taken.keys()].slice(-7)).toEqual(created.slice(-7).map(({ orderId }) => orderId))
    await app.expectBooksToBalance()
  })

  test('uses as many concurrent calls as the rail allows', async () => {
    const { app, run } = await startWithRoute(engine, mode)
    const pendingCalls: (() => void)[] = []
    const bank = createBank({ maxConcurrentCalls: 3 })
    const worker = run({
      ...bank.rail,
      submit: async (order) => {
        await new Promise<void>((resolve) => pendingCalls.push(resolve))
        return bank.rail.submit(order)
      },
    })
    const created = await Promise.all(Array.from({ length: 7 }, () => pay(app)))
    await expect.poll(() => pendingCalls.length).toBe(3)
    await worker.poll()
    expect(pendingCalls.length).toBe(3)
    pendingCalls[0]?.()
    await expect.poll(() => pendingCalls.length).toBe(4)
    for (let each = 1; each < 7; each++) {
      await expect.poll(() => pendingCalls.length).toBeGreaterThan(each)
      pendingCalls[each]?.()
    }
    for (const { id } of created) await expect.poll(() => status(app, id)).toBe('COMPLETED')
  })

  test('stops calling a rail after five failures unless the failures of the rail are independent', async () => {
    for (const [rail, expectedCalls] of [
      [{}, 5],
      [{ hasIndependentFailures: true }, 9],
    ] as const) {
      const { app, run } = await startWithRoute(engine, mode)
      const bank = createBank({ fate: () => 'lost', maxConcurrentCalls: 1 })
      await pauseSubmissions(app.service, { rail: 'bank' })
      await Promise.all(Array.from({ length: 9 }, () => pay(app)))
      await resumeSubmissions(app.service, { rail: 'bank' })
      const worker = run({ ...bank.rail, ...rail })
      await expect.poll(() => bank.calls.length).toBe(expectedCalls)
      for (let each = 0; each < 3; each++) await worker.poll()
      expect(bank.calls.length).toBe(expectedCalls)
    }
  })

  test('polls all orders in the state UNKNOWN immediately when the bank responds again', async () => {
    const { app, run, advance } = await startWithRoute(engine, mode)
    let isDown = true
    const bank = createBank({ fate: () => (isDown ? 'answer lost' : 'answered'), maxConcurrentCalls: 1 })
    await pauseSubmissions(app.service, { rail: 'bank' })
    const created = await Promise.all(Array.from({ length: 6 }, () => pay(app)))
    await resumeSubmissions(app.service, { rail: 'bank' })
    run(bank.rail)
    const states = () => Promise.all(created.map(async ({ id }) => (await timeline(app, id)).at(-1).state))
    await expect.poll(async () => (await states()).filter((state) => state === 'UNKNOWN').length).toBe(5)
    isDown = false
    // Long before the next scheduled poll of any order.
    advance(5 * second)
    for (const { id } of created) await expect.poll(() => status(app, id)).toBe('COMPLETED')
    expect(bank.taken.size).toBe(6)
  })

  test.each(['all', 'bank'] as const)(
    'submits nothing to a rail that its configuration pauses (%s)',
    async (target) => {
      const { app, run, advance } = await startWithRoute(engine, mode)
      const bank = createBank({ decide: () => ({ state: 'ACCEPTED' }) })
      const first = run(bank.rail)
      const { id } = await pay(app)
      await expect.poll(async () => (await timeline(app, id)).at(-1).state).toBe('ACCEPTED')
      await first.stop()
      const { orderId } = await pay(app)
      run(bank.rail, { paused: target === 'all' ? 'all' : ['bank'] })
      advance(10 * second)
      await expect.poll(() => bank.calls.length).toBe(2)
      expect([bank.calls[1]?.call, bank.submitted(orderId)]).toEqual(['find', 0])
    },
  )

  test('calls onUnknownOrders once with the ids in reports that match no order', async () => {
    const { app, run } = await startWithRoute(engine, mode)
    const bank = createBank()
    const receivedAt = '2026-03-01T11:00:00.000Z'
    const body = JSON.stringify({ id: 'whose', state: 'COMPLETED' })
    await app.db.write((tx) => insertRailReport(tx, { rail: 'bank', messageId: 'msg_1', body, receivedAt }))
    const unknownOrders: unknown[] = []
    const reports = { verify: () => '', read: parsePostedReports }
    const worker = run({ ...bank.rail, reports }, { onUnknownOrders: (...each) => void unknownOrders.push(each) })
    for (let each = 0; each < 3; each++) await worker.poll()
    expect(unknownOrders).toEqual([['bank', ['whose']]])
  })

  test('waits for the response to its current call when it is stopped, and makes no further call', async () => {
    const { app, run } = await startWithRoute(engine, mode)
    const bank = createBank()
    const pendingResponses: (() => void)[] = []
    const worker = run({
      ...bank.rail,
      submit: async (order) => {
        await new Promise<void>((resolve) => pendingResponses.push(resolve))
        return bank.rail.submit(order)
      },
    })
    const { id } = await pay(app)
    await expect.poll(() => pendingResponses.length).toBe(1)
    const stopped = worker.stop()
    pendingResponses[0]?.()
    await stopped
    expect(await status(app, id)).toBe('COMPLETED')
    await pay(app)
    await worker.poll()
    expect(bank.calls.length).toBe(1)
  })

  test('submits nothing to a paused rail, whose payouts stay queued', async () => {
    const { app, run, advance, afterAdvance } = await startWithRoute(engine, mode)
    const bank = createBank()
    await pauseSubmissions(app.service, { rail: 'bank' })
    run(bank.rail)
    const { id } = await pay(app)
    advance(hour)
    expect(bank.calls).toEqual([])
    await resumeSubmissions(app.service, { rail: 'bank' })
    await expect.poll(() => afterAdvance(second, () => status(app, id))).toBe('COMPLETED')
  })

  test('polls, and does not resubmit, an order that waited longer than the bank’s deduplication period', async () => {
    const { app, run, advance, afterAdvance } = await startWithRoute(engine, mode)
    let isLost = true
    const bank = createBank({ fate: (call) => (isLost && call === 'submit' ? 'lost' : 'answered') })
    run({
      ...bank.rail,
      find: async (order) => {
        // The rail is paused until the deduplication period is over.
        await pauseSubmissions(app.service, { rail: 'bank' })
        return bank.rail.find(order)
      },
    })
    const { id, orderId } = await pay(app)
    const readTimeline = () => timeline(app, id)
    await expect.poll(() => bank.submitted(orderId)).toBe(1)
    await expect.poll(() => afterAdvance(10 * second, async () => (await readTimeline()).at(-1).state)).toBe('QUEUED')
    advance(25 * hour)
    isLost = false
    await resumeSubmissions(app.service, { rail: 'bank' })
    await expect
      .poll(() => afterAdvance(second, async () => (await readTimeline()).at(-1)))
      .toEqual({
        state: 'ATTENTION',
        cause: 'the bank has no record of the order, but an earlier submission may still arrive',
      })
    expect((await readTimeline()).at(-2)).toMatchObject({
      cause: 'the order has waited so long that another submission could pay it twice',
    })
    expect([bank.submitted(orderId), bank.taken.size]).toEqual([1, 0])
  })

  test('refunds a rejected payout, and moves no money after a later contradicting response of the bank', async () => {
    const { app, run, advance, afterAdvance } = await startWithRoute(engine, mode)
    let state: 'REJECTED' | 'COMPLETED' = 'REJECTED'
    const bank = createBank({ decide: () => ({ state, nextAfterMs: minute }) })
    run(bank.rail)
    const { id } = await pay(app, '10')
    await expect.poll(() => status(app, id)).toBe('FAILED')
    const before = await balance(app)
    state = 'COMPLETED'
    const calls = bank.calls.length
    await expect.poll(() => afterAdvance(minute, () => bank.calls.length)).toBeGreaterThan(calls)
    advance(hour)
    expect([await status(app, id), await balance(app)]).toEqual(['FAILED', before])
    await app.expectBooksToBalance()
  })

  test('calls onError once for a stored report that cannot be parsed, and continues', async () => {
    const { app, run, afterAdvance } = await startWithRoute(engine, mode)
    const bank = createBank()
    const receivedAt = '2026-03-01T11:00:00.000Z'
    const unreadable = { rail: 'bank', messageId: 'msg_old', body: 'in a form of long ago', receivedAt }
    await app.db.write((tx) => insertRailReport(tx, unreadable))
    const errors: unknown[] = []
    const reports = { verify: () => '', read: parsePostedReports }
    run({ ...bank.rail, reports }, { onError: (error) => void errors.push(error) })

    const { id } = await pay(app)
    await expect.poll(() => afterAdvance(second, () => status(app, id))).toBe('COMPLETED')
    expect(errors.map(String)).toEqual([expect.stringContaining('bank report msg_old of the rail bank')])
  })

  test('retries an order later, and not in a tight loop, if its call cannot be recorded', async () => {
    const { app, run } = await startWithRoute(engine, mode)
    const { id } = await pay(app)
    let attempts = 0
    const perform = async (): Promise<never> => {
      attempts++
      throw new Error('the disk is full')
    }
    const worker = run(createBank().rail, { service: { ...app.service, perform }, onError: () => {} })
    await expect.poll(() => attempts).toBeGreaterThan(0)
    const before = attempts
    for (let read = 0; read < 100; read++) await status(app, id)
    expect(attempts - before).toBeLessThan(10)
    await worker.poll()
    await expect.poll(() => attempts).toBeGreaterThan(before)
  })

  test('lets operators settle payouts on its rail only with `override`', async () => {
    const { app, run } = await startWithRoute(engine, mode)
    const bank = createBank({ decide: () => ({ state: 'ACCEPTED' }) })
    run(bank.rail)
    const { id } = await pay(app)
    await expect.poll(() => bank.taken.size).toBe(1)
    const settlement = { payoutId: id, status: 'FAILED' } as const
    await expect(settlePayout(app.context(), settlement)).rejects.toMatchObject({
      code: 'PAYOUT_STATUS_CONFLICT',
      message: expect.stringContaining('is on the rail bank'),
    })
    expect(await settlePayout(app.context(), { ...settlement, override: true })).toMatchObject({ status: 'FAILED' })
    await app.expectBooksToBalance()
  })
})

test('a rail worker polls orders with an unknown outcome first, then alternates between accepted and queued orders', async () => {
  const { app, run, advance } = await startWithRoute('sqlite', 'live')
  const accepted = [await pay(app), await pay(app)]
  const unknown = await pay(app)
  for (const { id } of accepted) await makeDueCall(app.context(), id, { state: 'ACCEPTED' })
  advance(second)
  await makeDueCall(app.context(), unknown.id, { failure: 'it is down' })
  const queued = [await pay(app), await pay(app), await pay(app)]
  advance(10 * second)
  const bank = createBank({ maxConcurrentCalls: 8, decide: () => ({ state: 'ACCEPTED' }) })
  for (const { orderId } of [...accepted, unknown]) bank.taken.set(orderId, sampleOrder({ id: orderId }))
  run(bank.rail)
  await expect.poll(() => bank.calls.length).toBe(6)
  const ids = [unknown, accepted[0], queued[0], accepted[1], queued[1], queued[2]].map((each) => each?.orderId)
  expect(bank.calls.map(({ id }) => id)).toEqual(ids)
})
