import { expect, onTestFinished, test, vi } from 'vitest'
import { openDatabase } from '../../../src/app/open-database.ts'
import { seedLoadData } from '../../../src/demo/load/seed.ts'
import { auditBooks } from '../../../src/modules/audit/audit.ts'
import { exportDeposits, exportFees } from '../../../src/modules/exports/journals.ts'
import { exportPayouts } from '../../../src/modules/exports/payouts-export.ts'
import type { Service } from '../../../src/operations/context.ts'
import { createContext, createService } from '../../../src/operations/context.ts'
import { startApp } from '../../support/app.ts'
import { describePostgres } from '../../support/engines.ts'
import { runSql } from '../../support/postgres-database.ts'

const payouts = 1_000

/** Inserts many payouts into tables without statistics, and counts the rows that the server reads. */
async function startFilled() {
  const { url, service } = await startApp('postgres')
  const filling = { seed: 1, merchants: 1, customers: 20, methods: 40, wallets: 20, payouts }
  const [merchant] = await seedLoadData(service, filling)
  const counted = async () => {
    const text = `select (select sum(seq_tup_read) from pg_stat_user_tables) as whole,
      (select sum(idx_tup_read) from pg_stat_user_indexes) as found`
    const [{ whole, found } = { whole: 0, found: 0 }] = await runSql<{ whole: string; found: string }>(url, text)
    return Number(whole) + Number(found)
  }
  const rowsFor = async (run: (service: Service) => Promise<unknown>) => {
    const db = await openDatabase({ url, onFatal: () => {} })
    onTestFinished(() => db.close().catch(() => {}))
    const before = await counted()
    await run(createService({ db, mode: 'sandbox' }))
    // A session reports its statistics when it ends.
    await db.close()
    await vi.waitFor(async () => expect((await counted()) - before).toBeGreaterThan(payouts))
    return (await counted()) - before
  }
  return { merchantId: merchant?.id ?? '', rowsFor }
}

describePostgres('PostgreSQL tables without planner statistics', {}, () => {
  test('without planner statistics, an audit scans PostgreSQL tables a few times, not once for each row of another table', async () => {
    const { rowsFor } = await startFilled()
    let isBalanced = false
    const rows = await rowsFor(async (service) => {
      isBalanced = (await auditBooks(service)).balanced
    })
    expect(isBalanced).toBe(true)
    expect(rows).toBeLessThan(200 * payouts)
  })

  test.each([
    ['payouts', exportPayouts],
    ['fees', exportFees],
    ['deposits', exportDeposits],
  ])(
    'without planner statistics, PostgreSQL tables are not scanned once for each line when %s are exported',
    async (_, exportOf) => {
      const { merchantId, rowsFor } = await startFilled()
      const rows = await rowsFor(async (service) => {
        const { pages } = await exportOf(createContext(service, merchantId), {})
        for await (const _page of pages) {
        }
      })
      expect(rows).toBeLessThan(30 * payouts)
    },
  )
})
