import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { DomainError } from '../../../src/core/errors.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { getPayout } from '../../../src/modules/payouts/get-payout.ts'
import { settledStatuses, settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { reportStates } from '../../../src/modules/rail-orders/rail-order.ts'
import { listAttention } from '../../../src/modules/rails/attention/list-attention.ts'
import {
  attentionActions,
  resolveAttention,
  resolveAttentionByOperator,
} from '../../../src/modules/rails/attention/resolve-attention.ts'
import { cancelPayout } from '../../../src/modules/rails/orders/cancel-payout.ts'
import { scheduleImmediatePolls } from '../../../src/modules/rails/orders/poll-schedule.ts'
import type { RailCallResult } from '../../../src/modules/rails/orders/record-response.ts'
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
  let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
  const app = await startApp(setup, {
    clock: () => {
      nowMs += 1_000
      return nowMs
    },
  })
  const walletId = await app.wallet({ balance: '100' })
  const balance = async () => (await getWallet(app.context(), { walletId })).balance
  return { app, balance }
}

/** Creates a payout that the bank has lost after the time in which it may be submitted again. */
async function createLostPayout(app: App): Promise<string> {
  const context = app.context()
  const { id } = await createRailPayout(context)
  await makeDueCall(context, id, { state: 'ACCEPTED' })
  await cancelPayout(context, { payoutId: id })
  await makeDueCall(context, id, 'NOT_FOUND')
  return id
}

async function resolve(app: App, payoutId: string, action: string, reason = 'the bank says so on the phone') {
  const { data, errors } = await app.graphql(
    `mutation ($input: ResolveAttentionInput!) {
      resolveAttention(input: $input) {
        ... on ResolveAttentionPayload { payout { status } }
        ... on UserError { code message field }
      }
    }`,
    { input: { payoutId, action, reason } },
  )
  return errors[0] ?? data.resolveAttention
}

async function attention(app: App, args = '') {
  const { data, errors } = await app.graphql(
    `{ attention${args} { after nodes { payout { uuid status } rail reference cause since actions } } }`,
  )
  expect(errors).toEqual([])
  return data.attention
}

/**
 * Each row: the action, the payout's status, the reports that led there, and the resulting status, order state and
 * balance.
 */
const cases = [
  ['RETRY', 'PROCESSING', [], 'PROCESSING', 'UNKNOWN', 90],
  ['COMPLETE', 'PROCESSING', [], 'COMPLETED', 'COMPLETED', 90],
  ['FAIL', 'PROCESSING', [], 'FAILED', 'REJECTED', 100],
  ['COMPLETE', 'COMPLETED', ['COMPLETED', 'REJECTED'], 'COMPLETED', 'COMPLETED', 90],
  ['FAIL', 'COMPLETED', ['COMPLETED', 'REJECTED'], 'RETURNED', 'RETURNED', 100],
  ['FAIL', 'FAILED', ['REJECTED', 'COMPLETED'], 'FAILED', 'REJECTED', 100],
  ['FAIL', 'RETURNED', ['RETURNED', 'REJECTED'], 'RETURNED', 'RETURNED', 100],
] as const

describe.each(everyEngineAndWorkers)('the attention queue on %s', (setup) => {
  test.each(cases)(
    'accepts the action %s for a payout with the status %s',
    async (action, statusBefore, reports, statusAfter, state, balanceAfter) => {
      const { app, balance } = await start(setup)
      const payoutId =
        reports.length > 0 ? await createContradictedPayout(app.context(), ...reports) : await createLostPayout(app)
      const { nodes } = await attention(app)
      expect(nodes).toMatchObject([
        { payout: { uuid: payoutId, status: statusBefore }, rail: 'sandbox', cause: expect.any(String) },
      ])
      expect(nodes[0].actions).toContain(action)
      expect(await resolve(app, payoutId, action)).toEqual({ payout: { status: statusAfter } })
      const transfer = await railOrderOf(app.context(), payoutId)
      expect(transfer.history.at(-1)).toMatchObject({ state, cause: 'the bank says so on the phone' })
      expect(transfer).toMatchObject({ state, dueAt: action === 'RETRY' ? expect.any(BigInt) : null })
      expect(await balance()).toBe(BigInt(balanceAfter) * 100_000_000n)
      expect((await attention(app)).nodes).toEqual([])
      await app.expectBooksToBalance()
    },
  )
})

