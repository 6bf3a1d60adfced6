import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Export, VerifiedLine } from '../../../src/modules/exports/export.ts'
import { verifyLines } from '../../../src/modules/exports/export.ts'
import { exportDeposits, exportFees } from '../../../src/modules/exports/journals.ts'
import { exportPayouts } from '../../../src/modules/exports/payouts-export.ts'
import { exportStatement } from '../../../src/modules/exports/wallet-statement.ts'
import type { Context } from '../../../src/operations/context.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { history, movableClock, runHistory } from './histories.ts'

const runsOn = { sqlite: 40, postgres: 8 } as const

type PeriodInput = { readonly from?: string | undefined; readonly to?: string | undefined }
type ExportFunction = (period: PeriodInput) => Promise<Export>

describe.each(everyEngine)('exports on %s', (engine) => {
  test('of a random history have consistent totals for any period, and adjacent periods together have the totals of the whole period', async () => {
    const clock = movableClock()
    const app = await startApp(engine, { clock: clock.now })
    await app.fee('0.00000007', '0.3')
    const cuts = fc.tuple(fc.nat(40), fc.nat(40))
    await fc.assert(
      fc.asyncProperty(history, cuts, async (steps, cuts) => {
        const { context, walletIds, moments } = await runHistory(app, clock, steps)
        clock.pass(1)
        const [first, second] = cuts.map((cut) => moments[cut % moments.length] as string).sort() as [string, string]
        for (const exportPeriod of exportsOf(context, walletIds))
          await expectPeriodsToAddUp(exportPeriod, first, second)
        await expectWallets(context, walletIds)
      }),
      { numRuns: runsOn[engine], interruptAfterTimeLimit: 250_000, markInterruptAsFailure: true },
    )
    await app.expectBooksToBalance()
  })
})

function exportsOf(context: Context, walletIds: readonly string[]): ExportFunction[] {
  return [
    ...walletIds.map((walletId) => (period: PeriodInput) => exportStatement(context, { walletId, ...period })),
    ...[exportPayouts, exportFees, exportDeposits].map(
      (exportFunction) => (period: PeriodInput) => exportFunction(context, period),
    ),
  ]
}

/** Splits time into three periods: together their lines equal those of the whole, and adjacent balances are equal. */
async function expectPeriodsToAddUp(exportPeriod: ExportFunction, first: string, second: string): Promise<void> {
  const whole = await read(await exportPeriod({}))
  const parts = []
  for (const period of [{ to: first }, { from: first, to: second }, { from: second }]) {
    parts.push(await read(await exportPeriod(period)))
  }
  const comparable = (lines: readonly VerifiedLine[]) =>
    lines.map(({ cells, moved, balance }) => ({ cells, moved, balance }))
  expect(parts.flatMap(({ lines }) => comparable(lines))).toEqual(comparable(whole.lines))
  const [beforeFirst, between, afterSecond] = parts as [ReadExport, ReadExport, ReadExport]
  expect(nonZero(between.opening)).toEqual(nonZero(beforeFirst.closing))
  expect(nonZero(afterSecond.opening)).toEqual(nonZero(between.closing))
  expect(nonZero(afterSecond.closing)).toEqual(nonZero(whole.closing))
  for (const { opening, closing, lines } of [whole, ...parts]) {
    const sums = new Map(nonZero(opening))
    for (const { assetCode, moved } of lines) sums.set(assetCode, (sums.get(assetCode) ?? 0n) + moved)
    expect([...sums].filter(([, sum]) => sum !== 0n)).toEqual([...nonZero(closing)])
  }
}

type ReadExport = Pick<Export, 'opening' | 'closing'> & { readonly lines: readonly VerifiedLine[] }

async function read(exported: Export): Promise<ReadExport> {
  const lines: VerifiedLine[] = []
  for await (const page of verifyLines(exported)) lines.push(...page)
  return { opening: exported.opening, closing: exported.closing, lines }
}

function nonZero(balances: Export['opening']) {
  return new Map(balances.filter(({ balance }) => balance !== 0n).map(({ assetCode, balance }) => [assetCode, balance]))
}

/** Compares the closing balances with the wallets, and explains them by all deposits, payouts, refunds and fees. */
async function expectWallets(context: Context, walletIds: readonly string[]): Promise<void> {
  const closings = await Promise.all(walletIds.map((walletId) => exportStatement(context, { walletId })))
  const inWallets = closings.reduce((sum, { closing: [closing] }) => sum + (closing?.balance ?? 0n), 0n)
  const total = async (exportFunction: ExportFunction) =>
    (await exportFunction({})).closing.reduce((sum, { balance }) => sum + balance, 0n)
  const [deposits, payouts] = [
    await total((period) => exportDeposits(context, period)),
    await total((period) => exportPayouts(context, period)),
  ]
  const statements = await Promise.all(closings.map(read))
  const refunded = statements
    .flatMap(({ lines }) => lines)
    .filter(({ cells }) => cells.kind === 'payout_failed' || cells.kind === 'payout_returned')
    .reduce((sum, { moved }) => sum + moved, 0n)
  expect(inWallets).toBe(deposits - payouts + refunded)
  // Earned fees are those of payouts that were not refunded.
  const { lines } = await read(await exportPayouts(context, {}))
  const notRefunded = lines.filter(({ cells }) => cells.status === 'PROCESSING' || cells.status === 'COMPLETED')
  const earned = notRefunded.reduce((sum, { cells }) => sum + BigInt(String(cells.fee ?? '0').replace('.', '')), 0n)
  expect(await total((period) => exportFees(context, period))).toBe(earned)
}
