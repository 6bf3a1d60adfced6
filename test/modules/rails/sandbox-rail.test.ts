import { setTimeout } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createMerchantContext } from '../../../src/modules/merchants/merchant.ts'
import type { Rail } from '../../../src/modules/rails/adapters/rail.ts'
import { sandboxRail } from '../../../src/modules/rails/adapters/sandbox-rail.ts'
import { advanceClock } from '../../../src/modules/rails/orders/advance-clock.ts'
import { beginCall } from '../../../src/modules/rails/orders/claim-order.ts'
import { callLimitsOf, executeCall } from '../../../src/modules/rails/orders/process-order.ts'
import { pauseSubmissions, resumeSubmissions } from '../../../src/modules/rails/orders/rail-routes.ts'
import { startRailWorker } from '../../../src/modules/rails/orders/rail-worker.ts'
import type { App, Setup } from '../../support/app.ts'
import { everyEngine, everyEngineAndWorkers, payoutBody, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { sampleOrder } from './support/orders.ts'

async function startBank(setup: Setup) {
  const app = await startApp(setup)
  const walletId = await app.wallet({ network: 'erc20', balance: '1000' })
  startRunner(app, sandboxRail)
  return { app, walletId }
}

function startRunner(app: App, rail: Rail) {
  const worker = startRailWorker({
    service: app.service,
    rails: [rail],
    paused: [],
    contextOf: (merchantId) => createMerchantContext(app.service, merchantId),
    onUnknownOrders: () => {},
    onError: (error) => {
      throw error
    },
  })
  onTestFinished(() => worker.stop())
  return worker
}

async function pay(app: App, digits: string): Promise<string> {
  const body = { ...payoutBody, account_number: `99999999${digits}` }
  const created = await app.rest('POST', '/api/payouts/banks', { body })
  expect(created.body.data).toMatchObject({ status: 'PROCESSING', fiat_reference_id: null })
  return created.body.data.id
}

async function payout(app: App, id: string) {
  return (await app.rest('GET', `/api/payouts/${id}`)).body.data
}

async function advance(app: App, input: object) {
  const { data, errors } = await app.graphql(
    `mutation ($input: AdvanceClockInput!) {
      advanceClock(input: $input) { __typename ... on AdvanceClockPayload { now } ... on UserError { code message } }
    }`,
    { input },
  )
  expect(errors).toEqual([])
  return data.advanceClock
}

/** The statuses of a payout by the last digits of its account: at first, and after each advance of the clock. */
const outcomes: readonly (readonly [digits: string, ...statuses: readonly string[]])[] = [
  ['00', 'COMPLETED'],
  ['01', 'PROCESSING', 'PT59M', 'PROCESSING', 'PT1M', 'COMPLETED'],
  ['10', 'FAILED'],
  ['11', 'FAILED'],
  ['12', 'FAILED'],
  ['13', 'FAILED'],
  ['20', 'COMPLETED', 'PT23H', 'COMPLETED', 'PT1H', 'RETURNED'],
  ['30', 'PROCESSING', 'PT11S', 'COMPLETED'],
  ['31', 'PROCESSING', 'PT11S', 'COMPLETED'],
  ['32', 'PROCESSING', 'PT1S', 'COMPLETED', 'P1D', 'COMPLETED'],
  ['33', 'PROCESSING', 'PT1S', 'RETURNED', 'P1D', 'RETURNED'],
  ['34', 'FAILED', 'P1D', 'FAILED'],
  ['40', 'PROCESSING', 'PT50M', 'PROCESSING', 'PT3H', 'COMPLETED'],
]

describe.each(everyEngineAndWorkers)('the sandbox rail on %s', (setup) => {
  test('settles a payout with the documented result and delay for its account number', async () => {
    const { app } = await startBank(setup)
    for (const [digits, first, ...later] of outcomes) {
      const id = await pay(app, digits)
      await advance(app, { by: 'PT0S' })
      expect([digits, (await payout(app, id)).status]).toEqual([digits, first])
      for (let step = 0; step < later.length; step += 2) {
        expect(await advance(app, { by: later[step] })).toMatchObject({ __typename: 'AdvanceClockPayload' })
        expect([digits, later[step], (await payout(app, id)).status]).toEqual([digits, later[step], later[step + 1]])
      }
    }
    await app.expectBooksToBalance()
  })
})

// Recording a response is a write, so more concurrent calls would slow down the creation of payouts.
test.each(everyEngine)(
  'the sandbox rail on %s makes at most two concurrent calls, for any number of payouts',
  async (engine) => {
    const app = await startApp(engine)
    await app.wallet({ network: 'erc20', balance: '1000' })
    const ids = [await pay(app, '00')]
    while (ids.length < 7) ids.push(await pay(app, '00'))
    const submittedIds: string[] = []
    const open = Promise.withResolvers<void>()
    const submit: Rail['submit'] = async (order) => {
      submittedIds.push(order.id)
      await open.promise
      return sandboxRail.submit(order)
    }
    const worker = startRunner(app, { ...sandboxRail, submit })

    await expect.poll(() => submittedIds.length).toBe(2)
    await worker.poll()
    expect((await payout(app, ids[6] as string)).status).toBe('PROCESSING')
    expect(submittedIds).toHaveLength(2)
    open.resolve()

    for (const id of ids) await expect.poll(async () => (await payout(app, id)).status).toBe('COMPLETED')
  },
)

const [second, hour, day] = [1_000, 3_600_000, 24 * 3_600_000]
const accepted = { state: 'ACCEPTED' }
const completed = { state: 'COMPLETED' }
const returned = { state: 'RETURNED', code: 'ACCOUNT_CLOSED' }
const rejected = (code: string) => ({ state: 'REJECTED', code })
const notFound = 'NOT_FOUND'
const silent = 'no answer'

type Outcome = object | string

/** The results of submitting and polling `ageMs` after the first submission. */
test.each<readonly [digits: string, attempts: number, ageMs: number, submitted: Outcome, found: Outcome | null]>([
  ['00', 1, 0, completed, null],
  ['01', 1, -second, { ...accepted, nextAfterMs: hour }, null],
  ['01', 1, 0, { ...accepted, nextAfterMs: hour }, null],
  ['01', 1, hour - 1, { ...accepted, nextAfterMs: 1 }, null],
  ['01', 1, hour, completed, null],
  ['10', 1, 0, rejected('NO_SUCH_ACCOUNT'), null],
  ['11', 1, 0, rejected('ACCOUNT_INACTIVE'), null],
  ['12', 1, 0, rejected('NAME_DIFFERS'), null],
  ['13', 1, 0, rejected('LIMIT_EXCEEDED'), null],
  ['20', 1, day - 1, { ...completed, nextAfterMs: 1 }, null],
  ['20', 1, day, returned, null],
  ['30', 1, 0, silent, completed],
  ['31', 1, 0, silent, notFound],
  ['31', 2, 0, completed, null],
  ['32', 1, 0, { ...accepted, nextAfterMs: second }, null],
  ['32', 1, second, { ...completed, nextAfterMs: second }, null],
  ['32', 1, 2 * second, completed, null],
  ['33', 1, 0, { ...accepted, nextAfterMs: second }, null],
  ['33', 1, second, { ...returned, nextAfterMs: second }, null],
  ['33', 1, 2 * second, completed, null],
  ['34', 1, 0, { ...rejected('NO_SUCH_ACCOUNT'), nextAfterMs: second }, null],
  ['34', 1, second, completed, null],
  ['40', 1, hour - 1, silent, null],
  ['40', 1, hour, completed, notFound],
  ['40', 2, hour, completed, null],
  ['99', 1, 0, completed, null],
])(
  'the sandbox bank, for the last digits %s, %i submissions and %i ms, responds to a submission with %j',
  async (...row) => {
    const [digits, attempts, ageMs, submitted, polled] = row
    const plain = sampleOrder({ id: '01980c61-0a1b-7c2d-8e3f-40516273849a' })
    const order = {
      ...plain,
      recipient: { ...plain.recipient, accountNumber: `99999999${digits}` },
      attempts,
      now: Date.parse(plain.submittedAt) + ageMs,
    }
    const withReference = (outcome: Outcome) =>
      typeof outcome === 'object' ? { ...outcome, reference: 'SANDBOX-40516273849A' } : outcome
    const resultOf = (call: Promise<unknown>) =>
      call.catch(({ message }: Error) => (message === 'the bank did not respond' ? silent : message))
    expect(await resultOf(sandboxRail.submit(order))).toEqual(withReference(submitted))
    expect(await resultOf(sandboxRail.find(order))).toEqual(withReference(polled ?? submitted))
  },
)

test('the sandbox rail allows two concurrent calls and has independent failures', () => {
  expect(sandboxRail).toMatchObject({
    maxConcurrentCalls: 2,
    callMs: 10_000,
    hasIndependentFailures: true,
    idempotentForMs: 30 * day,
  })
})

describe('advanceClock', () => {
  const start = Date.parse('2026-03-01T12:00:00.000Z')
  const startStill = () => startApp('sqlite', { clock: () => start })

  test.each([
    ['PT0S', 0],
    ['PT1S', second],
    ['PT90M', 90 * 60 * second],
    ['P1D', day],
    ['P52W', 364 * day],
    ['P1W2DT3H4M5S', 9 * day + 3 * hour + 4 * 60 * second + 5 * second],
    ['PT999999S', 999_999 * second],
    ['P3660D', 3_660 * day],
  ])('advances the clock by %s, which is %i ms', async (by, ms) => {
    const app = await startStill()
    expect(await advance(app, { by })).toMatchObject({ now: new Date(start + ms).toISOString() })
    expect(await advance(app, { by: 'PT0S' })).toMatchObject({ now: new Date(start + ms).toISOString() })
  })

  test.each([
    '',
    'P',
    'PT',
    'P1',
    '1H',
    'P1DT',
    'P1M',
    'P1Y',
    'PT1.5H',
    'PT-1H',
    'P1H',
    'xPT1H',
    'PT1Hx',
    'PT1000000S',
  ])('rejects %j as a duration', async (by) => {
    const app = await startStill()
    const message = 'by must be a duration such as PT1H, P1D or P1W.'
    const missing = 'to is required, unless by is given.'
    expect(await advance(app, { by })).toMatchObject({ code: 'INVALID_INPUT', message: by === '' ? missing : message })
  })

  test('advances the clock either by a duration or to a time, and at most ten years ahead', async () => {
    const app = await startStill()
    const at = (ms: number) => new Date(start + ms).toISOString()
    expect(await advance(app, { to: at(0) })).toMatchObject({ now: at(0) })
    expect(await advance(app, { to: at(hour) })).toMatchObject({ now: at(hour) })
    const forward = `must not be before ${at(hour)}, the current time: the clock only moves forward.`
    expect(await advance(app, { to: at(hour - 1) })).toMatchObject({ message: `to ${forward}` })
    const limit = `must not go beyond ${at(3_660 * day)}.`
    expect(await advance(app, { to: at(3_660 * day + 1) })).toMatchObject({ message: `to ${limit}` })
    expect(await advance(app, { by: 'P3660D' })).toMatchObject({ message: `by ${limit}` })
    expect(await advance(app, {})).toMatchObject({ message: 'to is required, unless by is given.' })
    expect(await advance(app, { to: at(2 * hour), by: 'PT1H' })).toMatchObject({
      message: 'by must not be used together with to.',
    })
    expect(await advance(app, { by: 'PT0S' })).toMatchObject({ now: at(hour) })
  })

  test('advances the clock once for repeated calls with one idempotency key', async () => {
    const app = await startStill()
    const input = { by: 'PT1H', idempotencyKey: 'once' }
    const expectedNow = new Date(start + hour).toISOString()
    for (let each = 0; each < 2; each++) expect(await advance(app, input)).toMatchObject({ now: expectedNow })
    expect(await advance(app, { by: 'PT0S' })).toMatchObject({ now: expectedNow })
    expect(await advance(app, { ...input, by: 'PT2H' })).toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED' })
  })

  test('gives each change of a payout its own time, even while another rail is paused', async () => {
    const app = await startStill()
    await app.wallet({ network: 'erc20', balance: '1000' })
    await pauseSubmissions(app.service, { rail: 'bank' })
    const timelineOf = async (digits: string) => {
      const id = await pay(app, digits)
      await advance(app, { by: 'P2D' })
      const { data } = await app.graphql('query($id: ID!) { payout(id: $id) { timeline { state at } } }', { id })
      const [first] = data.payout.timeline
      return data.payout.timeline.map(({ state, at }: { state: string; at: string }) => [
        state,
        Date.parse(at) - Date.parse(first.at),
      ])
    }
    const acceptedSteps = ['QUEUED', 'SUBMITTING', 'ACCEPTED'].map((state) => [state, 0])
    expect(await timelineOf('01')).toEqual([...acceptedSteps, ['COMPLETED', hour]])
    expect(await timelineOf('32')).toEqual([...acceptedSteps, ['COMPLETED', second]])
    expect(await timelineOf('20')).toEqual([...acceptedSteps.slice(0, 2), ['COMPLETED', 0], ['RETURNED', day]])
  })

  test('is rejected in live mode', async () => {
    const app = await startApp('sqlite', { mode: 'live' })
    const error = await domainErrorOf(() => advanceClock(app.context(), { by: 'PT1H' }))
    expect(error.code).toBe('SANDBOX_ONLY')
  })
})

describe.each(everyEngine)('advanceClock on %s', (engine) => {
  test('submits nothing to a paused rail but polls submitted orders', async () => {
    const { app } = await startBank(engine)
    const acceptedId = await pay(app, '01')
    await advance(app, { by: 'PT1S' })
    await pauseSubmissions(app.service, { rail: 'sandbox' })
    const queuedId = await pay(app, '00')
    await advance(app, { by: 'PT2H' })
    expect([(await payout(app, acceptedId)).status, (await payout(app, queuedId)).status]).toEqual([
      'COMPLETED',
      'PROCESSING',
    ])
    await resumeSubmissions(app.service, { rail: 'sandbox' })
    await advance(app, { by: 'PT0S' })
    expect((await payout(app, queuedId)).status).toBe('COMPLETED')
  })

  test('waits for a call in progress, so that the result of the call is recorded before the clock advances', async () => {
    const app = await startApp(engine)
    await app.wallet({ network: 'erc20', balance: '1000' })
    const id = await pay(app, '20')
    const { reference_id: orderId } = await payout(app, id)
    const context = app.context()
    const call = await beginCall(context, { orderId, rail: callLimitsOf(sandboxRail) })
    const advanced = advance(app, { by: 'P1D' })
    await setTimeout(50)
    await executeCall(context, sandboxRail, call as NonNullable<typeof call>)
    await advanced
    expect((await payout(app, id)).status).toBe('RETURNED')
  })
})
