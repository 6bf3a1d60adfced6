import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test } from 'vitest'
import { columnKindsByTable } from '../../src/database/tables.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { settlePayout } from '../../src/modules/payouts/settle-payout.ts'
import { payoutBody, startApp } from '../support/app.ts'
import { bankMethodBody } from '../support/bodies.ts'
import { rawQuery } from './rows.ts'

/** Creates a merchant with customer, wallets and a paid payout, and a direct connection to the file. */
async function startBooks() {
  const app = await startApp('sqlite')
  await app.fee('0.5')
  await app.customer()
  const walletId = await app.wallet({ balance: '100' })
  const { body } = await app.rest('POST', '/api/payouts/banks', { body: payoutBody })
  await settlePayout(app.context(), { payoutId: body.data.id, status: 'COMPLETED' })
  const method = await app.rest('POST', '/api/payout/methods/banks', { body: bankMethodBody })
  expect(method.status).toBe(201)
  const endpoint = await app.rest('POST', '/api/webhooks', { body: { url: 'http://127.0.0.1:9/' } })
  expect(endpoint.status).toBe(201)

  const database = new Sqlite(app.url.replace('sqlite:', ''))
  onTestFinished(() => void database.close())
  database.pragma('foreign_keys = ON')
  database.exec(`insert into accounts values ('${app.merchant.id}', 'spare', 'wallet', 'USDC', 0, 0, 0, 0)`)
  database.exec(`insert into pooled_addresses values ('${app.merchant.id}', 'solana', 1, 'address')`)
  database.exec(`insert into payout_transfers
    select reference_id, merchant_id, id, 'bank', 'QUEUED', 0, 0, 0, null, null, null, '[]', created_at, created_at from payouts`)
  database.exec(`insert into webhook_deliveries
    select merchant_id, id, 1, id, 'pending', 0, 0, 0, created_at from webhook_endpoints`)
  database.exec(`insert into chain_deposits select merchant_id, network, 'hash', 0, network || ':hash:0', id, wallet_id, 'USDC', 1, 0,
    'DETECTED', null, null, 'node', created_at, null, created_at from wallet_addresses limit 1`)
  return { app, database, walletId }
}

/** Returns SQLite's error for the statement, or its changes. */
function codeOf(database: Sqlite.Database, statement: string): unknown {
  try {
    return `${database.prepare(statement).run().changes} changed: ${statement}`
  } catch (error) {
    return (error as { code?: unknown }).code
  }
}

describe('append-only tables', () => {
  const tables = ['transfers', 'rates', 'fees', 'payout_events']

  test.each(tables)('such as %s reject UPDATE and DELETE', async (table) => {
    const { database } = await startBooks()
    const column = table === 'rates' ? 'rate' : table === 'fees' ? 'percent' : 'merchant_id'
    const before = database.prepare(`select * from ${table}`).all()

    expect(before.length).toBeGreaterThan(0)
    expect(() => database.exec(`update ${table} set ${column} = ${column}`)).toThrow(`${table} are append-only`)
    expect(() => database.exec(`delete from ${table}`)).toThrow(`${table} are append-only`)
    expect(database.prepare(`select * from ${table}`).all()).toEqual(before)
  })

  test.each(['rates', 'fees'])('such as %s allow a row to be cancelled once, and no other change', async (table) => {
    const { database } = await startBooks()
    const column = table === 'rates' ? 'rate' : 'percent'

    expect(() => database.exec(`update ${table} set cancelled_at = 'now', ${column} = '7'`)).toThrow('append-only')
    database.exec(`update ${table} set cancelled_at = 'now'`)
    expect(() => database.exec(`update ${table} set cancelled_at = 'later'`)).toThrow(`${table} are append-only`)
    expect(() => database.exec(`update ${table} set cancelled_at = null`)).toThrow(`${table} are append-only`)
  })

  test('reject INSERT OR REPLACE by the service', async () => {
    const { app, database } = await startBooks()
    const transfers = database.prepare('select * from transfers').all()
    const replaceAll = rawQuery(
      sql`insert or replace into transfers select ${sql.raw(transferWith({ created_at: `''` }))} from transfers`,
    )

    await expect(app.db.write((tx) => replaceAll(tx))).rejects.toThrow('transfers are append-only')
    expect(database.prepare('select * from transfers').all()).toEqual(transfers)
  })
})

/** Returns the columns of a transfer with `changes`. */
function transferWith(changes: Readonly<Record<string, string>>): string {
  return Object.keys(columnKindsByTable.transfers ?? {})
    .map((name) => changes[name] ?? name)
    .join()
}

/** Copies a payout's transfer with `changes`. */
function newTransfer(changes: Readonly<Record<string, string>>): string {
  const columns = transferWith({ id: `'new'`, sequence: '99', ...changes })
  return `insert into transfers select ${columns} from transfers where kind = 'payout' limit 1`
}