describe.each(everyEngine)('the attention queue on %s', (engine) => {
  test.each([
    ['RETRY', 'COMPLETED', ['COMPLETED', 'REJECTED'], 'is already COMPLETED'],
    ['RETRY', 'FAILED', ['REJECTED', 'COMPLETED'], 'is already FAILED'],
    ['COMPLETE', 'FAILED', ['REJECTED', 'COMPLETED'], "its money is back in the wallet, so it can't be completed"],
    ['COMPLETE', 'RETURNED', ['RETURNED', 'REJECTED'], 'recover the money outside the service'],
  ] as const)(
    'rejects the action %s for a payout with the status %s, and moves no money',
    async (action, was, said, message) => {
      const { app } = await start(engine)
      const payoutId = await createContradictedPayout(app.context(), ...said)
      const { nodes } = await attention(app)
      expect(nodes).toMatchObject([{ payout: { status: was } }])
      expect(nodes[0].actions).not.toContain(action)
      const before = await readStoredRows(app)
      expect(await resolve(app, payoutId, action)).toEqual({
        code: 'PAYOUT_STATUS_CONFLICT',
        message: expect.stringContaining(message),
        field: null,
      })
      expect(await readStoredRows(app)).toEqual(before)
    },
  )

  test('rejects an action without a reason, or for a payout that is unknown, not on the queue or of another merchant', async () => {
    const { app } = await start(engine)
    const payoutId = await createContradictedPayout(app.context(), 'REJECTED', 'COMPLETED')
    const { id: queuedId } = await createRailPayout(app.context())
    expect(await resolve(app, payoutId, 'FAIL', '  ')).toMatchObject({ code: 'INVALID_INPUT', field: 'reason' })
    expect(await resolve(app, absentId, 'FAIL')).toMatchObject({ code: 'RESOURCE_NOT_FOUND' })
    expect(await resolve(app, queuedId, 'FAIL')).toMatchObject({
      code: 'PAYOUT_STATUS_CONFLICT',
      message: 'The payout is QUEUED on the rail sandbox: it needs no decision.',
    })
    const { id: manualPayout } = await perform(createPayout, app.context(), {
      assetCode: 'USDC',
      amount: '1',
      ...nigerian,
    })
    expect(await resolve(app, manualPayout, 'FAIL')).toMatchObject({
      code: 'PAYOUT_STATUS_CONFLICT',
      message: 'No rail carries the payout: it must be settled by hand.',
    })
    const stranger = createContext(app.service, (await app.otherMerchant()).id)
    const input = { payoutId, action: 'FAIL', reason: 'mine' } as const
    expect(await domainErrorOf(() => perform(resolveAttention, stranger, input))).toMatchObject({
      code: 'RESOURCE_NOT_FOUND',
    })
  })

  test('allows a merchant only the action `RETRY` in live mode', async () => {
    const { app, balance } = await start(engine)
    const payoutId = await createLostPayout(app)
    const context = { ...app.context(), mode: 'live' } as const
    for (const action of ['FAIL', 'COMPLETE'] as const) {
      const input = { payoutId, action, reason: 'please' }
      expect(await domainErrorOf(() => perform(resolveAttention, context, input))).toMatchObject({
        code: 'SANDBOX_ONLY',
        message: `In MODE=live only an operator may ${action} a payout, on the command line: attention ${action === 'FAIL' ? 'fail' : 'complete'}.`,
      })
    }
    expect((await listAttention(context, {})).items).toMatchObject([{ payoutId, actions: ['RETRY'] }])
    await perform(resolveAttention, context, { payoutId, action: 'RETRY', reason: 'please' })
    expect(await balance()).toBe(90_00000000n)
    expect(await railOrderOf(context, payoutId)).toMatchObject({ state: 'UNKNOWN' })
  })

  test('appends each new report of the bank to the cause once while the payout is on the queue', async () => {
    const { app, balance } = await start(engine)
    const context = app.context()
    const payoutId = await createLostPayout(app)
    const { nodes: before } = await attention(app)
    const [{ cause: initialCause }] = before
    for (const result of [
      { state: 'COMPLETED' },
      { state: 'COMPLETED', reference: 'BANK-7' },
      { state: 'RETURNED', reference: 'BANK-8', code: 'CLOSED' },
    ] as const) {
      await recordReport(context, payoutId, result)
      expect((await attention(app)).nodes[0].reference).toBe('reference' in result ? 'BANK-7' : null)
    }
    const { nodes } = await attention(app)
    const cause = `${initialCause}; the bank reports COMPLETED; the bank reports RETURNED: CLOSED`
    expect(nodes).toEqual([{ ...before[0], reference: 'BANK-7', cause }])
    expect(await balance()).toBe(90_00000000n)
    expect((await railOrderOf(context, payoutId)).history.slice(-3).map(({ state }) => state)).toEqual(
      Array.from({ length: 3 }, () => 'ATTENTION'),
    )
    await recordReport(context, payoutId, 'CANCELLED')
    await recordReport(context, payoutId, 'CANCELLED')
    expect((await attention(app)).nodes).toMatchObject([{ cause: `${cause}; the bank reports CANCELLED` }])
    const other = await createContradictedPayout(context, 'REJECTED', 'COMPLETED')
    await recordReport(context, other, { state: 'COMPLETED' })
    expect((await attention(app)).nodes[1]).toMatchObject({
      cause: 'the bank reports COMPLETED for an order that was REJECTED',
    })
  })

  test.each([
    ['COMPLETED', 'ATTENTION', 'the bank reports CANCELLED for an order that was COMPLETED'],
    ['RETURNED', 'ATTENTION', 'the bank reports CANCELLED for an order that was RETURNED'],
    ['REJECTED', 'REJECTED', null],
  ] as const)(
    'after a report of CANCELLED, an order in the state %s gets the state %s',
    async (firstState, state, cause) => {
      const { app, balance } = await start(engine)
      const { id } = await createRailPayout(app.context())
      await makeDueCall(app.context(), id, { state: firstState })
      const before = await balance()
      await recordReport(app.context(), id, 'CANCELLED')
      const transfer = await railOrderOf(app.context(), id)
      expect(transfer).toMatchObject({ state, dueAt: null })
      expect(transfer.history.at(-1)).toMatchObject({ state, cause })
      expect(await balance()).toBe(before)
      await app.expectBooksToBalance()
    },
  )

  test('shows only the current cause of a payout, not its earlier causes', async () => {
    const { app } = await start(engine)
    const { id } = await createRailPayout(app.context())
    await makeDueCall(app.context(), id, { failure: 'it is down' })
    await scheduleImmediatePolls(app.context(), { orderIds: [(await railOrderOf(app.context(), id)).orderId] })
    await makeDueCall(app.context(), id, 'NOT_FOUND', { idempotentForMs: 0 })
    const cause = 'the bank has no record of the order, but an earlier submission may still arrive'
    expect((await attention(app)).nodes).toMatchObject([{ cause }])
    await resolve(app, id, 'RETRY')
    await makeDueCall(app.context(), id, 'NOT_FOUND', { idempotentForMs: 0 })
    expect(await attention(app, '(first: 1)')).toMatchObject({ nodes: [{ cause }], after: null })
  })

  test('removes a payout when an operator settles it with `override`, even if its status does not change', async () => {
    const { app } = await start(engine)
    const context = app.context()
    for (const [status, ...reports] of [
      ['COMPLETED', 'COMPLETED', 'REJECTED'],
      ['RETURNED', 'COMPLETED', 'REJECTED'],
      ['FAILED', 'REJECTED', 'COMPLETED'],
    ] as const) {
      const payoutId = await createContradictedPayout(context, ...reports)
      // Without override, repeating the status decides nothing.
      const { status: before } = await getPayout(context, { payoutId })
      await settlePayout(context, { payoutId, status: before as 'COMPLETED', cause: 'again' })
      expect((await attention(app)).nodes).toHaveLength(1)
      await settlePayout(context, { payoutId, status, cause: 'seen at the bank', override: true })
      expect((await attention(app)).nodes).toEqual([])
      expect((await railOrderOf(context, payoutId)).history.at(-1)).toMatchObject({ cause: 'seen at the bank' })
    }
    await app.expectBooksToBalance()
  })

  test('accepts one of five concurrent actions for a payout', async () => {
    const { app, balance } = await start(engine)
    for (let round = 0; round < 5; round++) {
      const payoutId = await createLostPayout(app)
      const before = await balance()
      const outcomes = await Promise.allSettled(
        (['FAIL', 'COMPLETE', 'FAIL', 'RETRY', 'COMPLETE'] as const).map((action) =>
          perform(resolveAttention, app.context(), { payoutId, action, reason: 'at once' }),
        ),
      )
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      const { status } = await getPayout(app.context(), { payoutId })
      expect(await balance()).toBe(before + (status === 'FAILED' ? 10_00000000n : 0n))
    }
    await app.expectBooksToBalance()
  })

  test('resubmits a retried payout only within the bank’s deduplication period', async () => {
    const { app } = await start(engine)
    const context = app.context()
    const payoutId = await createLostPayout(app)
    await resolve(app, payoutId, 'RETRY')
    expect(await makeDueCall(context, payoutId, 'NOT_FOUND', { idempotentForMs: 0 })).toBe('find')
    expect(await railOrderOf(context, payoutId)).toMatchObject({ state: 'ATTENTION', attempts: 1 })
    await resolve(app, payoutId, 'RETRY')
    await makeDueCall(context, payoutId, 'NOT_FOUND')
    expect(await railOrderOf(context, payoutId)).toMatchObject({ state: 'QUEUED', attempts: 1 })
    expect(await makeDueCall(context, payoutId, { state: 'COMPLETED' })).toBe('submit')
    expect((await getPayout(context, { payoutId })).status).toBe('COMPLETED')
  })

  test('is listed in pages, oldest first, for merchants and for operators across merchants', async () => {
    const { app } = await start(engine)
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.push(await createContradictedPayout(app.context(), 'REJECTED', 'COMPLETED'))
    const listedIds: string[] = []
    let after: string | null = null
    do {
      const page: Awaited<ReturnType<typeof attention>> = await attention(
        app,
        `(first: 2${after === null ? '' : `, after: "${after}"`})`,
      )
      listedIds.push(...page.nodes.map(({ payout }: { payout: { uuid: string } }) => payout.uuid))
      after = page.after
    } while (after !== null)
    expect(listedIds).toEqual(ids)
    const { errors } = await app.graphql('{ attention(after: "x") { after } }')
    expect(errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT', fields: [{ field: 'after' }] } }])
    const cursor = '2026-03-01T12:00:00.000Z 019b7679-7400-7000-8000-000000000000'
    expect((await listAttention(app.context(), { after: btoa(cursor) })).items).toHaveLength(5)
    for (const after of [
      '?',
      btoa(`x${cursor}`),
      btoa(`${cursor}x`),
      btoa(cursor.slice(1)),
      btoa(cursor.slice(0, -1)),
    ]) {
      const { details } = await domainErrorOf(() => listAttention(app.context(), { after }))
      expect(details.fields).toEqual([
        { field: 'after', code: 'INVALID_PARAMETER', message: 'must be a cursor from this list' },
      ])
    }

    const operator = { folder: '', file: '', env: { DATABASE_URL: app.url, PATH: '' } } as never
    const output = await cli(operator, 'attention', 'list', '--limit', '3', '--json')
    const { payouts, next } = output.json() as { payouts: { payoutId: string }[]; next: string }
    expect(payouts.map(({ payoutId }) => payoutId)).toEqual(ids.slice(0, 3))
    expect(payouts[0]).toMatchObject({
      merchantId: app.merchant.id,
      rail: 'sandbox',
      payoutStatus: 'FAILED',
      cause: 'the bank reports COMPLETED for an order that was REJECTED',
      actions: ['fail'],
    })
    const nextPage = (await cli(operator, 'attention', 'list', '--after', next, '--json')).json()
    expect(nextPage).toMatchObject({ payouts: [{ payoutId: ids[3] }, { payoutId: ids[4] }], next: null })

    const [first = ''] = ids
    expect(await cli(operator, 'attention', 'fail', first)).toMatchObject({ code: 2 })
    expect(await cli(operator, 'attention', 'complete', first, '--reason', 'paid')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("it can't be completed"),
    })
    const failed = await cli(operator, 'attention', 'fail', first, '--reason', 'the bank has put it right', '--json')
    expect(failed.json()).toMatchObject({ id: first, status: 'FAILED', state: 'REJECTED' })
    expect((await attention(app)).nodes).toHaveLength(4)
  })

  test('moves the money of a payout once, in any order of reports, calls and decisions', async () => {
    const { app, balance } = await start(engine)
    const context = app.context()
    const payouts: string[] = []
    const callResults = fc.oneof(
      fc.constantFrom<RailCallResult>('NOT_FOUND', 'CANCELLED', 'TOO_LATE', { failure: 'it is down' }),
      fc.constantFrom(...reportStates).map((state): RailCallResult => ({ state })),
    )
    const decisions = fc.constantFrom(...attentionActions).map((action) => (payoutId: string) => {
      return resolveAttentionByOperator(context, { payoutId, action, reason: 'so it is' })
    })
    const steps = fc.oneof(
      { weight: 3, arbitrary: callResults.map((result) => (id: string) => makeDueCall(context, id, result)) },
      {
        weight: 1,
        arbitrary: callResults.map(
          (result) => (id: string) => makeDueCall(context, id, result, { idempotentForMs: 0 }),
        ),
      },
      {
        weight: 4,
        arbitrary: fc
          .constantFrom(...reportStates)
          .map((state) => (id: string) => recordReport(context, id, { state })),
      },
      { weight: 1, arbitrary: fc.constant((payoutId: string) => cancelPayout(context, { payoutId })) },
      { weight: 4, arbitrary: decisions },
      {
        weight: 1,
        arbitrary: fc
          .constantFrom(...settledStatuses)
          .map((status) => (payoutId: string) => settlePayout(context, { payoutId, status, override: true })),
      },
    )
    const reachedStates = new Set<string>()
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 6, maxLength: 16, size: 'max' }), async (run) => {
        const { id } = await createRailPayout(context, '0.01')
        payouts.push(id)
        for (const step of run) {
          await step(id).catch((error: unknown) => {
            if (!(error instanceof DomainError && error.code === 'PAYOUT_STATUS_CONFLICT')) throw error
          })
          const { status } = await getPayout(context, { payoutId: id })
          const { state, dueAt } = await railOrderOf(context, id)
          reachedStates.add(`${state} ${status}`)
          // No poll is due for an order that only an operator can decide.
          if (state === 'ATTENTION') expect(dueAt).toBe(null)
        }
        const statuses = await Promise.all(
          payouts.map(async (payoutId) => (await getPayout(context, { payoutId })).status),
        )
        const out = statuses.filter((status) => status === 'PROCESSING' || status === 'COMPLETED').length
        expect(await balance()).toBe(100_00000000n - BigInt(out) * 1_000_000n)
      }),
      { numRuns: engine === 'sqlite' ? 80 : 40 },
    )
    await app.expectBooksToBalance()
    const pairs = ['COMPLETED COMPLETED', 'REJECTED FAILED', 'RETURNED RETURNED', 'CANCELLED FAILED']
    const open = ['QUEUED', 'SUBMITTING', 'UNKNOWN', 'ACCEPTED'].map((state) => `${state} PROCESSING`)
    const possible = ['PROCESSING', 'COMPLETED', 'FAILED', 'RETURNED'].map((status) => `ATTENTION ${status}`)
    expect([...reachedStates].filter((pair) => ![...pairs, ...open, ...possible].includes(pair))).toEqual([])
    expect(reachedStates.size).toBeGreaterThan(8)
  })
})
