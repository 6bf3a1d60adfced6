import { describe, expect, test } from 'vitest'
import { getPayout } from '../../../src/modules/payouts/get-payout.ts'
import type { PayoutStatus } from '../../../src/modules/payouts/payout.ts'
import { updatePayoutStatus } from '../../../src/modules/payouts/repository.ts'
import { settledStatuses, settleInTransaction, settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { readStoredRows } from '../../support/stored.ts'
import { answer, createContradictedPayout, createRailPayout, railOrderOf } from '../rails/support/rail-payouts.ts'

const path = '/api/payouts/banks'

/** How a payout gets where an edge begins. */
const stepsTo: Record<PayoutStatus, (typeof settledStatuses)[number][]> = {
  PROCESSING: [],
  COMPLETED: ['COMPLETED'],
  FAILED: ['FAILED'],
  RETURNED: ['COMPLETED', 'RETURNED'],
}

const legal = ['PROCESSING to COMPLETED', 'PROCESSING to FAILED', 'COMPLETED to RETURNED']

const edges = Object.keys(stepsTo).flatMap((from) => settledStatuses.map((to) => ({ from: from as PayoutStatus, to })))

/** A payout of 40 with a fee of 0.9 from a wallet of 100, in status `from`. */
async function startWithPayout(app: App, from: PayoutStatus) {
  await app.fee('0.5', '1')
  const walletId = await app.wallet({ balance: '100' })
  const made = await app.rest('POST', path, { body: payoutBody, headers: { 'idempotency-key': 'the payout' } })
  const payoutId: string = made.body.data.id
  for (const status of stepsTo[from]) await settlePayout(app.context(), { payoutId, status })
  const balance = async () => (await app.rest('GET', `/api/wallets/${walletId}`)).body.data.balance
  return { made, payoutId, walletId, balance }
}

// Ruling 46.
describe.each(everyEngine)('settlePayout on %s', (engine) => {
  test('knows four statuses and three settlements', () => {
    expect(edges).toHaveLength(12)
  })

  test.each(edges.filter(({ from, to }) => legal.includes(`${from} to ${to}`)))(
    'takes $from to $to',
    async ({ from, to }) => {
      const app = await startApp(engine)
      const { payoutId, balance } = await startWithPayout(app, from)
      expect(await balance()).toBe('59.10000000')

      const settled = await settlePayout(app.context(), { payoutId, status: to, cause: 'The bank said so' })

      expect(settled.status).toBe(to)
      expect(await getPayout(app.context(), { payoutId })).toEqual(settled)
      // Amount and fee come back, unless the money arrived.
      expect(await balance()).toBe(to === 'COMPLETED' ? '59.10000000' : '100.00000000')
      const { payout_events: events = [], transfers = [] } = await readStoredRows(app)
      const event = events.map((row) => JSON.parse(row)).find(({ status }) => status === to)
      expect(event).toMatchObject({ payout_id: payoutId, cause: 'The bank said so', created_at: settled.updatedAt })
      expect(transfers.map((row) => JSON.parse(row))).toContainEqual(
        expect.objectContaining({ id: event.transfer_id, kind: `payout_${to.toLowerCase()}` }),
      )
      await app.expectBooksToBalance()
    },
  )

  test.each(settledStatuses)('answers a payout that is %s already as it is, and moves nothing', async (status) => {
    const app = await startApp(engine)
    const { payoutId } = await startWithPayout(app, status)
    const settled = await getPayout(app.context(), { payoutId })
    const before = await readStoredRows(app)

    expect(await settlePayout(app.context(), { payoutId, status, cause: 'said again' })).toEqual(settled)
    expect(await readStoredRows(app)).toEqual(before)
  })

  test.each(edges.filter(({ from, to }) => from !== to && !legal.includes(`${from} to ${to}`)))(
    'refuses $from to $to, and moves nothing',
    async ({ from, to }) => {
      const app = await startApp(engine)
      const { payoutId } = await startWithPayout(app, from)
      const before = await readStoredRows(app)

      const refusal = await domainErrorOf(() => settlePayout(app.context(), { payoutId, status: to }))

      expect(refusal.code).toBe('PAYOUT_STATUS_CONFLICT')
      expect(refusal.message).toContain(`is ${from} can't become ${to}`)
      expect(await readStoredRows(app)).toEqual(before)
    },
  )

  test('puts an absent fee back as nothing', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '40' })
    const { body } = await app.rest('POST', path, { body: payoutBody })
    await settlePayout(app.context(), { payoutId: body.data.id, status: 'FAILED' })
    const wallet = await app.rest('GET', `/api/wallets/${walletId}`)
    expect(wallet.body.data.balance).toBe('40.00000000')
    await app.expectBooksToBalance()
  })

  test('puts the fee back that was charged, not the one in force', async () => {
    let time = Date.parse('2026-03-01T12:00:00.000Z')
    const app = await startApp(engine, { clock: () => time })
    const { payoutId, balance } = await startWithPayout(app, 'COMPLETED')
    time += 2
    await app.fee('7')
    await settlePayout(app.context(), { payoutId, status: 'RETURNED' })
    expect(await balance()).toBe('100.00000000')
    await app.expectBooksToBalance()
  })

  test.each(Object.keys(stepsTo) as PayoutStatus[])(
    'leaves the answer to a replay as it was, also when %s',
    async (status) => {
      const app = await startApp(engine)
      const { made } = await startWithPayout(app, status)
      await depositToWallet(app.context(), {
        walletId: made.body.data.sender_wallet_id,
        amount: '5',
        reference: 'later',
      })

      const replayed = await app.rest('POST', path, { body: payoutBody, headers: { 'idempotency-key': 'the payout' } })

      expect(replayed.status).toBe(200)
      expect(replayed.headers['idempotent-replayed']).toBe('true')
      expect(replayed.text).toBe(made.text)
      expect(replayed.body.data).toMatchObject({ status: 'PROCESSING', balance: '59.10000000' })
    },
  )

  test('refuses with INVALID_INPUT before all else', async () => {
    const app = await startApp(engine)
    const refusal = await domainErrorOf(() =>
      settlePayout(app.context(), { payoutId: 'nonsense', status: 'PROCESSING' as 'COMPLETED' }),
    )
    expect(refusal.code).toBe('INVALID_INPUT')
  })

  test("refuses an unknown payout, a malformed id and another merchant's payout alike", async () => {
    const app = await startApp(engine)
    const { payoutId } = await startWithPayout(app, 'PROCESSING')
    const other = await app.otherMerchant()
    const before = await readStoredRows(app)

    const refusals = [
      await domainErrorOf(() => settlePayout(app.context(), { payoutId: crypto.randomUUID(), status: 'FAILED' })),
      await domainErrorOf(() => settlePayout(app.context(), { payoutId: '7', status: 'FAILED' })),
      await domainErrorOf(() =>
        settlePayout({ ...app.context(), merchantId: other.id }, { payoutId, status: 'FAILED' }),
      ),
    ]

    for (const { code, message } of refusals) {
      expect([code, message]).toEqual(['RESOURCE_NOT_FOUND', 'Payout not found.'])
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  // Ruling 53: what has left counts against the limit of deposits for as long as it may come back.
  test('ruling 53: puts money back into a wallet that is as full as it can be', async () => {
    const app = await startApp(engine)
    const largest = '9999999999.99999999'
    const walletId = await app.wallet({ balance: largest })
    const pay = async (status: 'COMPLETED' | null) => {
      const { body } = await app.rest('POST', path, { body: { ...payoutBody, amount: largest } })
      if (status !== null) await settlePayout(app.context(), { payoutId: body.data.id, status })
      return body.data.id as string
    }
    const deposit = (amount: string, reference: string) =>
      depositToWallet(app.context(), { walletId, amount, reference })
    const failing = await pay(null)
    await deposit(largest, 'one')
    const returning = await pay('COMPLETED')
    for (let i = 0; i < 7; i++) await deposit(largest, `${i}`)
    await deposit('2233720368.54775816', 'up to the last unit')
    const before = await readStoredRows(app)

    for (const [amount, reference] of [[largest, 'much'] as const, ['0.00000001', 'little'] as const]) {
      const { code } = await domainErrorOf(() => deposit(amount, reference))
      expect(code).toBe('BALANCE_LIMIT_EXCEEDED')
    }
    expect(await readStoredRows(app)).toEqual(before)
    await settlePayout(app.context(), { payoutId: failing, status: 'FAILED' })
    await settlePayout(app.context(), { payoutId: returning, status: 'RETURNED' })

    const wallet = await app.rest('GET', `/api/wallets/${walletId}`)
    expect(wallet.body.data.balance).toBe('92233720368.54775807')
    await app.expectBooksToBalance()
  })

  test('lets one of many at once through', async () => {
    const app = await startApp(engine)
    const { payoutId, balance } = await startWithPayout(app, 'PROCESSING')

    const attempts = Array.from({ length: 20 }, (_, i) => (i % 2 ? 'FAILED' : 'COMPLETED') as 'FAILED' | 'COMPLETED')
    const outcomes = await Promise.allSettled(
      attempts.map((status) => settlePayout(app.context(), { payoutId, status })),
    )

    // Whichever comes first, every other finds it so, or a payout that has left PROCESSING.
    const isCompleted = (await balance()) === '59.10000000'
    expect(outcomes.map(({ status }) => status)).toEqual(
      attempts.map((status) => ((status === 'COMPLETED') === isCompleted ? 'fulfilled' : 'rejected')),
    )
    expect((await readStoredRows(app)).payout_events).toHaveLength(1)
    if (!isCompleted) expect(await balance()).toBe('100.00000000')
    await app.expectBooksToBalance()
  })

  test('settles a payout that its rail still carries only where that is meant', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const outcomes = { COMPLETED: 'COMPLETED', FAILED: 'REJECTED' } as const
    for (const [status, state] of Object.entries(outcomes) as ['COMPLETED' | 'FAILED', string][]) {
      const { id: payoutId } = await createRailPayout(app.context())
      await answer(app.context(), payoutId, { state: 'ACCEPTED' })
      const before = await readStoredRows(app)
      const words =
        'must be given, because the payout is on the rail sandbox, where it is ACCEPTED: later reports of its bank will move no money'
      for (const override of [undefined, null, false]) {
        const input = { payoutId, status, override }
        expect(await domainErrorOf(() => settlePayout(app.context(), input))).toMatchObject({
          code: 'PAYOUT_STATUS_CONFLICT',
          message: `override ${words}.`,
          details: { fields: [{ field: 'override', code: 'MISSING_REQUIRED_FIELD', message: words }] },
        })
      }
      expect(await readStoredRows(app)).toEqual(before)

      const given = { payoutId, status, cause: 'The bank called', override: true }
      const settled = await settlePayout(app.context(), given)
      expect(settled.status).toBe(status)
      const { state: reached, dueAt, history } = await railOrderOf(app.context(), payoutId)
      expect([reached, dueAt, history.at(-1)]).toMatchObject([state, null, { state, cause: 'The bank called' }])
      const after = await readStoredRows(app)
      for (const override of [true, undefined])
        expect(await settlePayout(app.context(), { payoutId, status, override })).toEqual(settled)
      expect(await readStoredRows(app)).toEqual(after)
    }
    await app.expectBooksToBalance()
  })

  test('decides what needed attention where a person says with intent that the payout is what it is', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const payoutId = await createContradictedPayout(app.context(), 'REJECTED', 'COMPLETED')
    const state = async () => (await railOrderOf(app.context(), payoutId)).state
    expect(await state()).toBe('ATTENTION')
    const before = await readStoredRows(app)
    const payout = await settlePayout(app.context(), { payoutId, status: 'FAILED' })
    expect([payout.status, await state(), await readStoredRows(app)]).toEqual(['FAILED', 'ATTENTION', before])
    expect(await settlePayout(app.context(), { payoutId, status: 'FAILED', override: true })).toEqual(payout)
    expect(await state()).toBe('REJECTED')
    await app.expectBooksToBalance()
  })

  test('has from the bank that paid how it calls the payment, and from no report that it came back', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    for (const first of ['BANK-1', null]) {
      const { body } = await app.rest('POST', path, { body: payoutBody })
      const settle = (status: 'COMPLETED' | 'RETURNED', reference: string | null) =>
        app.db.write(
          (tx) => settleInTransaction(tx, app.context(), { payoutId: body.data.id, status, cause: null, reference }),
          { merchantId: app.merchant.id },
        )
      expect(await settle('COMPLETED', first)).toMatchObject({ fiatReferenceId: first })
      expect(await settle('RETURNED', 'BANK-2')).toMatchObject({ status: 'RETURNED', fiatReferenceId: first })
    }
  })

  test('changes no payout that another settlement has changed meanwhile', async () => {
    const app = await startApp(engine)
    const { payoutId: id } = await startWithPayout(app, 'COMPLETED')
    const { merchantId, updatedAt } = await getPayout(app.context(), { payoutId: id })
    const change = { merchantId, id, to: 'FAILED', fiatReferenceId: null, updatedAt } as const
    const write = (from: PayoutStatus) => app.db.write(async (tx) => updatePayoutStatus(tx, { ...change, from }))
    expect(await write('PROCESSING')).toBeNull()
    expect(await write('RETURNED')).toBeNull()
    expect(await getPayout(app.context(), { payoutId: id })).toMatchObject({ status: 'COMPLETED' })
  })
})