/** For each CHECK of the schema, a statement that only this CHECK rejects. */
const violations: Readonly<Record<string, readonly string[]>> = {
  api_keys: [`update api_keys set mode = 'other'`],
  asset_codes: [`update asset_codes set asset_type = 'OTHER'`, 'update asset_codes set minor_unit_places = 9'],
  fees: [
    `insert into fees values ('USDC', 'NGN', '2030', 1, -1, '0', null, 'BALANCE')`,
    `insert into fees values ('USDC', 'NGN', '2030', 1, 1, '0', null, 'OTHER')`,
  ],
  accounts: [
    `update accounts set kind = 'other'`,
    `update accounts set balance = -1 where kind = 'wallet'`,
    'update accounts set entry_count = -1',
    `update accounts set balance = null where kind = 'wallet'`,
    `update accounts set balance = reachable_balance + 1 where kind = 'wallet'`,
  ],
  webhook_endpoints: [
    `update webhook_endpoints set format = 'other'`,
    `update webhook_endpoints set status = 'other'`,
    `update webhook_endpoints set disabled_reason = 'other'`,
  ],
  payout_transfers: [`update payout_transfers set state = 'OTHER'`],
  webhook_deliveries: [`update webhook_deliveries set status = 'other'`],
  transfers: [
    newTransfer({ kind: `'other'` }),
    newTransfer({ amount: '0' }),
    newTransfer({ fee: '-1' }),
    newTransfer({ fee: '1', kind: `'deposit'` }),
    newTransfer({ balance_after: '-1' }),
    newTransfer({ wallet_id: 'null', sequence: 'null', balance_after: 'null' }),
    newTransfer({ sequence: 'null' }),
  ],
  sequences: [`update sequences set is_sorted = 2`],
  wallet_addresses: [`update wallet_addresses set custody = 'other'`],
  customers: [`update customers set customer_type = 'other'`, `update customers set status = 'other'`],
  wallets: [`update wallets set asset_type = 'OTHER'`, `update wallets set status = 'closed'`],
  operators: [`insert into operators values ('1', 'ada', 'other', null, null, null, 1, 'now')`],
  customer_search_keys: [`insert into customer_search_keys select merchant_id, 'other', 'x', id from customers`],
  payout_statistics: [
    `insert into payout_statistics select id, '2026-03-01', 'USDC', 'NGN', 'CANCELLED', 0, 1, 0, 0, 0, 0 from merchants`,
  ],
  pooled_addresses: [`update pooled_addresses set family = 'other'`],
  deposits: ['update deposits set amount = 0'],
  deposit_reversals: ['0, balance_after', 'amount, -1'].map(
    (amounts) => `insert into deposit_reversals
      select merchant_id, reference, wallet_id, transfer_id, ${amounts}, 'why', created_at from deposits`,
  ),
  chain_deposits: [
    'update chain_deposits set amount = 0',
    `update chain_deposits set state = 'OTHER'`,
    `update chain_deposits set state = 'CONFIRMED'`,
  ],
  seals: [`insert into seals select id, 0, 1, 1, '', '', '', '' from merchants`],
  trusted_documents: [`insert into trusted_documents values ('a', 0, null, '{a}', '', null)`],
  database_copies: [
    `insert into database_copies values (2, 'a', 'source', 'b', '', null, null)`,
    `insert into database_copies values (1, 'a', 'other', 'b', '', null, null)`,
  ],
  installation: [
    `insert into installation values (2, 'sandbox', '')`,
    `insert into installation values (1, 'other', '')`,
  ],
  payout_methods: [
    `update payout_methods set type = 'OTHER', wallet_address = 'x', network = 'x', account_number = null`,
    'update payout_methods set account_number = null',
  ],
  payouts: [
    `update payouts set status = 'OTHER'`,
    'update payouts set amount = 0',
    'update payouts set fee = -1',
    `update payouts set fee = null, fee_deducted_from = 'AMOUNT'`,
  ],
  payout_events: [
    `insert into payout_events select merchant_id, payout_id, 'OTHER', null, transfer_id, created_at, null from payout_events`,
  ],
}

