import { expect, test } from 'vitest'
import type { Export } from '../../../src/modules/exports/export.ts'
import { linesPerPage, sumBatchSize, verifyLines } from '../../../src/modules/exports/export.ts'
import { exportDeposits, exportFees } from '../../../src/modules/exports/journals.ts'
import { exportPayouts } from '../../../src/modules/exports/payouts-export.ts'
import { exportStatement } from '../../../src/modules/exports/wallet-statement.ts'
import { createPayout } from '../../../src/modules/payouts/create-payout.ts'
import { depositToWallet } from '../../../src/modules/wallets/deposit-to-wallet.ts'
import { startApp } from '../../support/app.ts'
import { nigerian } from '../payouts/payout-places.ts'
import { movableClock } from './histories.ts'

async function pagesOf(exported: Export) {
  const pages: number[] = []
  const cells: Record<string, unknown>[] = []
  for await (const lines of verifyLines(exported)) {
    pages.push(lines.length)
    cells.push(...lines.map((line) => line.cells))
  }
  return { pages, cells, lineCount: exported.lineCount }
}

// Other tests check which rows are in a range, on each engine; this one checks only their number.
test('exports of several pages contain every line once and in order, for any start of the period', async () => {
  const clock = movableClock()
  const app = await startApp('sqlite', { clock: clock.now })
  await app.fee('0.5')
  const walletId = await app.wallet()
  const [deposits, payouts] = [sumBatchSize + 10, linesPerPage + 10]
  const repeat = <Result>(count: number, create: (i: number) => Promise<Result>) =>
    Promise.all(Array.from({ length: count }, (_, i) => create(i)))
  const deposit = (i: number) => depositToWallet(app.context(), { walletId, amount: `${i + 1}`, reference: `${i}` })
  await repeat(deposits / 2, deposit)
  clock.pass(1_000)
  const from = new Date(clock.now()).toISOString()
  await repeat(deposits / 2, (i) => deposit(i + deposits / 2))
  await repeat(payouts, () => createPayout(app.context(), { walletId, assetCode: 'USDC', amount: '1', ...nigerian }))
  clock.pass(1_000)
  const context = app.context()

  const statement = await pagesOf(await exportStatement(context, { walletId }))
  const entries = deposits + payouts
  const full = Math.floor(entries / linesPerPage)
  expect(statement.pages).toEqual([...Array.from({ length: full }, () => linesPerPage), entries % linesPerPage])
  expect(statement.cells.map(({ sequence }) => sequence)).toEqual(Array.from({ length: entries }, (_, i) => i + 1))
  const later = await pagesOf(await exportStatement(context, { walletId, from }))
  expect(later.cells).toEqual(statement.cells.slice(deposits / 2))

  const payoutPages = await pagesOf(await exportPayouts(context, { from }))
  expect(payoutPages.pages).toEqual([linesPerPage, 10])
  expect(new Set(payoutPages.cells.map(({ id }) => id)).size).toBe(payouts)
  const references = async (period: object) =>
    (await pagesOf(await exportDeposits(context, period))).cells.map(({ reference }) => Number(reference))
  const all = Array.from({ length: deposits }, (_, i) => i)
  expect((await references({})).toSorted((one, other) => one - other)).toEqual(all)
  expect(new Set(await references({ from }))).toEqual(new Set(all.slice(deposits / 2)))
  expect((await pagesOf(await exportFees(context, {}))).lineCount).toBe(payouts)
})
