// Effects of a machine's clock that was an hour ahead for some seconds.
import { describe, expect, onTestFinished, test } from 'vitest'
import { timestamp } from '../../../src/core/ids-and-clock.ts'
import { createMerchantContext } from '../../../src/modules/merchants/merchant.ts'
import { setRate } from '../../../src/modules/pricing/rates.ts'
import type { RailOrder } from '../../../src/modules/rail-orders/rail-order.ts'
import { createHttpRail } from '../../../src/modules/rails/adapters/http-rail.ts'
import type { Rail } from '../../../src/modules/rails/adapters/rail.ts'
import { canBeSubmitted } from '../../../src/modules/rails/orders/claim-order.ts'
import { setRoute } from '../../../src/modules/rails/orders/rail-routes.ts'
import { startRailWorker } from '../../../src/modules/rails/orders/rail-worker.ts'
import { createSignedHeaders, parseSigner } from '../../../src/modules/webhooks/transport/standard-webhooks.ts'
import type { Mode } from '../../../src/operations/context.ts'
import { createService } from '../../../src/operations/context.ts'
import { createServer } from '../../../src/server/host.ts'
import type { App, Setup } from '../../support/app.ts'
import { loggerOfPlanFaults, payoutBody, startApp } from '../../support/app.ts'
import { everyEngineAndMode, setAddressKey } from '../../support/modes.ts'
import { wallTime } from '../../support/times.ts'
import { createBank } from './support/bank.ts'

