import { describe, expect, test } from 'vitest'
import { maxAmount } from '../../../src/core/money/amount.ts'
import type { Tx } from '../../../src/database/query.ts'
import { entries } from '../../../src/modules/ledger/list.ts'
import type { NewTransfer } from '../../../src/modules/ledger/post-transfer.ts'
import {
  debitPayer,
  postClearingTransfer,
  postDepositReversal,
  postTransfer,
  recordTransfer,
} from '../../../src/modules/ledger/post-transfer.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { domainErrorOf } from '../../support/domain-error-of.ts'
import { readStoredRows, tamperWith } from '../../support/stored.ts'

type Request = NewTransfer<'payout' | 'deposit' | 'payout_failed' | 'payout_returned'> & { readonly walletId: string }

/** Posts a transfer of the merchant's own wallet; `null` if the balance does not cover it. */
const post = (app: App, request: Request) => app.db.write((tx) => postWithin(tx, app, request))

async function postWithin(tx: Tx, app: App, request: Request) {
  const { kind, ...others } = request
  if (kind !== 'payout') return postTransfer(tx, app.context(), { kind, ...others })
  const payer = { ...others, ownerId: app.merchant.id, amount: request.amount + request.fee }
  const entry = await debitPayer(tx, app.context(), payer)
  if (entry === null) return null
  const id = await recordTransfer(tx, app.context(), request, entry)
  return { id, walletBalance: entry.position.balanceAfter }
}

const payout = (app: App) => ({ kind: 'payout', assetCode: 'USDC', cause: { payoutId: app.service.newId() } }) as const

/** The entries of a transfer from the view, with the wallet's account as `wallet`. */
async function entriesOf(app: App, { id, walletId }: { id: string; walletId: string }): Promise<string[]> {
  const { entries = [] } = await readStoredRows(app)
  const lines = entries.map((entry) => JSON.parse(entry)).filter((entry) => entry.transfer_id === id)
  const formatted = lines.map((entry) => {
    const account = entry.account_id === walletId ? 'wallet' : entry.account_id.replace(':USDC', '')
    return `${entry.line} ${account} ${entry.direction} ${entry.amount}`
  })
  return formatted.toSorted()
}