describe('CHECK constraints', () => {
  test.each(Object.entries(violations))(
    'of %s reject each statement that violates a constraint',
    async (_, statements) => {
      const { database } = await startBooks()

      for (const statement of statements) expect(codeOf(database, statement)).toBe('SQLITE_CONSTRAINT_CHECK')
    },
  )

  test('each have a statement in this test that violates only that constraint', async () => {
    const { database } = await startBooks()
    const definitions = database
      .prepare(`select name, sql from sqlite_schema where type = 'table' and sql like '%check (%'`)
      .all() as { name: string; sql: string }[]

    const count = Object.fromEntries(definitions.map(({ name, sql }) => [name, sql.split(/\bcheck \(/).length - 1]))
    expect(Object.fromEntries(Object.entries(violations).map(([name, { length }]) => [name, length]))).toEqual(count)
  })

  test('reject a stored balance of a clearing account', async () => {
    const { database } = await startBooks()

    expect(codeOf(database, `update accounts set kind = 'fees'`)).toBe('SQLITE_CONSTRAINT_CHECK')
  })

  test('are not needed for types, because STRICT tables reject a string or a fraction as a balance', async () => {
    const { database } = await startBooks()

    expect(codeOf(database, `update accounts set balance = 'much' where kind = 'wallet'`)).toBe(
      'SQLITE_CONSTRAINT_DATATYPE',
    )
    expect(codeOf(database, `update accounts set balance = 0.5 where kind = 'wallet'`)).toBe(
      'SQLITE_CONSTRAINT_DATATYPE',
    )
  })
})

describe('a unique index', () => {
  test.each([
    ['a position in a list of payouts', 'payouts', { id: `'new'`, idempotency_key: 'null' }],
    ['an idempotency key of a payout', 'payouts', { id: `'new'`, sequence: '99' }],
    ['a position in a list of customers', 'customers', { id: `'new'` }],
    ['a position in a list of wallets', 'wallets', { id: `'spare'`, owner_sequence: '99' }],
    ['a position in a list of an owner', 'wallets', { id: `'spare'`, sequence: '99' }],
    ['an address', 'wallet_addresses', { id: `'new'` }],
    ['an address of the pool', 'pooled_addresses', { sequence: '99' }],
    ['a reference of a deposit', 'deposits', {}],
    ['a status of a payout', 'payout_events', {}],
    ['a position in a statement', 'transfers', { id: `'new'` }],
    ['a position in a list of payout methods', 'payout_methods', { id: `'new'`, owner_sequence: '99' }],
  ])('rejects a duplicate of %s', async (_, table, changes) => {
    const { database } = await startBooks()
    database.exec(`update payouts set idempotency_key = 'key'`)

    expect(codeOf(database, copyOf(database, table, changes))).toMatch(/^SQLITE_CONSTRAINT_(UNIQUE|PRIMARYKEY)$/)
  })
})

describe('foreign keys', () => {
  const other = 'another merchant'
  test.each([
    ['the customer of a wallet', `update wallets set customer_id = '${other}'`],
    ['the account of a wallet', copyTo('wallets', { id: `'no account'`, sequence: '99', owner_sequence: '99' })],
    ['the wallet of a payout', `update payouts set wallet_id = 'none'`],
    ['the transfer of a payout', `update payouts set transfer_id = 'none'`],
    ['the customer of a payout method', `update payout_methods set customer_id = '${other}'`],
    ['the wallet of an address', `update wallet_addresses set wallet_id = 'none'`],
    ['the wallet of a deposit', `update deposits set wallet_id = 'none'`],
    ['the merchant of a sequence', `insert into sequences values ('${other}', 'payouts', 1, 0, null, 1)`],
    ['the merchant of an account', `insert into accounts values ('${other}', 'x', 'fees', 'USDC', null, 0, 0, null)`],
    ['the merchant of an API key', `update api_keys set merchant_id = '${other}'`],
    ['the wallet of a transfer', newTransfer({ wallet_id: `'none'` })],
  ])('require that %s exists', async (_, statement) => {
    const { database } = await startBooks()
    const text = typeof statement === 'string' ? statement : statement(database)

    expect(codeOf(database, text)).toBe('SQLITE_CONSTRAINT_FOREIGNKEY')
  })

  test('cannot reference a row of another merchant', async () => {
    const { app, database } = await startBooks()
    const { id } = await createMerchant(app.service, { name: 'Another' })

    // The customer and the account are there, but another merchant's.
    const wallet = copyOf(database, 'wallets', { merchant_id: `'${id}'`, id: `'spare'` })
    expect(codeOf(database, wallet)).toBe('SQLITE_CONSTRAINT_FOREIGNKEY')
    const payout = copyOf(database, 'payouts', { merchant_id: `'${id}'` })
    expect(codeOf(database, payout)).toBe('SQLITE_CONSTRAINT_FOREIGNKEY')
  })
})

/** The statement that adds a row like the first one of `table`, but for `changes`. */
function copyOf(database: Sqlite.Database, table: string, changes: Readonly<Record<string, string>>): string {
  // table_info leaves out what the engine computes.
  const columns = database.prepare('select name from pragma_table_info(?)').pluck().all(table) as string[]
  const values = columns.map((name) => changes[name] ?? name)
  const isWanted = table === 'transfers' ? 'where sequence is not null' : ''
  return `insert into ${table} (${columns.join()}) select ${values.join()} from ${table} ${isWanted} limit 1`
}

function copyTo(table: string, changes: Readonly<Record<string, string>>) {
  return (database: Sqlite.Database) => copyOf(database, table, changes)
}
