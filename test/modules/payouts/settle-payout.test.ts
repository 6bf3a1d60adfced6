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
import { createContradictedPayout, createRailPayout, makeDueCall, railOrderOf } from '../rails/support/rail-payouts.ts'

const path = '/api/payouts/banks'

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
  const created = await app.rest('POST', path, { body: payoutBody, headers: { 'idempotency-key': 'the payout' } })
  const payoutId: string = created.body.data.id
  for (const status of stepsTo[from]) await settlePayout(app.context(), { payoutId, status })
  const balance = async () => (await app.rest('GET', `/api/wallets/${walletId}`)).body.data.balance
  return { created, payoutId, walletId, balance }
}

describe.each(everyEngine)('ruling 46: settlePayout on %s', (engine) => {
  test('is tested from each of four statuses to each of three settled statuses', () => {
    expect(edges).toHaveLength(12)
  })

  test.each(edges.filter(({ from, to }) => legal.includes(`${from} to ${to}`)))(
    'changes a payout from $from to $to',
    async ({ from, to }) => {
      const app = await startApp(engine)
      const { payoutId, balance } = await startWithPayout(app, from)
      expect(await balance()).toBe('59.10000000')

      const settled = await settlePayout(app.context(), { payoutId, status: to, cause: 'The bank said so' })

      expect(settled.status).toBe(to)
      expect(await getPayout(app.context(), { payoutId })).toEqual(settled)
      // Amount and fee are refunded unless the payout completed.
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

  test.each(settledStatuses)(
    'returns a payout that is already %s without changing it, and moves no money',
    async (status) => {
      const app = await startApp(engine)
      const { payoutId } = await startWithPayout(app, status)
      const settled = await getPayout(app.context(), { payoutId })
      const before = await readStoredRows(app)

      expect(await settlePayout(app.context(), { payoutId, status, cause: 'said again' })).toEqual(settled)
      expect(await readStoredRows(app)).toEqual(before)
    },
  )

  test.each(edges.filter(({ from, to }) => from !== to && !legal.includes(`${from} to ${to}`)))(
    'rejects a change from $from to $to and moves no money',
    async ({ from, to }) => {
      const app = await startApp(engine)
      const { payoutId } = await startWithPayout(app, from)
      const before = await readStoredRows(app)

      const error = await domainErrorOf(() => settlePayout(app.context(), { payoutId, status: to }))

      expect(error.code).toBe('PAYOUT_STATUS_CONFLICT')
      expect(error.message).toContain(`is ${from} can't become ${to}`)
      expect(await readStoredRows(app)).toEqual(before)
    },
  )

  test('refunds a payout without a fee', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '40' })
    const { body } = await app.rest('POST', path, { body: payoutBody })
    await settlePayout(app.context(), { payoutId: body.data.id, status: 'FAILED' })
    const wallet = await app.rest('GET', `/api/wallets/${walletId}`)
    expect(wallet.body.data.balance).toBe('40.00000000')
    await app.expectBooksToBalance()
  })

  test('refunds the fee that was charged, even if the current fee is different', async () => {
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
    'does not change the replayed response of createPayout when the payout is %s',
    async (status) => {
      const app = await startApp(engine)
      const { created } = await startWithPayout(app, status)
      await depositToWallet(app.context(), {
        walletId: created.body.data.sender_wallet_id,
        amount: '5',
        reference: 'later',
      })

      const replayed = await app.rest('POST', path, { body: payoutBody, headers: { 'idempotency-key': 'the payout' } })

      expect(replayed.status).toBe(200)
      expect(replayed.headers['idempotent-replayed']).toBe('true')
      expect(replayed.text).toBe(created.text)
      expect(replayed.body.data).toMatchObject({ status: 'PROCESSING', balance: '59.10000000' })
    },
  )

  test('rejects an invalid id and an invalid status with INVALID_INPUT', async () => {
    const app = await startApp(engine)
    const error = await domainErrorOf(() =>
      settlePayout(app.context(), { payoutId: 'nonsense', status: 'PROCESSING' as 'COMPLETED' }),
    )
    expect(error.code).toBe('INVALID_INPUT')
  })

  test('does not find a payout with an unknown or malformed id, or of another merchant', async () => {
    const app = await startApp(engine)
    const { payoutId } = await startWithPayout(app, 'PROCESSING')
    const other = await app.otherMerchant()
    const before = await readStoredRows(app)

    const errors = [
      await domainErrorOf(() => settlePayout(app.context(), { payoutId: crypto.randomUUID(), status: 'FAILED' })),
      await domainErrorOf(() => settlePayout(app.context(), { payoutId: '7', status: 'FAILED' })),
      await domainErrorOf(() =>
        settlePayout({ ...app.context(), merchantId: other.id }, { payoutId, status: 'FAILED' }),
      ),
    ]

    for (const { code, message } of errors) {
      expect([code, message]).toEqual(['RESOURCE_NOT_FOUND', 'Payout not found.'])
    }
    expect(await readStoredRows(app)).toEqual(before)
  })

  // Ruling 53: a debit counts against the deposit limit as long as it can be refunded.
  test('ruling 53: refunds a payout to a wallet at its deposit limit', async () => {
    const app = await startApp(engine)
    const maxDeposit = '9999999999.99999999'
    const walletId = await app.wallet({ balance: maxDeposit })
    const pay = async (status: 'COMPLETED' | null) => {
      const { body } = await app.rest('POST', path, { body: { ...payoutBody, amount: maxDeposit } })
      if (status !== null) await settlePayout(app.context(), { payoutId: body.data.id, status })
      return body.data.id as string
    }
    const deposit = (amount: string, reference: string) =>
      depositToWallet(app.context(), { walletId, amount, reference })
    const failing = await pay(null)
    await deposit(maxDeposit, 'one')
    const returning = await pay('COMPLETED')
    for (let i = 0; i < 7; i++) await deposit(maxDeposit, `${i}`)
    await deposit('2233720368.54775816', 'up to the last unit')
    const before = await readStoredRows(app)

    for (const [amount, reference] of [[maxDeposit, 'much'] as const, ['0.00000001', 'little'] as const]) {
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

  test('settles a payout once for 20 concurrent calls', async () => {
    const app = await startApp(engine)
    const { payoutId, balance } = await startWithPayout(app, 'PROCESSING')

    const attempts = Array.from({ length: 20 }, (_, i) => (i % 2 ? 'FAILED' : 'COMPLETED') as 'FAILED' | 'COMPLETED')
    const outcomes = await Promise.allSettled(
      attempts.map((status) => settlePayout(app.context(), { payoutId, status })),
    )

    // Every later call finds the same status, or a payout that is no longer PROCESSING.
    const isCompleted = (await balance()) === '59.10000000'
    expect(outcomes.map(({ status }) => status)).toEqual(
      attempts.map((status) => ((status === 'COMPLETED') === isCompleted ? 'fulfilled' : 'rejected')),
    )
    expect((await readStoredRows(app)).payout_events).toHaveLength(1)
    if (!isCompleted) expect(await balance()).toBe('100.00000000')
    await app.expectBooksToBalance()
  })

  test('settles a payout on a rail only with the option `override`', async () => {
    const app = await startApp(engine)
    await app.wallet({ balance: '100' })
    const outcomes = { COMPLETED: 'COMPLETED', FAILED: 'REJECTED' } as const
    for (const [status, state] of Object.entries(outcomes) as ['COMPLETED' | 'FAILED', string][]) {
      const { id: payoutId } = await createRailPayout(app.context())
      await makeDueCall(app.context(), payoutId, { state: 'ACCEPTED' })
      const before = await readStoredRows(app)
      const overrideMessage =
        'must be given, because the payout is on the rail sandbox, where it is ACCEPTED: later reports of its bank will move no money'
      for (const override of [undefined, null, false]) {
        const input = { payoutId, status, override }
        expect(await domainErrorOf(() => settlePayout(app.context(), input))).toMatchObject({
          code: 'PAYOUT_STATUS_CONFLICT',
          message: `override ${overrideMessage}.`,
          details: { fields: [{ field: 'override', code: 'MISSING_REQUIRED_FIELD', message: overrideMessage }] },
        })
      }
      expect(await readStoredRows(app)).toEqual(before)

      const overrideInput = { payoutId, status, cause: 'The bank called', override: true }
      const settled = await settlePayout(app.context(), overrideInput)
      expect(settled.status).toBe(status)
      const { state: orderState, dueAt, history } = await railOrderOf(app.context(), payoutId)
      expect([orderState, dueAt, history.at(-1)]).toMatchObject([state, null, { state, cause: 'The bank called' }])
      const after = await readStoredRows(app)
      for (const override of [true, undefined])
        expect(await settlePayout(app.context(), { payoutId, status, override })).toEqual(settled)
      expect(await readStoredRows(app)).toEqual(after)
    }
    await app.expectBooksToBalance()
  })

  test('with `override` removes the payout from the attention queue, even if the status does not change', async () => {
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

  test('keeps the bank’s payment reference when the bank reports a different reference for the return', async () => {
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

  test('updatePayoutStatus does not change a payout whose status was changed concurrently', async () => {
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
