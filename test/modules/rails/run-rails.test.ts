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
import { generateSharedSecret } from '../../../src/modules/webhooks/transport/signing-secrets.ts'
import type { Mode } from '../../../src/operations/context.ts'
import type { App, Setup } from '../../support/app.ts'
import { payoutBody, startApp } from '../../support/app.ts'
import { everyEngineAndMode, setAddressKey } from '../../support/modes.ts'
import { startReceiver } from '../webhooks/transport/support/receiver.ts'
import { createBank } from './support/bank.ts'
import { sampleOrder } from './support/orders.ts'
import { answer } from './support/rail-payouts.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]

/** The service with a clock that stands until it is moved, and a route that leads all payouts to the rail `bank`. */
async function startRouted(setup: Setup, mode: Mode) {
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
  const wait = (ms: number) => {
    time += ms
    for (const { poll } of runners) poll()
  }
  /** What is seen a while later. */
  const later = <Seen>(ms: number, look: () => Seen): Seen => {
    wait(ms)
    return look()
  }
  return { app, run, wait, later }
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

describe.each(everyEngineAndMode)('a rail, on %s in %s', (engine, mode) => {
  test('what it pays is completed, under its own reference', async () => {
    const { app, run } = await startRouted(engine, mode)
    const bank = createBank({ decide: ({ id }) => ({ state: 'COMPLETED', reference: `B-${id.slice(0, 8)}` }) })
    run(bank.rail)

    const { id, orderId } = await pay(app)

    await expect.poll(() => status(app, id)).toBe('COMPLETED')
    const { body } = await app.rest('GET', `/api/payouts/${id}`)
    expect(body.data.fiat_reference_id).toBe(`B-${orderId.slice(0, 8)}`)
    expect([...bank.taken.values()]).toMatchObject([{ id: orderId, currency: 'NGN', attempts: 1 }])
    await app.expectBooksToBalance()
  })

  test('an answer that slips to another order refunds nobody: the payout stays PROCESSING and its bank is asked again', async () => {
    const { app, run, later } = await startRouted(engine, mode)
    let isRight = false
    // It rejected the order before, and answers every request with that.
    const bank = await startReceiver((response, { method, url = '' }) => {
      const id = /[\w-]{36}$/.exec(url)?.[0]
      const said = isRight ? { id, state: 'COMPLETED' } : { state: 'REJECTED', code: 'LIMIT_EXCEEDED' }
      response.writeHead(isRight || method === 'GET' ? 200 : 422).end(JSON.stringify(said))
    })
    const url = `http://127.0.0.1:${bank.port}`
    run(createHttpRail({ name: 'bank', url, secrets: [generateSharedSecret()], wallClock: app.service.wallClock }))
    const { id } = await pay(app)

    const causes = async () => (await timeline(app, id)).map(({ cause }: { cause: string | null }) => cause)
    await expect.poll(causes).toContain('the bank answered with 422 and no state with the id of this order')
    for (const asked of [1, 2]) {
      await expect.poll(() => later(minute, () => bank.received.length)).toBeGreaterThan(asked)
    }
    expect([await status(app, id), await balance(app)]).toEqual(['PROCESSING', '999.00000000'])

    isRight = true
    await expect.poll(() => later(hour, () => status(app, id))).toBe('COMPLETED')
    expect(bank.received.filter(({ method }) => method === 'POST')).toHaveLength(1)
    await app.expectBooksToBalance()
  })

  test('an answer that is lost is asked for, and never another order made', async () => {
    const { app, run, later } = await startRouted(engine, mode)
    let isLost = true
    const bank = createBank({ fate: () => (isLost ? 'answer lost' : 'answered') })
    run(bank.rail)
    const { id, orderId } = await pay(app)
    await expect.poll(() => bank.submitted(orderId)).toBe(1)

    // It is never taken to have failed by a clock.
    for (const ms of [10 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, 24 * hour]) {
      const before = bank.calls.length
      await expect.poll(() => later(ms, () => bank.calls.length)).toBeGreaterThan(before)
    }
    expect(await status(app, id)).toBe('PROCESSING')
    isLost = false
    await expect.poll(() => later(24 * hour, () => status(app, id))).toBe('COMPLETED')

    expect(bank.submitted(orderId)).toBe(1)
    expect(bank.taken.size).toBe(1)
    await app.expectBooksToBalance()
  })

  test('it is asked in the same intervals, however often it reports by itself that nothing has changed', async () => {
    const { app, run, wait } = await startRouted(engine, mode)
    let state: 'ACCEPTED' | 'COMPLETED' = 'ACCEPTED'
    const bank = createBank({ decide: () => ({ state }) })
    run(bank.rail)
    const { id, orderId } = await pay(app)
    await expect.poll(async () => (await timeline(app, id)).at(-1).state).toBe('ACCEPTED')
    state = 'COMPLETED'
    const report = { orderId, report: { state: 'ACCEPTED' } } as const
    for (let seconds = 0; seconds < 9; seconds++) {
      wait(second)
      await followReport(app.context(), report)
    }
    expect(bank.calls.length).toBe(1)
    wait(second)
    await expect.poll(() => status(app, id)).toBe('COMPLETED')
  })

  test('what the bank does not have is submitted again under the same id, as long as the bank promises to pay it once', async () => {
    const { app, run, wait, later } = await startRouted(engine, mode)
    let isDown = true
    const bank = createBank({
      fate: (call) => (isDown && call === 'submit' ? 'lost' : 'answered'),
      idempotentForMs: hour,
    })
    run(bank.rail)
    const early = await pay(app)
    await expect.poll(() => bank.submitted(early.orderId)).toBe(1)
    isDown = false
    await expect.poll(() => later(10 * second, () => status(app, early.id))).toBe('COMPLETED')
    expect([bank.submitted(early.orderId), bank.taken.size]).toEqual([2, 1])

    isDown = true
    const late = await pay(app)
    await expect.poll(() => bank.submitted(late.orderId)).toBe(1)
    wait(2 * hour)
    await expect.poll(() => bank.calls.filter(({ call, id }) => call === 'find' && id === late.orderId).length).toBe(1)
    wait(48 * hour)
    expect([bank.submitted(late.orderId), await status(app, late.id)]).toEqual([1, 'PROCESSING'])
  })

  test('what it never takes is submitted ever more seldom, and holds up nothing else', async () => {
    const { app, run, wait, later } = await startRouted(engine, mode)
    const refused = new Set<string>()
    const bank = createBank({
      fate: (call, { id }) => (call === 'submit' && refused.has(id) ? 'lost' : 'answered'),
      maxConcurrentCalls: 2,
      idempotentForMs: 30 * 24 * hour,
    })
    await pauseSubmissions(app.service, { rail: 'bank' })
    const faulty = await Promise.all(Array.from({ length: 8 }, () => pay(app)))
    for (const { orderId } of faulty) refused.add(orderId)
    await resumeSubmissions(app.service, { rail: 'bank' })
    run(bank.rail)
    for (const { orderId } of faulty)
      await expect.poll(() => later(second, () => bank.submitted(orderId))).toBeGreaterThan(0)

    // A payout every now and then, for a day.
    for (let hours = 0; hours < 24; hours += 3) {
      const { id } = await pay(app)
      await expect.poll(() => later(minute, () => status(app, id))).toBe('COMPLETED')
      for (let each = 0; each < 3; each++) wait(hour)
    }
    for (const { orderId } of faulty) expect(bank.submitted(orderId)).toBeLessThan(10)
    refused.clear()
    for (const { id } of faulty) await expect.poll(() => later(24 * hour, () => status(app, id))).toBe('COMPLETED')
    await app.expectBooksToBalance()
  })

  test('who submits and dies is followed by another, who asks first', async () => {
    const { app, run, wait, later } = await startRouted(engine, mode)
    const dying = createBank()
    const stuck = run({
      ...dying.rail,
      submit: async (order) => {
        await dying.rail.submit(order)
        return new Promise(() => {})
      },
    })
    const { id, orderId } = await pay(app)
    await expect.poll(() => dying.taken.size).toBe(1)
    await stuck.stop()

    run(dying.rail)
    wait(20 * second)
    expect(await status(app, id)).toBe('PROCESSING')
    await expect.poll(() => later(minute, () => status(app, id))).toBe('COMPLETED')
    expect(dying.submitted(orderId)).toBe(1)
  })

  test('who stood still between beginning and submitting does not submit what was given up meanwhile', async () => {
    const { app, wait } = await startRouted(engine, mode)
    const { id, orderId } = await pay(app)
    const bank = createBank({ idempotentForMs: 0 })
    const context = app.context()
    const begun = await beginCall(context, { orderId, rail: bank.rail })
    wait(hour)
    expect(await processOrder(context, bank.rail, orderId)).toBe('answered')
    await resolveAttentionByOperator(context, { payoutId: id, action: 'FAIL', reason: 'the bank has no such order' })

    expect(await executeCall(context, bank.rail, begun as NonNullable<typeof begun>)).toBe('nothing')
    expect(bank.taken.size).toBe(0)
    expect(await status(app, id)).toBe('FAILED')
  })

  test('two processes never submit an order twice', async () => {
    const { app, run } = await startRouted(engine, mode)
    const bank = createBank()
    run(bank.rail)
    run(bank.rail)
    const paid = await Promise.all(Array.from({ length: 20 }, () => pay(app)))
    for (const { id } of paid) await expect.poll(() => status(app, id)).toBe('COMPLETED')
    expect(paid.map(({ orderId }) => bank.submitted(orderId))).toEqual(paid.map(() => 1))
    await app.expectBooksToBalance()
  })

  test('one that is down is left alone but for a look now and then; once it is back all are paid, in order of age', async () => {
    const { app, run, wait, later } = await startRouted(engine, mode)
    let isDown = true
    const bank = createBank({
      fate: () => (isDown ? 'lost' : 'answered'),
      maxConcurrentCalls: 1,
      idempotentForMs: 7 * 24 * hour,
    })
    run(bank.rail)
    const paid: { id: string; orderId: string }[] = []
    for (let each = 0; each < 12; each++) {
      paid.push(await pay(app))
      wait(1)
    }
    await expect.poll(() => bank.calls.length).toBeGreaterThanOrEqual(5)
    for (let hours = 0; hours < 24; hours++) wait(hour)
    expect(bank.calls.length).toBeLessThan(40)

    isDown = false
    for (const { id } of paid) await expect.poll(() => later(5 * minute, () => status(app, id))).toBe('COMPLETED')
    expect([...bank.taken.keys()].slice(-7)).toEqual(paid.slice(-7).map(({ orderId }) => orderId))
    await app.expectBooksToBalance()
  })

  test('it is asked as much at once as it takes, and more when that is done', async () => {
    const { app, run } = await startRouted(engine, mode)
    const waiting: (() => void)[] = []
    const bank = createBank({ maxConcurrentCalls: 3 })
    const rails = run({
      ...bank.rail,
      submit: async (order) => {
        await new Promise<void>((resolve) => waiting.push(resolve))
        return bank.rail.submit(order)
      },
    })
    const paid = await Promise.all(Array.from({ length: 7 }, () => pay(app)))
    await expect.poll(() => waiting.length).toBe(3)
    await rails.poll()
    expect(waiting.length).toBe(3)
    waiting[0]?.()
    await expect.poll(() => waiting.length).toBe(4)
    for (let each = 1; each < 7; each++) {
      await expect.poll(() => waiting.length).toBeGreaterThan(each)
      waiting[each]?.()
    }
    for (const { id } of paid) await expect.poll(() => status(app, id)).toBe('COMPLETED')
  })

  test('whose calls fail each for itself is never left alone, and any other is after five', async () => {
    for (const [rail, asked] of [
      [{}, 5],
      [{ hasIndependentFailures: true }, 9],
    ] as const) {
      const { app, run } = await startRouted(engine, mode)
      const bank = createBank({ fate: () => 'lost', maxConcurrentCalls: 1 })
      await pauseSubmissions(app.service, { rail: 'bank' })
      await Promise.all(Array.from({ length: 9 }, () => pay(app)))
      await resumeSubmissions(app.service, { rail: 'bank' })
      const rails = run({ ...bank.rail, ...rail })
      await expect.poll(() => bank.calls.length).toBe(asked)
      for (let each = 0; each < 3; each++) await rails.poll()
      expect(bank.calls.length).toBe(asked)
    }
  })

  test('one that answers again is asked at once about all that it could not answer', async () => {
    const { app, run, wait } = await startRouted(engine, mode)
    let isDown = true
    const bank = createBank({ fate: () => (isDown ? 'answer lost' : 'answered'), maxConcurrentCalls: 1 })
    await pauseSubmissions(app.service, { rail: 'bank' })
    const paid = await Promise.all(Array.from({ length: 6 }, () => pay(app)))
    await resumeSubmissions(app.service, { rail: 'bank' })
    run(bank.rail)
    const states = () => Promise.all(paid.map(async ({ id }) => (await timeline(app, id)).at(-1).state))
    await expect.poll(async () => (await states()).filter((state) => state === 'UNKNOWN').length).toBe(5)
    isDown = false
    // Long before anybody is asked about again by its own schedule.
    wait(5 * second)
    for (const { id } of paid) await expect.poll(() => status(app, id)).toBe('COMPLETED')
    expect(bank.taken.size).toBe(6)
  })

  test.each(['all', 'bank'] as const)('gets nothing new from a process that is told to pause %s', async (which) => {
    const { app, run, wait } = await startRouted(engine, mode)
    const bank = createBank({ decide: () => ({ state: 'ACCEPTED' }) })
    const first = run(bank.rail)
    const { id } = await pay(app)
    await expect.poll(async () => (await timeline(app, id)).at(-1).state).toBe('ACCEPTED')
    await first.stop()
    const { orderId } = await pay(app)
    run(bank.rail, { paused: which === 'all' ? 'all' : ['bank'] })
    wait(10 * second)
    await expect.poll(() => bank.calls.length).toBe(2)
    expect([bank.calls[1]?.call, bank.submitted(orderId)]).toEqual(['find', 0])
  })

  test('orders that it reports and nobody knows are named', async () => {
    const { app, run } = await startRouted(engine, mode)
    const bank = createBank()
    const receivedAt = '2026-03-01T11:00:00.000Z'
    const body = JSON.stringify({ id: 'whose', state: 'COMPLETED' })
    await app.db.write((tx) => insertRailReport(tx, { rail: 'bank', messageId: 'msg_1', body, receivedAt }))
    const named: unknown[] = []
    const reports = { verify: () => '', read: parsePostedReports }
    const rails = run({ ...bank.rail, reports }, { onUnknownOrders: (...each) => void named.push(each) })
    for (let each = 0; each < 3; each++) await rails.poll()
    expect(named).toEqual([['bank', ['whose']]])
  })

  test('is asked nothing more by a process that has stopped, which waits for the answer under way', async () => {
    const { app, run } = await startRouted(engine, mode)
    const bank = createBank()
    const answers: (() => void)[] = []
    const rails = run({
      ...bank.rail,
      submit: async (order) => {
        await new Promise<void>((resolve) => answers.push(resolve))
        return bank.rail.submit(order)
      },
    })
    const { id } = await pay(app)
    await expect.poll(() => answers.length).toBe(1)
    const stopped = rails.stop()
    answers[0]?.()
    await stopped
    expect(await status(app, id)).toBe('COMPLETED')
    await pay(app)
    await rails.poll()
    expect(bank.calls.length).toBe(1)
  })

  test('paused, it gets nothing new; payouts are accepted and wait', async () => {
    const { app, run, wait, later } = await startRouted(engine, mode)
    const bank = createBank()
    await pauseSubmissions(app.service, { rail: 'bank' })
    run(bank.rail)
    const { id } = await pay(app)
    wait(hour)
    expect(bank.calls).toEqual([])
    await resumeSubmissions(app.service, { rail: 'bank' })
    await expect.poll(() => later(second, () => status(app, id))).toBe('COMPLETED')
  })

  test('what has waited to be submitted again for longer than it promises to pay it once is asked for first', async () => {
    const { app, run, wait, later } = await startRouted(engine, mode)
    let isLost = true
    const bank = createBank({ fate: (call) => (isLost && call === 'submit' ? 'lost' : 'answered') })
    run({
      ...bank.rail,
      find: async (order) => {
        // Nothing is submitted from here on, until the promise is over.
        await pauseSubmissions(app.service, { rail: 'bank' })
        return bank.rail.find(order)
      },
    })
    const { id, orderId } = await pay(app)
    const steps = () => timeline(app, id)
    await expect.poll(() => bank.submitted(orderId)).toBe(1)
    await expect.poll(() => later(10 * second, async () => (await steps()).at(-1).state)).toBe('QUEUED')
    wait(25 * hour)
    isLost = false
    await resumeSubmissions(app.service, { rail: 'bank' })
    await expect
      .poll(() => later(second, async () => (await steps()).at(-1)))
      .toEqual({
        state: 'ATTENTION',
        cause: 'the bank has no such order, and may not be asked again without a person',
      })
    expect((await steps()).at(-2)).toMatchObject({ cause: 'it has waited too long to be submitted again' })
    expect([bank.submitted(orderId), bank.taken.size]).toEqual([1, 0])
  })

  test('what it rejects is put back; what it says against that later moves nothing', async () => {
    const { app, run, wait, later } = await startRouted(engine, mode)
    let state: 'REJECTED' | 'COMPLETED' = 'REJECTED'
    const bank = createBank({ decide: () => ({ state, nextAfterMs: minute }) })
    run(bank.rail)
    const { id } = await pay(app, '10')
    await expect.poll(() => status(app, id)).toBe('FAILED')
    const before = await balance(app)
    state = 'COMPLETED'
    const calls = bank.calls.length
    await expect.poll(() => later(minute, () => bank.calls.length)).toBeGreaterThan(calls)
    wait(hour)
    expect([await status(app, id), await balance(app)]).toEqual(['FAILED', before])
    await app.expectBooksToBalance()
  })

  test('a report that was kept and can not be read any more holds up nothing, and is told once', async () => {
    const { app, run, later } = await startRouted(engine, mode)
    const bank = createBank()
    const receivedAt = '2026-03-01T11:00:00.000Z'
    const kept = { rail: 'bank', messageId: 'msg_old', body: 'in a form of long ago', receivedAt }
    await app.db.write((tx) => insertRailReport(tx, kept))
    const faults: unknown[] = []
    const reports = { verify: () => '', read: parsePostedReports }
    run({ ...bank.rail, reports }, { onError: (error) => void faults.push(error) })

    const { id } = await pay(app)
    await expect.poll(() => later(second, () => status(app, id))).toBe('COMPLETED')
    expect(faults.map(String)).toEqual([expect.stringContaining('the report msg_old of the rail bank')])
  })

  test('what can not be stored just now is tried again a while later, and not without end at once', async () => {
    const { app, run } = await startRouted(engine, mode)
    const { id } = await pay(app)
    let tried = 0
    const perform = async (): Promise<never> => {
      tried++
      throw new Error('the disk is full')
    }
    const rails = run(createBank().rail, { service: { ...app.service, perform }, onError: () => {} })
    await expect.poll(() => tried).toBeGreaterThan(0)
    const before = tried
    for (let read = 0; read < 100; read++) await status(app, id)
    expect(tried - before).toBeLessThan(10)
    await rails.poll()
    await expect.poll(() => tried).toBeGreaterThan(before)
  })

  test('by hand it is settled only where that is asked for twice', async () => {
    const { app, run } = await startRouted(engine, mode)
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

test('what may be with a bank is asked about first, then all else and what waits by turns', async () => {
  const { app, run, wait } = await startRouted('sqlite', 'live')
  const accepted = [await pay(app), await pay(app)]
  const unknown = await pay(app)
  for (const { id } of accepted) await answer(app.context(), id, { state: 'ACCEPTED' })
  wait(second)
  await answer(app.context(), unknown.id, { failure: 'it is down' })
  const queued = [await pay(app), await pay(app), await pay(app)]
  wait(10 * second)
  const bank = createBank({ maxConcurrentCalls: 8, decide: () => ({ state: 'ACCEPTED' }) })
  for (const { orderId } of [...accepted, unknown]) bank.taken.set(orderId, sampleOrder({ id: orderId }))
  run(bank.rail)
  await expect.poll(() => bank.calls.length).toBe(6)
  const ids = [unknown, accepted[0], queued[0], accepted[1], queued[1], queued[2]].map((each) => each?.orderId)
  expect(bank.calls.map(({ id }) => id)).toEqual(ids)
})
