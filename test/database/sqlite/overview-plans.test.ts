import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { createAuditRun } from '../../../src/console/console-page.ts'
import { overviewPage } from '../../../src/console/overview-page.ts'
import type { Query, Reader } from '../../../src/database/query.ts'
import { compileForSqlite } from '../../../src/database/sqlite/compile-for-sqlite.ts'
import { createPeriodReader } from '../../../src/modules/payout-statistics/read-statistics.ts'
import { sealAll } from '../../modules/hash-chain/support/tamperings.ts'
import { payoutBody, startApp } from '../../support/app.ts'

/** The tables that grow with payouts. */
const grows =
  /\b(accounts|wallets|payouts|payout_events|payout_transfers|events|transfers|deposits|latest|seals|webhook_deliveries|webhook_attempts)\b/

test('the overview reads only stored statistics, and bounded ranges of the tables that grow with payouts', async () => {
  const app = await startApp('sqlite')
  await app.wallet({ balance: '100' })
  await app.rest('POST', '/api/payouts/banks', { body: payoutBody, headers: { 'idempotency-key': 'one' } })
  await sealAll(app.service)
  const queries = new Set<Query>()
  const execute: Reader['execute'] = (query, params) => {
    queries.add(query)
    return app.db.execute(query, params)
  }
  const service = { ...app.service, db: { ...app.db, execute } }
  const session = { can: () => true }
  const { title } = await overviewPage.render({
    ...{
      service,
      rails: new Map(),
      auditRun: createAuditRun(),
      readPeriod: createPeriodReader(),
      session,
      urlFor: (path: string) => path,
    },
  } as never)
  const database = new Sqlite(app.url.replace('sqlite:', ''), { readonly: true })
  onTestFinished(() => void database.close())
  const steps = [...queries].flatMap(({ node }) => {
    const { sql, parameters } = compileForSqlite(node)
    const plan = database.prepare(`explain query plan ${sql}`).all(parameters.map(() => null)) as { detail: string }[]
    return plan.map(({ detail }) => detail)
  })

  expect(title).toBe('Overview')
  expect(steps).toContain('SEARCH payout_statistics USING PRIMARY KEY (merchant_id=? AND day>? AND day<?)')
  expect(steps).toContain('SEARCH daily_balance_changes USING PRIMARY KEY (merchant_id=? AND day>?)')
  expect([...new Set(steps.filter((step) => grows.test(step)))].toSorted()).toEqual([
    // These indexes have only the orders that are open or need attention.
    'SCAN payout_transfers USING COVERING INDEX payout_transfers_attention',
    'SCAN payout_transfers USING COVERING INDEX payout_transfers_queued',
    'SCAN payout_transfers USING INDEX payout_transfers_attention',
    'SCAN payout_transfers USING INDEX payout_transfers_due',
    'SEARCH events USING PRIMARY KEY (merchant_id=? AND sequence>?)',
    // The page reads at most a fixed number of the newest orders and deliveries.
    'SEARCH payout_transfers USING PRIMARY KEY (order_id>?)',
    // The page counts at most a thousand.
    'SEARCH payouts USING COVERING INDEX payouts_by_values (merchant_id=? AND status=?)',
    'SEARCH payouts USING INDEX payouts_by_values (merchant_id=? AND status=? AND asset_code=? AND recipient_currency=?)',
    'SEARCH payouts USING INDEX sqlite_autoindex_payouts_1 (merchant_id=? AND id=?)',
    'SEARCH seals USING PRIMARY KEY (merchant_id=?)',
    'SEARCH webhook_deliveries USING PRIMARY KEY (merchant_id=? AND endpoint_id=?)',
  ])
})
