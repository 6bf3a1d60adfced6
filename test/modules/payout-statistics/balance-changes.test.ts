// The balance of each day is compared with the statements of the wallets.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import { findWrongBalanceChanges } from '../../../src/modules/audit/find-wrong-balance-changes.ts'
import { importWallets } from '../../../src/modules/imports/import-wallets.ts'
import { countHistory } from '../../../src/modules/payout-statistics/catch-up.ts'
import { readHeldBalances } from '../../../src/modules/payout-statistics/read-held-balances.ts'
import { readCoverage } from '../../../src/modules/payout-statistics/read-statistics.ts'
import { rebuildStatistics } from '../../../src/modules/payout-statistics/rebuild-statistics.ts'
import { settlePayout } from '../../../src/modules/payouts/settle-payout.ts'
import { createWallet } from '../../../src/modules/wallets/create-wallet.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { reverseDeposit } from '../../../src/modules/wallets/reverse-deposit.ts'
import { createContext } from '../../../src/operations/context.ts'
import type { App, Engine } from '../../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../../support/app.ts'
import { perform } from '../../support/perform.ts'
import { readStoredRows, tamperWith } from '../../support/stored.ts'
import { sealAll } from '../hash-chain/support/tamperings.ts'

const firstDay = '2026-02-28'
const startMs = Date.parse('2026-03-01T23:59:50.000Z')
const dayMs = 86_400_000

type Step =
  | { readonly deposit: number; readonly cents: number }
  | { readonly reverse: number }
  | { readonly importCents: number }
  | { readonly pay: number; readonly cents: number }
  | { readonly settle: number; readonly status: 'COMPLETED' | 'FAILED' | 'RETURNED' }
  | { readonly waitMs: number }
  | { readonly count: 'seal' | 'catch-up' }

const cents = fc.integer({ min: 200, max: 9_999_999 })
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: fc.record({ deposit: fc.nat(3), cents }) },
    { weight: 2, arbitrary: fc.record({ reverse: fc.nat(9) }) },
    { weight: 1, arbitrary: fc.record({ importCents: cents }) },
    { weight: 3, arbitrary: fc.record({ pay: fc.nat(1), cents: fc.integer({ min: 200, max: 99_999 }) }) },
    {
      weight: 4,
      arbitrary: fc.record({
        settle: fc.nat(9),
        status: fc.constantFrom('COMPLETED' as const, 'FAILED' as const, 'RETURNED' as const),
      }),
    },
    { weight: 3, arbitrary: fc.record({ waitMs: fc.oneof(fc.nat(3_000), fc.nat(90_000_000)) }) },
    { weight: 1, arbitrary: fc.record({ count: fc.constantFrom('seal' as const, 'catch-up' as const) }) },
  ),
  { minLength: 30, maxLength: 40 },
)

