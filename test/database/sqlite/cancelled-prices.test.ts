import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { cancelledRates } from '../../../db/migrations/0020-cancelled-rates.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { migrateSqlite } from '../../../src/database/sqlite/migrate-sqlite.ts'

test('the migration that makes rates and fees cancellable does not cancel existing rates and fees', () => {
  const database = new Sqlite(':memory:')
  onTestFinished(() => void database.close())
  migrateSqlite(database, migrations.slice(0, migrations.indexOf(cancelledRates)))
  database.exec(`insert into rates values ('USDC', 'NGN', '2026', '1500'), ('USDC', 'NGN', '2027', '1600')`)
  database.exec(`insert into fees values ('USDC', 'NGN', '2026', 50000000, '0.25')`)

  migrateSqlite(database, migrations)

  expect(database.prepare('select * from rates order by effective_at').raw().all()).toEqual([
    ['USDC', 'NGN', '2026', 1, '1500', null],
    ['USDC', 'NGN', '2027', 1, '1600', null],
  ])
  expect(database.prepare('select * from fees').raw().all()).toEqual([
    ['USDC', 'NGN', '2026', 1, 50_000_000, '0.25', null, 'BALANCE'],
  ])
})