const [second, minute, hour] = [1_000, 60_000, 3_600_000]
const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`

/** Starts a service with a wall clock that the test sets and a monotonic clock. */
async function startWithClocks(setup: Setup, mode: Mode) {
  const clocks = { wall: Date.parse('2026-03-01T12:00:00.000Z'), monotonic: 0 }
  const wallClock = () => wallTime(clocks.wall)
  const httpRail = createHttpRail({ name: 'bank', url: 'http://127.0.0.1:9', secrets: [secret], wallClock })
  const app = await startApp(setup, { mode, clock: () => clocks.wall, rails: [httpRail] })
  await setAddressKey(app)
  // The rates must also be in force for a clock that is set back.
  clocks.wall += 2 * hour
  await app.wallet({ network: 'erc20', balance: '1000' })
  await setRoute(app.service, { rail: 'bank' })
  return {
    app,
    httpRail,
    now: () => clocks.wall,
    pass: (ms: number) => {
      clocks.wall += ms
      clocks.monotonic += ms
    },
    setClock: (shiftMs: number) => {
      clocks.wall += shiftMs
    },
    /** Another process on the same database, whose clock was never ahead. */
    restarted: () => createService({ db: app.db, mode, secrets: app.service.secrets, clock: () => clocks.wall }),
    run: (rail: Rail, service = app.service) => {
      const rails = startRailWorker({
        service,
        rails: [rail],
        paused: [],
        contextOf: (merchantId) => createMerchantContext(service, merchantId),
        onUnknownOrders: () => {},
        onError: (error) => {
          throw error
        },
        clock: () => clocks.monotonic,
      })
      onTestFinished(() => rails.stop())
      return rails
    },
  }
}

async function pay(app: App) {
  const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1' } })
  return { id: body.data.id as string, orderId: body.data.reference_id as string }
}

async function timeline(app: App, id: string): Promise<string[]> {
  const query = 'query($id: ID!) { payout(id: $id) { timeline { state } } }'
  const { data } = await app.graphql(query, { id })
  return data.payout.timeline.map(({ state }: { state: string }) => state)
}

const statusOf = async (app: App, id: string) => (await app.rest('GET', `/api/payouts/${id}`)).body.data.status

describe.each(everyEngineAndMode)('a clock that was an hour ahead for some seconds, on %s in %s', (engine, mode) => {
  test.each(['forward', 'back'])(
    'does not invalidate a bank report that arrives after the clock was set %s and corrected',
    async (way) => {
      const { app, now, pass, setClock } = await startWithClocks(engine, mode)
      const shiftMs = way === 'forward' ? hour : -hour
      setClock(shiftMs)
      await pay(app)
      pass(3 * second)
      setClock(-shiftMs)
      const { id, orderId } = await pay(app)
      const payload = JSON.stringify({ id: orderId, state: 'COMPLETED', reference: 'B-1' })
      const signed = createSignedHeaders('msg_1', {
        body: payload,
        signer: parseSigner([secret]),
        now: wallTime(now()),
      })
      const posted = await app.rest('POST', '/rails/bank/reports', { key: null, payload, headers: { ...signed } })
      expect([posted.status, await statusOf(app, id)]).toEqual([200, 'COMPLETED'])
      await app.expectBooksToBalance()
    },
  )

  test.each(['the same process', 'a process that starts afterwards'])(
    'does not delay payouts that %s submits',
    async (process) => {
      const { app, pass, setClock, restarted, run } = await startWithClocks(engine, mode)
      const before = await pay(app)
      setClock(hour)
      const during = await pay(app)
      pass(3 * second)
      setClock(-hour)
      const after = await pay(app)
      const bank = createBank()
      const worker = run(bank.rail, process === 'the same process' ? app.service : restarted())
      await worker.poll()
      for (const { id } of [before, during, after]) await expect.poll(() => statusOf(app, id)).toBe('COMPLETED')
      await app.expectBooksToBalance()
    },
  )

  test.each(['the same process', 'a process that starts afterwards'])(
    'does not delay polls that %s sends to the bank',
    async (process) => {
      const { app, pass, setClock, restarted, run } = await startWithClocks(engine, mode)
      const bank = createBank({ fate: (call) => (call === 'submit' ? 'answer lost' : 'answered') })
      const worker = run(bank.rail)
      await worker.poll()
      setClock(hour)
      const { id } = await pay(app)
      await worker.poll()
      await expect.poll(() => timeline(app, id)).toContain('UNKNOWN')
      pass(3 * second)
      setClock(-hour)
      if (process !== 'the same process') await worker.stop()
      await (process === 'the same process' ? worker : run(bank.rail, restarted())).poll()
      await expect.poll(() => statusOf(app, id)).toBe('COMPLETED')
      await app.expectBooksToBalance()
    },
  )

  test('does not delay another machine’s polls of an order whose next poll was scheduled with that clock', async () => {
    const { app, pass, setClock, restarted, run } = await startWithClocks(engine, mode)
    const bank = createBank({ fate: (call) => (call === 'submit' ? 'answer lost' : 'answered') })
    const correctWorker = run(bank.rail)
    await correctWorker.poll()
    setClock(24 * hour)
    const aheadWorker = run(bank.rail, restarted())
    const { id } = await pay(app)
    await aheadWorker.poll()
    await expect.poll(() => timeline(app, id)).toContain('UNKNOWN')
    await aheadWorker.stop()
    setClock(-24 * hour)
    await correctWorker.poll()
    pass(15 * minute)
    await correctWorker.poll()
    await expect.poll(() => statusOf(app, id)).toBe('COMPLETED')
    await app.expectBooksToBalance()
  })

  test('does not keep a scheduled rate effective after the clock is corrected', async () => {
    const { app, now, pass, setClock } = await startWithClocks(engine, mode)
    const effectiveAt = new Date(now() + 30 * minute).toISOString()
    await setRate(app.service, { fromCode: 'USDC', toCode: 'NGN', rate: '1550', effectiveAt })
    const rate = async () => {
      const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '1' } })
      return body.data.exchange_rate
    }
    setClock(hour)
    expect(await rate()).toBe('1550')
    pass(3 * second)
    setClock(-hour)
    expect(await rate()).toBe('1500')
    pass(31 * minute)
    expect(await rate()).toBe('1550')
  })

  test('does not allow an order to be submitted again while its submission time is in the future', async () => {
    const { app, setClock } = await startWithClocks(engine, mode)
    const { wallClock } = app.service
    const submittedAt = timestamp(wallClock() + hour)
    const order = { attempts: 1, submittedAt, createdAt: submittedAt } as RailOrder
    const canSubmit = () => canBeSubmitted({ wallClock, aheadMs: 0 }, order, { idempotentForMs: 2 * hour })
    expect(canSubmit()).toBe(false)
    setClock(hour)
    expect(canSubmit()).toBe(true)
    setClock(2 * hour + second)
    expect(canSubmit()).toBe(false)
  })

  test('does not shorten the lifetime of later client tokens, and a token with a future issue time is rejected', async () => {
    const { app, now, pass, setClock, restarted } = await startWithClocks(engine, mode)
    const make = async () => {
      const body = { customer_id: null, scopes: ['read'] }
      return (await app.rest('POST', '/api/client-tokens', { body })).body.data as { token: string; expires_at: string }
    }
    setClock(hour)
    const { token: tokenAhead } = await make()
    pass(3 * second)
    setClock(-hour)
    const { token, expires_at } = await make()
    expect(Date.parse(expires_at) - now()).toBeLessThanOrEqual(15 * minute)
    const server = createServer({ service: restarted(), logger: loggerOfPlanFaults(), rateLimit: null })
    onTestFinished(() => server.close())
    const read = async (bearer = token) => {
      const headers = { authorization: `Bearer ${bearer}` }
      const own = await app.rest('GET', '/api/wallets', { key: null, headers })
      const restartedResponse = await server.inject({ method: 'GET', url: '/api/wallets', headers })
      return [own.status, restartedResponse.statusCode]
    }
    expect(await read()).toEqual([200, 200])
    expect(await read(tokenAhead)).toEqual([401, 401])
    pass(15 * minute)
    expect(await read()).toEqual([401, 401])
    expect(await read(tokenAhead)).toEqual([401, 401])
  })
})