/** A merchant with wallets in three assets, one of a customer, and another merchant with one. */
async function startHoldingApp(engine: Engine) {
  let nowMs = startMs
  const app = await startApp(engine, { clock: () => nowMs })
  await app.fee('0.5')
  const other = createContext(app.service, (await app.otherMerchant()).id)
  const customerId = await app.customer()
  const { id: otherWalletId } = await perform(createWallet, other, {
    ...{ currency: 'USDT', description: 'Other', network: 'solana' },
  })
  const wallets = [
    { context: app.context(), id: await app.wallet({ balance: '1000' }) },
    { context: app.context(), id: await app.wallet({ assetCode: 'USDT', balance: '1000', customerId }) },
    { context: app.context(), id: await app.wallet({ assetCode: 'EUR' }) },
    { context: other, id: otherWalletId },
  ]
  const deposits: { readonly context: typeof other; readonly reference: string }[] = []
  const payoutIds: string[] = []
  let imported = 0

  /** Operations may be rejected, for example because the wallet has less money. */
  const attempt = (run: Promise<unknown>) => run.catch(() => {})

  async function deposit(place: number, amount: string): Promise<void> {
    const { context, id: walletId } = wallets[place] as (typeof wallets)[number]
    const reference = `deposit ${deposits.length}`
    await depositToWallet(context, { walletId, amount, reference })
    deposits.push({ context, reference })
  }

  async function pay(place: number, amount: string): Promise<void> {
    const source = place === 0 ? { currency: 'USDC' } : { currency: 'USDT', customer_id: customerId }
    const headers = { 'idempotency-key': `payout ${payoutIds.length}` }
    const { body } = await app.rest('POST', '/api/payouts/banks', {
      body: { ...payoutBody, ...source, amount },
      headers,
    })
    payoutIds.push(body.data?.id ?? '')
  }

  async function importWallet(balance: bigint): Promise<void> {
    const id = `6d1f0000-0000-4000-8000-${String(++imported).padStart(12, '0')}`
    const times = { createdAt: '2020-01-05T09:00:00.000Z', updatedAt: '2020-01-05T09:00:00.000Z' }
    const wallet = { id, customerId, assetType: 'STABLECOIN', currency: 'USDC', status: 'active', balance } as const
    await importWallets(app.context(), [{ ...wallet, ...times, description: 'Imported', addresses: [] }], {
      isDryRun: false,
    })
  }

  return {
    app,
    now: () => nowMs,
    run: async (step: Step): Promise<void> => {
      nowMs++
      if ('deposit' in step) await deposit(step.deposit, (step.cents / 100).toFixed(2))
      const reversed = 'reverse' in step ? deposits[step.reverse] : undefined
      if (reversed !== undefined)
        await attempt(reverseDeposit(reversed.context, { reference: reversed.reference, reason: 'mistyped' }))
      if ('importCents' in step) await importWallet(BigInt(step.importCents) * 1_000_000n)
      if ('pay' in step) await pay(step.pay, (step.cents / 100).toFixed(2))
      const payoutId = 'settle' in step ? payoutIds[step.settle] : undefined
      if ('settle' in step && payoutId !== undefined)
        await attempt(settlePayout(app.context(), { payoutId, status: step.status, override: true }))
      if ('waitMs' in step) nowMs += step.waitMs
      if ('count' in step) await (step.count === 'seal' ? sealAll(app.service) : countAll(app))
    },
  }
}

const countAll = ({ service }: App) => countHistory(service, { hasSealer: false, restRatio: 0 })

const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

function daysThrough(nowMs: number): readonly string[] {
  const count = Math.floor(nowMs / dayMs) - Math.floor(Date.parse(firstDay) / dayMs) + 1
  return Array.from({ length: count }, (_, place) => dayOf(Date.parse(firstDay) + place * dayMs))
}

/** The sum of the last balances of all statements at the end of each day, by asset. */
async function balancesOfStatements(app: App, days: readonly string[]): Promise<Record<string, readonly bigint[]>> {
  const { transfers = [] } = await readStoredRows(app)
  const lines = transfers.map((row) => JSON.parse(row)).filter((row) => row.wallet_id !== null)
  const byAsset = Map.groupBy(lines, (line) => line.asset_code as string)
  const balanceOf = (statement: readonly Record<string, string>[], day: string) => {
    const until = statement.filter(({ created_at: at = '' }) => new Date(at).toISOString().slice(0, 10) <= day)
    const last = until.toSorted((one, other) => Number(one.sequence) - Number(other.sequence)).at(-1)
    return BigInt(last?.balance_after ?? 0)
  }
  return Object.fromEntries(
    [...byAsset].map(([asset, ofAsset]) => {
      const statements = [...Map.groupBy(ofAsset, (line) => line.wallet_id).values()]
      return [asset, days.map((day) => statements.reduce((sum, statement) => sum + balanceOf(statement, day), 0n))]
    }),
  )
}

async function heldBalances({ service }: App, days: readonly string[]): Promise<Record<string, readonly bigint[]>> {
  service.db.refresh()
  const held = await readHeldBalances(service, days)
  return Object.fromEntries(held.map(({ assetCode, balances }) => [assetCode, balances]))
}

const fewSteps: readonly Step[] = [
  { deposit: 0, cents: 50_000 },
  { deposit: 3, cents: 70_000 },
  { pay: 0, cents: 1_000 },
  { pay: 0, cents: 2_000 },
  { waitMs: dayMs },
  { settle: 0, status: 'COMPLETED' },
  { settle: 1, status: 'FAILED' },
  { reverse: 0 },
  { waitMs: dayMs },
  { settle: 0, status: 'RETURNED' },
  { importCents: 12_345 },
]

