import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { transferCauses } from '../../../db/migrations/0018-transfer-causes.ts'
import { transfersInOneRow } from '../../../db/migrations/0028-transfers-in-one-row.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { migrateSqlite } from '../../../src/database/sqlite/migrate-sqlite.ts'

const at = `'2026-01-01T00:00:00.000Z'`
const kinds = { t1: 'deposit', t2: 'payout', t3: 'payout_completed', t4: 'payout_returned', t5: 'payout' }

/** Creates a file of the previous version in which merchant `m` has a deposit, a returned payout and a pending one. */
function fileOfVersionBefore() {
  const database = new Sqlite(':memory:')
  onTestFinished(() => void database.close())
  migrateSqlite(database, migrations.slice(0, migrations.indexOf(transferCauses)))
  const insert = (table: string, row: Record<string, unknown>) =>
    database
      .prepare(`insert into ${table} (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`)
      .run(...Object.values(row))
  database.pragma('foreign_keys = OFF')
  for (const [id, kind] of Object.entries(kinds)) {
    insert('transfers', { merchant_id: 'm', id, kind, asset_code: 'USDC', created_at: at })
  }
  const moved = { merchant_id: 'm', wallet_id: 'w', amount: 1, balance_after: 1, created_at: at }
  insert('deposits', { ...moved, reference: 'bank 7', transfer_id: 't1' })
  const texts = ['transaction_id', 'reference_id', 'asset_code', 'exchange_rate', 'amount_fiat', 'recipient_name']
  const more = ['recipient_currency', 'recipient_country', 'bank_name', 'bank_code', 'account_number']
  const rest = [...texts, ...more, 'payment_purpose', 'transfer_type', 'updated_at'].map((name) => [name, 'x'] as const)
  const payout = { ...moved, ...Object.fromEntries(rest) }
  insert('payouts', { ...payout, id: 'p1', sequence: 1, transfer_id: 't2', status: 'RETURNED' })
  insert('payouts', { ...payout, id: 'p2', sequence: 2, transfer_id: 't5', status: 'PROCESSING' })
  const event = { merchant_id: 'm', payout_id: 'p1', created_at: at }
  insert('payout_events', { ...event, status: 'COMPLETED', transfer_id: 't3' })
  insert('payout_events', { ...event, status: 'RETURNED', transfer_id: 't4' })
  return database
}

test('the migration stores the payout or deposit of each existing transfer, and transfers stay append-only', () => {
  const database = fileOfVersionBefore()
  // Its transfers have no entries, which the next migration would reject.
  migrateSqlite(database, migrations.slice(0, migrations.indexOf(transfersInOneRow)))

  expect(database.prepare('select id, payout_id, reference from transfers order by id').raw().all()).toEqual([
    ['t1', null, 'bank 7'],
    ['t2', 'p1', null],
    ['t3', 'p1', null],
    ['t4', 'p1', null],
    ['t5', 'p2', null],
  ])
  for (const statement of [`update transfers set reference = 'other'`, 'delete from transfers']) {
    expect(() => database.exec(statement)).toThrow('transfers are append-only')
  }
})
