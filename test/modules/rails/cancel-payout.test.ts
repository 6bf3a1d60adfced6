import { describe, expect, test } from 'vitest'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import type { Rail } from '../../../src/modules/rails/adapters/rail.ts'
import { cancelPayout } from '../../../src/modules/rails/orders/cancel-payout.ts'
import { beginCall } from '../../../src/modules/rails/orders/claim-order.ts'
import { scheduleImmediatePolls } from '../../../src/modules/rails/orders/poll-schedule.ts'
import { processOrder } from '../../../src/modules/rails/orders/process-order.ts'
import { getWallet } from '../../../src/modules/wallets/get-wallet.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App, Setup } from '../../support/app.ts'
import { everyEngine, everyEngineAndWorkers, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { perform } from '../../support/perform.ts'
import { cli } from '../../support/process.ts'
import { readStoredRows } from '../../support/stored.ts'
import { absentId, nigerian } from '../payouts/payout-places.ts'
import {
  createContradictedPayout,
  createRailPayout,
  makeDueCall,
  railOrderOf,
  recordReport,
} from './support/rail-payouts.ts'

async function start(setup: Setup) {
  const app = await startApp(setup)
  const walletId = await app.wallet({ balance: '100' })
  const balance = async () => (await getWallet(app.context(), { walletId })).balance
  return { app, balance }
}

async function cancel(app: App, input: object) {
  const { data, errors } = await app.graphql(
    `mutation ($input: CancelPayoutInput!) {
      cancelPayout(input: $input) {
        ... on CancelPayoutPayload { payout { status timeline { state cause } } }
        ... on UserError { code message field }
      }
    }`,
    { input },
  )
  expect(errors).toEqual([])
  return data.cancelPayout
}

/** A rail whose bank accepts every order; `overrides` replaces polls and cancellations. */
function createRail(overrides: Partial<Pick<Rail, 'cancel' | 'find'>>): Rail {
  const accepted = async () => ({ state: 'ACCEPTED' as const })
  return {
    name: 'sandbox',
    maxConcurrentCalls: 1,
    callMs: 1_000,
    idempotentForMs: 0,
    submit: accepted,
    find: accepted,
    ...overrides,
  }
}

describe.each(everyEngineAndWorkers)('cancelPayout on %s', (setup) => {
  test('refunds a payout that was not submitted, and returns the same result for a repeated call', async () => {
    const { app, balance } = await start(setup)
    const { id: payoutId } = await createRailPayout(app.context())
    expect(await balance()).toBe(90_00000000n)
    const input = { payoutId, idempotencyKey: 'once' }
    const first = await cancel(app, input)
    expect(first.payout).toEqual({
      status: 'FAILED',
      timeline: [
        { state: 'QUEUED', cause: null },
        { state: 'CANCELLED', cause: null },
      ],
    })
    expect(await cancel(app, input)).toEqual(first)
    expect(await cancel(app, { payoutId })).toEqual(first)
    expect(await balance()).toBe(100_00000000n)
    const { data } = await app.graphql('query($id: ID!) { payout(id: $id) { events { status cause } } }', {
      id: payoutId,
    })
    expect(data.payout.events).toEqual([{ status: 'FAILED', cause: 'cancelled' }])
    expect(await makeDueCall(app.context(), payoutId, { state: 'COMPLETED' })).toBe(null)
    await app.expectBooksToBalance()
  })
})

describe.each(everyEngine)('cancelPayout on %s', (engine) => {
  test('finds the payout by its idempotency key', async () => {
    const { app } = await start(engine)
    const context = createContext(app.service, app.merchant.id, 'made with')
    await createRailPayout(context)
    expect((await cancel(app, { payoutIdempotencyKey: 'made with' })).payout.status).toBe('FAILED')
    expect(await cancel(app, {})).toMatchObject({ code: 'INVALID_INPUT', field: 'payoutId' })
  })

  test('asks the bank to cancel a submitted payout, and refunds the payout when the bank has cancelled it', async () => {
    const { app, balance } = await start(engine)
    const context = app.context()
    const { id: payoutId } = await createRailPayout(context)
    await makeDueCall(context, payoutId, { state: 'ACCEPTED' })
    for (let i = 0; i < 2; i++) expect((await cancel(app, { payoutId })).payout.status).toBe('PROCESSING')
    expect(await balance()).toBe(90_00000000n)
    const { orderId } = await railOrderOf(context, payoutId)
    expect(await processOrder(context, createRail({ cancel: async () => 'CANCELLED' }), orderId)).toBe('answered')
    expect(await railOrderOf(context, payoutId)).toMatchObject({ state: 'CANCELLED', dueAt: null, cancelAskedAt: null })
    expect((await cancel(app, { payoutId })).payout.status).toBe('FAILED')
    expect(await balance()).toBe(100_00000000n)
    const events = 'query($id: ID!) { payout(id: $id) { events { status cause } } }'
    expect((await app.graphql(events, { id: payoutId })).data.payout.events).toEqual([
      { status: 'FAILED', cause: 'cancelled' },
    ])
    await app.expectBooksToBalance()
  })

  test.each([
    ['reports REJECTED before it responds with CANCELLED', [{ state: 'REJECTED' }, 'CANCELLED'], 'REJECTED'],
    ['responds with CANCELLED twice', ['CANCELLED', 'CANCELLED'], 'CANCELLED'],
    ['reports ACCEPTED after CANCELLED', ['CANCELLED', { state: 'ACCEPTED' }], 'CANCELLED'],
  ] as const)('needs no decision of an operator if the bank %s', async (_, results, state) => {
    const { app, balance } = await start(engine)
    const context = app.context()
    const { id: payoutId } = await createRailPayout(context)
    await makeDueCall(context, payoutId, { state: 'ACCEPTED' })
    await cancel(app, { payoutId })
    for (const each of results) await recordReport(context, payoutId, each)
    expect(await railOrderOf(context, payoutId)).toMatchObject({ state, dueAt: null })
    expect(await balance()).toBe(100_00000000n)
    await app.expectBooksToBalance()
  })

  test.each([
    ['responds with TOO_LATE', { cancel: async () => 'TOO_LATE' as const }],
    ['does not support cancelling', {}],
  ])('leaves the payout in progress if the bank %s', async (_, overrides) => {
    const { app, balance } = await start(engine)
    const context = app.context()
    const { id: payoutId } = await createRailPayout(context)
    await makeDueCall(context, payoutId, { state: 'ACCEPTED' })
    await cancel(app, { payoutId })
    const { orderId } = await railOrderOf(context, payoutId)
    await processOrder(context, createRail(overrides), orderId)
    const transfer = await railOrderOf(context, payoutId)
    expect(transfer).toMatchObject({ state: 'ACCEPTED', cancelAskedAt: null, dueAt: expect.any(BigInt) })
    expect(transfer.history.at(-1)).toMatchObject({ state: 'ACCEPTED', cause: 'it is too late to cancel the order' })
    expect(await balance()).toBe(90_00000000n)
  })

  test('alternates between cancelling and polling while the bank does not respond', async () => {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => nowMs })
    await app.wallet({ balance: '100' })
    const context = app.context()
    const { id: payoutId } = await createRailPayout(context)
    await makeDueCall(context, payoutId, { state: 'ACCEPTED' })
    await cancel(app, { payoutId })
    const calls: (string | null)[] = []
    for (let i = 0; i < 4; i++) {
      calls.push(await makeDueCall(context, payoutId, { failure: 'no route' }))
      nowMs += 3_600_000
    }
    expect(calls).toEqual(['cancel', 'find', 'cancel', 'find'])
  })

  test('makes the cancellation the next request to the bank, even if the bank reports ACCEPTED first', async () => {
    const { app } = await start(engine)
    const context = app.context()
    for (const result of [{ state: 'ACCEPTED' }, { failure: 'no answer' }] as const) {
      const { id: payoutId } = await createRailPayout(context)
      await makeDueCall(context, payoutId, result)
      await cancel(app, { payoutId })
      for (let i = 0; i < 3; i++) await recordReport(context, payoutId, { state: 'ACCEPTED' })
      expect(await makeDueCall(context, payoutId, 'CANCELLED')).toBe('cancel')
      expect(await railOrderOf(context, payoutId)).toMatchObject({ state: 'CANCELLED' })
    }
  })

  test('prevents another submission of the order until the bank has responded', async () => {
    const { app } = await start(engine)
    const context = app.context()
    const { id: payoutId } = await createRailPayout(context)
    await makeDueCall(context, payoutId, { failure: 'no answer' })
    const { orderId } = await railOrderOf(context, payoutId)
    await scheduleImmediatePolls(context, { orderIds: [orderId] })
    await makeDueCall(context, payoutId, 'NOT_FOUND')
    expect(await railOrderOf(context, payoutId)).toMatchObject({ state: 'QUEUED', attempts: 1 })
    expect((await cancel(app, { payoutId })).payout.status).toBe('PROCESSING')
    const lastEntry = (await railOrderOf(context, payoutId)).history.at(-1)
    expect(lastEntry).toMatchObject({ state: 'UNKNOWN', cause: 'a cancellation was requested' })
    expect(await makeDueCall(context, payoutId, 'CANCELLED')).toBe('cancel')
    expect(await railOrderOf(context, payoutId)).toMatchObject({ state: 'CANCELLED', attempts: 1 })
    await app.expectBooksToBalance()
  })

  test('rejects a payout that cannot be cancelled with a message that states why, and moves no money', async () => {
    const { app } = await start(engine)
    const context = app.context()
    const { id: manualPayout } = await perform(createPayout, context, { assetCode: 'USDC', amount: '1', ...nigerian })
    const { id: submitting } = await createRailPayout(context)
    const { orderId } = await railOrderOf(context, submitting)
    await beginCall(context, { orderId, rail: { callMs: 1_000, idempotentForMs: 0 } })
    const { id: completed } = await createRailPayout(context)
    await makeDueCall(context, completed, { state: 'COMPLETED' })
    const attention = await createContradictedPayout(context, 'REJECTED', 'COMPLETED')
    const before = await readStoredRows(app)
    for (const [payoutId, message] of [
      [manualPayout, 'No rail carries the payout'],
      [submitting, 'is being submitted to the rail sandbox at this moment'],
      [completed, 'is COMPLETED on the rail sandbox'],
      [attention, 'The payout needs attention'],
    ] as const) {
      expect(await cancel(app, { payoutId })).toEqual({
        code: 'PAYOUT_STATUS_CONFLICT',
        message: expect.stringContaining(message),
        field: null,
      })
    }
    expect(await cancel(app, { payoutId: absentId })).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    const stranger = createContext(app.service, (await app.otherMerchant()).id)
    expect(await domainErrorOf(() => perform(cancelPayout, stranger, { payoutId: completed }))).toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    })
    expect((await readStoredRows(app)).payout_transfers).toEqual(before.payout_transfers)
    expect((await readStoredRows(app)).payout_events).toEqual(before.payout_events)
  })

  test('is available as an operator command', async () => {
    const { app } = await start(engine)
    const installation = { folder: '', file: '', env: { DATABASE_URL: app.url, PATH: '' } } as never
    const { id } = await createRailPayout(app.context())
    const result = await cli(installation, 'payout', 'cancel', id, '--json')
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.json()).toMatchObject({ id, status: 'FAILED', rail: 'sandbox', state: 'CANCELLED' })
    expect((await cli(installation, 'payout', 'show', id, '--json')).json()).toMatchObject({
      rail: 'sandbox',
      timeline: [{ state: 'QUEUED' }, { state: 'CANCELLED' }],
      events: [{ status: 'FAILED', cause: 'cancelled' }],
    })
    await app.expectBooksToBalance()
  })
})

describe.each(everyEngine)('the command `payout settle` on %s', (engine) => {
  test('requires --override for a payout on a rail, and mentions that option in the error', async () => {
    const { app } = await start(engine)
    const context = app.context()
    const installation = { folder: '', file: '', env: { DATABASE_URL: app.url, PATH: '' } } as never
    const { id } = await createRailPayout(context)
    await makeDueCall(context, id, { state: 'ACCEPTED' })
    const rejected = await cli(installation, 'payout', 'settle', id, 'failed')
    expect(rejected).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^--override must be given, because the payout is on the rail sandbox, where it is ACCEPTED/,
      ),
    })
    const result = await cli(
      installation,
      'payout',
      'settle',
      id,
      'failed',
      '--override',
      '--reason',
      'seen at the bank',
      '--json',
    )
    expect(result.json()).toMatchObject({ id, status: 'FAILED' })
    expect(await railOrderOf(context, id)).toMatchObject({ state: 'REJECTED', dueAt: null })
    await recordReport(context, id, { state: 'COMPLETED', reference: 'BANK-1' })
    expect(await railOrderOf(context, id)).toMatchObject({ state: 'ATTENTION' })
    await app.expectBooksToBalance()
  })
})
