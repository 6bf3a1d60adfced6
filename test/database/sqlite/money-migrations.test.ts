import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import { latestTimes } from '../../../db/migrations/0022-latest-times.ts'
import { transfersInOneRow } from '../../../db/migrations/0028-transfers-in-one-row.ts'
import { migrations } from '../../../db/migrations/index.ts'
import { migrateSqlite } from '../../../src/database/sqlite/migrate-sqlite.ts'

/** Creates a file of the previous version, without foreign key checks. */
function fileOfVersionBefore() {
  const database = new Sqlite(':memory:')
  onTestFinished(() => void database.close())
  migrateSqlite(database, migrations.slice(0, migrations.indexOf(latestTimes)))
  database.pragma('foreign_keys = OFF')
  const insert = (table: string, row: Record<string, unknown>) =>
    database
      .prepare(`insert into ${table} (${Object.keys(row)}) values (${Object.keys(row).map(() => '?')})`)
      .run(...Object.values(row))
  const rows = (text: string) => database.prepare(text).raw().all()
  // Its conversion needs rows that are missing here; earlier-ledger.test.ts covers it.
  const looked = migrations.slice(0, migrations.indexOf(transfersInOneRow))
  return { database, insert, rows, migrate: () => migrateSqlite(database, looked) }
}

const early = '2026-01-01T00:00:00.007Z'
const late = '2026-01-01T00:00:01.250Z'

const texts = ['transaction_id', 'reference_id', 'asset_code', 'exchange_rate', 'amount_fiat', 'recipient_name']
const more = ['recipient_currency', 'recipient_country', 'bank_name', 'bank_code', 'account_number']
const rest = [...texts, ...more, 'payment_purpose', 'transfer_type', 'updated_at'].map((name) => [name, 'x'] as const)
const payout = {
  ...Object.fromEntries(rest),
  wallet_id: 'w',
  amount: 1,
  balance_after: 1,
  transfer_id: 't',
  status: 'FAILED',
}

test('the migration of an older file computes the time of the latest row in each list and in each statement', () => {
  const { insert, rows, migrate } = fileOfVersionBefore()
  insert('payouts', { ...payout, merchant_id: 'm', id: 'p1', sequence: 1, created_at: early })
  insert('payouts', { ...payout, merchant_id: 'm', id: 'p2', sequence: 2, created_at: late })
  for (const name of ['payouts', 'customers', 'wallets:w']) insert('sequences', { merchant_id: 'm', name, latest: 2 })
  insert('accounts', { merchant_id: 'm', id: 'w', kind: 'wallet', asset_code: 'USDC', balance: 1, entry_count: 1 })
  insert('accounts', { merchant_id: 'm', id: 'empty', kind: 'wallet', asset_code: 'USDC', balance: 0, entry_count: 0 })
  insert('transfers', { merchant_id: 'm', id: 't', kind: 'deposit', asset_code: 'USDC', created_at: early })
  const entry = { merchant_id: 'm', transfer_id: 't', line: 1, account_id: 'w', direction: 'credit', amount: 1 }
  insert('entries', { ...entry, sequence: 1, balance_after: 1 })
  migrate()

  expect(rows('select name, latest_time, latest_id from sequences order by name')).toEqual([
    ['customers', 0, null],
    ['payouts', Date.parse(late), null],
    ['wallets:w', 0, null],
  ])
  expect(rows('select id, latest_time from accounts order by id')).toEqual([
    ['empty', 0],
    ['w', Date.parse(early)],
  ])
})

