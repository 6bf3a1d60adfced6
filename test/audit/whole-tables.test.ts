import { expect, onTestFinished, test, vi } from 'vitest'
import { audit } from '../../src/audit/audit.ts'
import { createService } from '../../src/context.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { fill } from '../../src/fill/fill.ts'
import { startApp } from '../support/app.ts'
import { describePostgres } from '../support/engines.ts'
import { runSql } from '../support/postgres-database.ts'

describePostgres('an audit on PostgreSQL', {}, () => {
  test('reads tables whole a few times, and none for each row of another, though nobody has analyzed them', async () => {
    const { url, service } = await startApp('postgres')
    const payouts = 1_000
    await fill(service, { seed: 1, merchants: 1, customers: 20, methods: 40, wallets: 20, payouts })
    const rowsRead = async () => {
      const text = 'select sum(seq_tup_read) as read from pg_stat_user_tables'
      const [counted] = await runSql<{ read: string }>(url, text)
      return Number(counted?.read)
    }
    const db = await openDatabase({ url, onFatal: () => {} })
    onTestFinished(() => db.close().catch(() => {}))
    const before = await rowsRead()
    const { balanced } = await audit(createService({ db, mode: 'sandbox' }))
    // What a session has counted is told when it ends.
    await db.close()
    expect(balanced).toBe(true)
    await vi.waitFor(async () => expect((await rowsRead()) - before).toBeGreaterThan(5 * payouts))
    expect((await rowsRead()) - before).toBeLessThan(200 * payouts)
  })
})