describe.each(everyEngine)('the money held in wallets on %s', (engine) => {
  test('equals the balances of the wallet statements on each day of any history, before and after a rebuild', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (history) => {
        const { app, now, run } = await startHoldingApp(engine)
        for (const step of history) await run(step)
        const days = daysThrough(now())
        await sealAll(app.service)
        // A seal does not count its events if a catch-up has counted some of them.
        await countAll(app)
        const expected = await balancesOfStatements(app, days)
        expect(await heldBalances(app, days)).toEqual(expected)
        await app.expectBooksToBalance()
        await rebuildStatistics(app.service)
        expect(await heldBalances(app, days)).toEqual(expected)
        await app.expectBooksToBalance()
      }),
      { numRuns: 4 },
    )
  })

  test('changes on the day of each deposit, opening balance, payout with its fee, return and reversal', async () => {
    const { app, now, run } = await startHoldingApp(engine)
    for (const step of fewSteps) await run(step)
    await sealAll(app.service)

    const [usdc, usdt] = ['USDC', 'USDT'].map((asset) => async () => {
      const held = await heldBalances(app, daysThrough(now()))
      return held[asset]?.map((balance) => Number(balance / 1_000_000n) / 100)
    })
    // A deposit of 1,000 and one of 500, which is reversed; payouts of 10 and 20 with fees; an opening of 123.45.
    expect(await usdc?.()).toEqual([0, 1_469, 989.5, 1_123.45])
    // Another merchant has 700.
    expect(await usdt?.()).toEqual([0, 1_700, 1_700, 1_700])
  })

  test('does not include an event with a future time before its day, except in the current balance', async () => {
    const { app, now, run } = await startHoldingApp(engine)
    await run({ waitMs: dayMs })
    await run({ deposit: 0, cents: 50_000 })
    await sealAll(app.service)

    expect((await heldBalances(app, daysThrough(now()))).USDC).toEqual([0n, 1_000_0000_0000n, 1_500_0000_0000n])
    expect((await heldBalances(app, daysThrough(startMs - dayMs))).USDC).toEqual([1_500_0000_0000n])
    expect((await heldBalances(app, daysThrough(startMs))).USDC).toEqual([0n, 1_500_0000_0000n])
  })

  test('is complete only after the events before the latest seal have been counted', async () => {
    const { app, now, run } = await startHoldingApp(engine)
    for (const step of fewSteps) await run(step)
    await sealAll(app.service)
    const days = daysThrough(now())
    const expected = await heldBalances(app, days)
    expect(await readCoverage(app.service)).toEqual({ uncountedEvents: 0, isCaughtUp: true })

    // The database as a migration leaves it.
    await tamperWith(app, 'delete from daily_balance_changes', 'update statistics_cursors set through = 0')
    app.service.db.refresh()
    expect((await readCoverage(app.service)).isCaughtUp).toBe(false)
    await countHistory(app.service, { hasSealer: true, restRatio: 0 })
    app.service.db.refresh()
    expect(await readCoverage(app.service)).toEqual({ uncountedEvents: 0, isCaughtUp: true })
    expect(await heldBalances(app, days)).toEqual(expected)

    await run({ deposit: 0, cents: 100 })
    app.service.db.refresh()
    expect(await readCoverage(app.service)).toEqual({ uncountedEvents: 1, isCaughtUp: true })
  })

  test.each([
    ['a changed day', `update daily_balance_changes set change_rest = change_rest + 1 where day = '2026-03-02'`],
    ['a changed sum of all days', `update daily_balance_changes set change_units = change_units + 1 where day = 'all'`],
    ['a missing day', `delete from daily_balance_changes where day = '2026-03-03'`],
    ['a change of another asset', `update daily_balance_changes set asset_code = 'EUR' where asset_code = 'USDT'`],
  ])('with %s is reported by the audit, and corrected by a rebuild', async (_, tampering) => {
    const { app, now, run } = await startHoldingApp(engine)
    for (const step of fewSteps) await run(step)
    await sealAll(app.service)
    const days = daysThrough(now())
    const expected = await heldBalances(app, days)
    await tamperWith(app, tampering)
    app.service.db.refresh()

    expect((await app.service.db.snapshot(findWrongBalanceChanges)).length).toBeGreaterThan(0)
    const { findings } = await auditBooks(app.service)
    const wrong = findings.filter(({ contradictions }) => contradictions > 0).map(({ check }) => check)
    expect(wrong).toEqual(['daily balance changes match the ledger'])

    await rebuildStatistics(app.service)
    expect(await heldBalances(app, days)).toEqual(expected)
    await app.expectBooksToBalance()
  })
})