describe.each(everyEngine)('a ledger transfer on %s', (engine) => {
  test('is rejected if amount and fee exceed the balance by one unit', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1' })
    const before = await readStoredRows(app)
    const request = { ...payout(app), walletId, fee: 3n }

    expect(await post(app, { ...request, amount: 99_999_998n })).toBeNull()
    expect(await readStoredRows(app)).toEqual(before)
    expect(await post(app, { ...request, amount: 99_999_997n })).toMatchObject({ walletBalance: 0n })
  })

  test('never debits a wallet below zero in concurrent transactions', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '0.00000010' })
    const attempts = Array.from({ length: 30 }, () => post(app, { ...payout(app), walletId, amount: 1n, fee: 0n }))
    const posted = (await Promise.all(attempts)).filter((each) => each !== null)
    expect(posted).toHaveLength(10)
    const { items } = await entries.slice(app.context(), { walletId, first: 20 })
    expect(items.map(({ balanceAfter }) => Number(balanceAfter))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  test.each([
    ['payout', 2n, ['1 wallet debit 7', '2 payouts_in_transit credit 5', '3 fees credit 2']],
    ['payout', 0n, ['1 wallet debit 5', '2 payouts_in_transit credit 5']],
    ['deposit', 0n, ['1 deposits debit 5', '2 wallet credit 5']],
    ['payout_failed', 2n, ['1 payouts_in_transit debit 5', '2 fees debit 2', '3 wallet credit 7']],
    ['payout_failed', 0n, ['1 payouts_in_transit debit 5', '2 wallet credit 5']],
    ['payout_returned', 2n, ['1 payouts_settled debit 5', '2 fees debit 2', '3 wallet credit 7']],
    ['payout_returned', 0n, ['1 payouts_settled debit 5', '2 wallet credit 5']],
  ] as const)('of the kind %s with a fee of %s has balanced entries', async (kind, fee, expected) => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1' })
    await post(app, { ...payout(app), walletId, amount: 7n, fee: 0n })
    const { id = '' } = (await post(app, { ...payout(app), walletId, kind, amount: 5n, fee })) ?? {}

    expect(await entriesOf(app, { id, walletId })).toEqual(expected)
  })

  test('between clearing accounts has balanced entries and does not appear in the statement of any wallet', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1' })
    const request = { ...payout(app), kind: 'payout_completed', amount: 5n, fee: 0n } as const
    const id = await app.db.write((tx) => postClearingTransfer(tx, app.context(), request))

    expect(await entriesOf(app, { id, walletId })).toEqual([
      '1 payouts_in_transit debit 5',
      '2 payouts_settled credit 5',
    ])
  })

  test('has the current time, or the time of the previous entry of the wallet if that time is later', async () => {
    let nowMs = Date.parse('2026-03-01T12:00:00.000Z')
    const appAhead = await startApp(engine, { clock: () => nowMs })
    const lateService = createService({ db: appAhead.db, mode: 'sandbox', clock: () => nowMs - 3_600_000 })
    const appBehind = { ...appAhead, context: () => createContext(lateService, appAhead.merchant.id) }
    const walletId = await appAhead.wallet({ balance: '1' })
    const request = { ...payout(appAhead), walletId, amount: 5n, fee: 0n }
    const deposit = { ...request, kind: 'deposit', cause: { reference: 'second' } } as const
    const refund = { ...request, kind: 'payout_failed' } as const
    const reverse = (app: App) => app.db.write((tx) => postDepositReversal(tx, app.context(), deposit))
    const steps: (readonly [run: (app: App) => Promise<unknown>, byLate: string, byAhead: string])[] = [
      [(app) => post(app, request), '12:00', '12:30'],
      [(app) => post(app, refund), '12:30', '13:00'],
      [(app) => post(app, deposit), '13:00', '13:30'],
      [reverse, '13:30', '14:00'],
    ]
    for (const [run, ...times] of steps) {
      nowMs += 1_800_000
      for (const [index, time] of times.entries()) {
        await run(index === 0 ? appBehind : appAhead)
        const { items } = await entries.slice(appAhead.context(), { walletId, first: 1 })
        expect(items).toMatchObject([{ createdAt: `2026-03-01T${time}:00.000Z` }])
      }
    }
  })

  // For some wallets of earlier versions the sum of deposits is unknown, and the largest balance is assumed.
  test('of a deposit is rejected if the wallet can already reach the maximum balance, even after a deposit is reversed', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '3' })
    await tamperWith(app, `update accounts set reachable_balance = ${maxAmount} where id = '${walletId}'`)
    const request = { assetCode: 'USDC', walletId, amount: 5n, cause: { reference: 'first' } }
    const reversal = await app.db.write((tx) => postDepositReversal(tx, app.context(), request))
    expect(reversal).toMatchObject({ walletBalance: 299_999_995n })

    const error = await domainErrorOf(() => post(app, { ...request, kind: 'deposit', amount: 1n, fee: 0n }))
    expect(error.code).toBe('BALANCE_LIMIT_EXCEEDED')
    await post(app, { ...request, kind: 'payout', amount: 7n, fee: 0n, cause: { payoutId: app.service.newId() } })
    const returned = { ...request, kind: 'payout_returned', amount: 7n, fee: 0n } as const
    expect(await post(app, { ...returned, cause: { payoutId: app.service.newId() } })).toMatchObject({
      walletBalance: 299_999_995n,
    })
  })

  test('of a failed operation is rolled back without affecting transfers of concurrent operations', async () => {
    const app = await startApp(engine)
    const walletId = await app.wallet({ balance: '1' })
    const request = { ...payout(app), walletId, amount: 1n, fee: 0n }
    const attempt = (isFailing: boolean) =>
      app.db.write(async (tx) => {
        const { walletBalance = -1n } = (await postWithin(tx, app, request)) ?? {}
        if (isFailing) throw new Error('after it was posted')
        return walletBalance
      })

    const outcomes = await Promise.allSettled([attempt(false), attempt(true), attempt(false), attempt(true)])

    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected'])
    // The engine decides which of the successful operations is first.
    const balances = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(balances.toSorted((one, other) => Number(other - one))).toEqual([99_999_999n, 99_999_998n])
    const { transfers = [] } = await readStoredRows(app)
    expect(transfers.map((transfer) => JSON.parse(transfer).kind)).toEqual(['deposit', 'payout', 'payout'])
  })
})