test('the migration of an older file computes the sum of each wallet’s deposits, which the wallet’s balance may not exceed', () => {
  const { database, insert, rows, migrate } = fileOfVersionBefore()
  const largest = 999_999_999_999_999_999n
  const account = { merchant_id: 'm', asset_code: 'USDC', entry_count: 0 }
  for (const [id, balance] of [
    ['empty', 0],
    ['full', 5],
    ['huge', 7],
  ])
    insert('accounts', { ...account, id, balance, kind: 'wallet' })
  insert('accounts', { ...account, id: 'fees:USDC', balance: null, kind: 'fees' })
  const deposit = { merchant_id: 'm', transfer_id: 't', balance_after: 1, created_at: early }
  insert('deposits', { ...deposit, reference: 'a', wallet_id: 'full', amount: largest })
  insert('deposits', { ...deposit, reference: 'b', wallet_id: 'full', amount: 3 })
  // More than 63 bits, which the previous version accepted once part of it had been paid out.
  for (let i = 0; i < 12; i++) insert('deposits', { ...deposit, reference: `${i}`, wallet_id: 'huge', amount: largest })
  migrate()

  const reachable = 'select id, cast(reachable_balance as text) from accounts order by id'
  expect(rows(reachable)).toEqual([
    ['empty', '0'],
    ['fees:USDC', null],
    ['full', String(largest + 3n)],
    ['huge', String(2n ** 63n - 1n)],
  ])
  expect(() => database.exec(`update accounts set balance = reachable_balance + 1 where id = 'full'`)).toThrow('CHECK')
})

test('the migration of an older file adds the built-in currencies and keeps currencies that operators added', () => {
  const { insert, rows, migrate } = fileOfVersionBefore()
  const added = {
    id: 'mine',
    asset_type: 'FIAT',
    code: 'CAD',
    minor_unit_places: 3,
    created_at: late,
    updated_at: late,
  }
  insert('asset_codes', added)
  migrate()
  const codes = rows(
    `select code, id = 'mine', minor_unit_places from asset_codes where asset_type = 'FIAT' order by code`,
  )
  expect(codes).toEqual([['CAD', 1, 3], ...['EUR', 'GBP', 'NGN', 'USD', 'ZAR'].map((code) => [code, 0, 2])])
})

test('if several idempotency keys normalize to one key, the migration normalizes one of them and keeps the others unchanged', () => {
  const { insert, rows, migrate } = fileOfVersionBefore()
  const forms = ['"quoted"', '"quoted" ', ' " quoted"', 'spaced ', ' spaced', '"both" ', 'both ', ' both']
  for (const [i, key] of forms.entries()) {
    insert('payouts', {
      ...payout,
      merchant_id: 'm',
      id: `p${i}`,
      sequence: i + 1,
      created_at: early,
      idempotency_key: key,
    })
    insert('idempotency_keys', {
      merchant_id: 'm',
      operation: 'one',
      key,
      fingerprint: `${i}`,
      result: '{}',
      created_at: early,
    })
  }
  migrate()

  const expected = ['"quoted"', '"quoted" ', 'quoted', 'spaced ', 'spaced', 'both', 'both ', ' both']
  expect(rows('select idempotency_key from payouts order by sequence').flat()).toEqual(expected)
  expect(rows('select key from idempotency_keys order by fingerprint').flat()).toEqual(expected)
})

// Ruling 22: a caller's repeated key must find the existing payout.
test('the migration of an older file normalizes idempotency keys as both APIs do (ruling 22)', () => {
  const { insert, rows, migrate } = fileOfVersionBefore()
  const keys = ['plain', '"quoted"', ' spaced ', ' " both " ', '"taken"', 'taken', '""', 'a"b', '"open', null]
  for (const [i, key] of keys.entries()) {
    insert('payouts', {
      ...payout,
      merchant_id: 'm',
      id: `p${i}`,
      sequence: i + 1,
      created_at: early,
      idempotency_key: key,
    })
  }
  insert('payouts', {
    ...payout,
    merchant_id: 'n',
    id: 'p',
    sequence: 1,
    created_at: early,
    idempotency_key: '"plain"',
  })
  const legacyKey = { merchant_id: 'm', fingerprint: '', result: '{}', created_at: early }
  for (const operation of ['one', 'two']) insert('idempotency_keys', { ...legacyKey, operation, key: '"k"' })
  insert('idempotency_keys', { ...legacyKey, operation: 'two', key: 'k' })
  migrate()

  const expected = ['plain', 'quoted', 'spaced', 'both', '"taken"', 'taken', '""', 'a"b', '"open', null, 'plain']
  expect(rows('select idempotency_key from payouts order by merchant_id, sequence').flat()).toEqual(expected)
  expect(rows('select operation, key from idempotency_keys order by operation, key')).toEqual([
    ['one', 'k'],
    ['two', '"k"'],
    ['two', 'k'],
  ])
})
