import { setTimeout } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { contextByClock } from '../../src/merchants/clock.ts'
import { beginCall } from '../../src/rails/begin-call.ts'
import type { Rail } from '../../src/rails/rail.ts'
import { pause, resume } from '../../src/rails/routes.ts'
import { answerBegun, limitsOf } from '../../src/rails/run-order.ts'
import { startRails } from '../../src/rails/run-rails.ts'
import { sandboxRail } from '../../src/rails/sandbox-rail.ts'
import type { App, Setup } from '../support/app.ts'
import { everyEngine, everyEngineAndWorkers, payoutBody, startApp } from '../support/app.ts'

/** The service with the bank of the sandbox at work, and a wallet with 1,000 USDC. */
async function startBank(setup: Setup) {
  const app = await startApp(setup)
  const walletId = await app.wallet({ network: 'erc20', balance: '1000' })
  startRunner(app, sandboxRail)
  return { app, walletId }
}

function startRunner(app: App, rail: Rail) {
  const rails = startRails({
    service: app.service,
    rails: [rail],
    paused: [],
    contextOf: (merchantId) => contextByClock(app.service, merchantId),
    onUnknown: () => {},
    onFault: (error) => {
      throw error
    },
  })
  onTestFinished(() => rails.stop())
  return rails
}

async function pay(app: App, digits: string): Promise<string> {
  const body = { ...payoutBody, account_number: `99999999${digits}` }
  const paid = await app.rest('POST', '/api/payouts/banks', { body })
  expect(paid.body.data).toMatchObject({ status: 'PROCESSING', fiat_reference_id: null })
  return paid.body.data.id
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

/** What becomes of a payout: by its account, at once and after the clock was moved on. */
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

describe.each(everyEngineAndWorkers)('the bank of the sandbox, on %s', (setup) => {
  test('does what the account says, each at its time', async () => {
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

// Each answer is a write between those of payouts that are accepted: more at once would slow these down.
test.each(everyEngine)(
  'the bank of the sandbox, on %s, is asked about two payouts at once, however many wait',
  async (engine) => {
    const app = await startApp(engine)
    await app.wallet({ network: 'erc20', balance: '1000' })
    const ids = [await pay(app, '00')]
    while (ids.length < 7) ids.push(await pay(app, '00'))
    const asked: string[] = []
    const open = Promise.withResolvers<void>()
    const submit: Rail['submit'] = async (order) => {
      asked.push(order.id)
      await open.promise
      return sandboxRail.submit(order)
    }
    const rails = startRunner(app, { ...sandboxRail, submit })

    await expect.poll(() => asked.length).toBe(2)
    await rails.look()
    expect((await payout(app, ids[6] as string)).status).toBe('PROCESSING')
    expect(asked).toHaveLength(2)
    open.resolve()

    for (const id of ids) await expect.poll(async () => (await payout(app, id)).status).toBe('COMPLETED')
  },
)

describe.each(everyEngine)('advanceClock, on %s', (engine) => {
  test('submits nothing to a rail that is paused, and asks for what was submitted', async () => {
    const { app } = await startBank(engine)
    const early = await pay(app, '01')
    await advance(app, { by: 'PT1S' })
    await pause(app.service, { rail: 'sandbox' })
    const waiting = await pay(app, '00')
    await advance(app, { by: 'PT2H' })
    expect([(await payout(app, early)).status, (await payout(app, waiting)).status]).toEqual([
      'COMPLETED',
      'PROCESSING',
    ])
    await resume(app.service, { rail: 'sandbox' })
    await advance(app, { by: 'PT0S' })
    expect((await payout(app, waiting)).status).toBe('COMPLETED')
  })

  test('waits for what the bank is being asked already, which counts from before', async () => {
    const app = await startApp(engine)
    await app.wallet({ network: 'erc20', balance: '1000' })
    const id = await pay(app, '20')
    const { reference_id: orderId } = await payout(app, id)
    const context = app.context()
    const begun = await beginCall(context, { orderId, rail: limitsOf(sandboxRail) })
    const advancing = advance(app, { by: 'P1D' })
    await setTimeout(50)
    await answerBegun(context, sandboxRail, begun as NonNullable<typeof begun>)
    await advancing
    expect((await payout(app, id)).status).toBe('RETURNED')
  })
})
