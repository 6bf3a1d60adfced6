import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Export, VerifiedLine } from '../../../src/modules/exports/export.ts'
import { verifyLines } from '../../../src/modules/exports/export.ts'
import { exportDeposits, exportFees } from '../../../src/modules/exports/journals.ts'
import { exportPayouts } from '../../../src/modules/exports/payouts-export.ts'
import { exportStatement } from '../../../src/modules/exports/wallet-statement.ts'
import type { Context } from '../../../src/operations/context.ts'
import { everyEngine, startApp } from '../../support/app.ts'
import { history, live, movableClock } from './histories.ts'

const runsOn = { sqlite: 40, postgres: 8 } as const

type Asked = { readonly from?: string | undefined; readonly to?: string | undefined }
type Of = (period: Asked) => Promise<Export>

describe.each(everyEngine)('exports on %s', (engine) => {
  test('of any history add up at any cut, and those of periods that meet are one', async () => {
    const clock = movableClock()
    const app = await startApp(engine, { clock: clock.now })
    await app.fee('0.00000007', '0.3')
    const cuts = fc.tuple(fc.nat(40), fc.nat(40))
    await fc.assert(
      fc.asyncProperty(history, cuts, async (steps, cuts) => {
        const { context, walletIds, moments } = await live(app, clock, steps)
        clock.pass(1)
        const [first, second] = cuts.map((cut) => moments[cut % moments.length] as string).sort() as [string, string]
        for (const of of exportsOf(context, walletIds)) await expectToMeet(of, first, second)
        await expectWallets(context, walletIds)
      }),
      { numRuns: runsOn[engine], interruptAfterTimeLimit: 250_000, markInterruptAsFailure: true },
    )
    await app.expectBooksToBalance()
  })
})

function exportsOf(context: Context, walletIds: readonly string[]): Of[] {
  return [
    ...walletIds.map((walletId) => (period: Asked) => exportStatement(context, { walletId, ...period })),
    ...[exportPayouts, exportFees, exportDeposits].map((of) => (period: Asked) => of(context, period)),
  ]
}

/** Cuts the time in three: what was before, between and after is what was in all, and balances are the same where they meet. */
async function expectToMeet(of: Of, first: string, second: string): Promise<void> {
  const whole = await read(await of({}))
  const parts = []
  for (const period of [{ to: first }, { from: first, to: second }, { from: second }]) {
    parts.push(await read(await of(period)))
  }
  const seen = (lines: readonly VerifiedLine[]) => lines.map(({ cells, moved, balance }) => ({ cells, moved, balance }))
  expect(parts.flatMap(({ lines }) => seen(lines))).toEqual(seen(whole.lines))
  const [before, within, after] = parts as [Read, Read, Read]
  expect(held(within.opening)).toEqual(held(before.closing))
  expect(held(after.opening)).toEqual(held(within.closing))
  expect(held(after.closing)).toEqual(held(whole.closing))
  for (const { opening, closing, lines } of [whole, ...parts]) {
    const sums = new Map(held(opening))
    for (const { assetCode, moved } of lines) sums.set(assetCode, (sums.get(assetCode) ?? 0n) + moved)
    expect([...sums].filter(([, sum]) => sum !== 0n)).toEqual([...held(closing)])
  }
}

type Read = Pick<Export, 'opening' | 'closing'> & { readonly lines: readonly VerifiedLine[] }

async function read(exported: Export): Promise<Read> {
  const lines: VerifiedLine[] = []
  for await (const page of verifyLines(exported)) lines.push(...page)
  return { opening: exported.opening, closing: exported.closing, lines }
}

/** What nothing is held of need not be there. */
function held(balances: Export['opening']) {
  return new Map(balances.filter(({ balance }) => balance !== 0n).map(({ assetCode, balance }) => [assetCode, balance]))
}

/** What is held in the end is what the wallets hold, and all fees, deposits and payouts together explain it. */
async function expectWallets(context: Context, walletIds: readonly string[]): Promise<void> {
  const closings = await Promise.all(walletIds.map((walletId) => exportStatement(context, { walletId })))
  const inWallets = closings.reduce((sum, { closing: [closing] }) => sum + (closing?.balance ?? 0n), 0n)
  const total = async (of: Of) => (await of({})).closing.reduce((sum, { balance }) => sum + balance, 0n)
  const [deposits, payouts] = [
    await total((period) => exportDeposits(context, period)),
    await total((period) => exportPayouts(context, period)),
  ]
  const statements = await Promise.all(closings.map(read))
  const cameBack = statements
    .flatMap(({ lines }) => lines)
    .filter(({ cells }) => cells.kind === 'payout_failed' || cells.kind === 'payout_returned')
    .reduce((sum, { moved }) => sum + moved, 0n)
  expect(inWallets).toBe(deposits - payouts + cameBack)
  // What is earned are the fees of payouts that did not come back.
  const { lines } = await read(await exportPayouts(context, {}))
  const kept = lines.filter(({ cells }) => cells.status === 'PROCESSING' || cells.status === 'COMPLETED')
  const earned = kept.reduce((sum, { cells }) => sum + BigInt(String(cells.fee ?? '0').replace('.', '')), 0n)
  expect(await total((period) => exportFees(context, period))).toBe(earned)
}
