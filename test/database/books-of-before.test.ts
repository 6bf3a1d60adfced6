import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { describe, expect, onTestFinished, test } from 'vitest'
import { transfersInOneRow } from '../../db/migrations/0028-transfers-in-one-row.ts'
import { migrations } from '../../db/migrations/index.ts'
import { audit } from '../../src/audit/audit.ts'
import { createService } from '../../src/context.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { migratePostgres } from '../../src/database/postgres/migrate-postgres.ts'
import { migrateSqlite } from '../../src/database/sqlite/migrate-sqlite.ts'
import { settlePayout } from '../../src/payouts/settle-payout.ts'
import type { Engine } from '../support/app.ts'
import { everyEngine, payoutBody, startApp } from '../support/app.ts'
import { newPostgresDatabase, spoilPostgresDatabase } from '../support/postgres-database.ts'
import { whatIsStored } from '../support/stored.ts'

const formBefore = migrations.slice(0, migrations.indexOf(transfersInOneRow))

/** What migrations bring by themselves, or is no data. */
const ownRows = ['migrations', 'asset_codes', 'asset_networks', 'sqlite_stat1']

type Rows = Readonly<Record<string, readonly Readonly<Record<string, string | null>>[]>>

/** Books with deposits, and with a payout in each status, without a fee and with one, of two merchants. */
async function startBusyApp(engine: Engine) {
  const app = await startApp(engine)
  await app.wallet({ balance: '3', assetCode: 'USDT' })
  await app.wallet({ balance: '100' })
  for (const fee of [null, '0.5']) {
    if (fee !== null) await app.fee(fee)
    for (const statuses of [[], ['COMPLETED'], ['FAILED'], ['COMPLETED', 'RETURNED']] as const) {
      const { body } = await app.rest('POST', '/api/payouts/banks', { body: { ...payoutBody, amount: '2' } })
      for (const status of statuses) await settlePayout(app.context(), { payoutId: body.data.id, status })
    }
  }
  return app
}

async function rowsAt(url: string): Promise<Rows> {
  const stored = Object.entries(await whatIsStored({ url })).filter(([table]) => !ownRows.includes(table))
  return Object.fromEntries(stored.map(([table, rows]) => [table, rows.toSorted().map((row) => JSON.parse(row))]))
}

/** What an older form has beside: an account without a balance for each that stands for something outside the wallets. */
function withClearingAccounts(rows: Rows): Rows {
  const [{ merchant_id = null } = {}] = rows.accounts ?? []
  const clearing = ['deposits', 'payouts_in_transit', 'payouts_settled', 'fees'].flatMap((kind) =>
    ['USDC', 'USDT'].map((asset_code) => ({
      ...{ merchant_id, id: `${kind}:${asset_code}`, kind, asset_code },
      ...{ balance: null, entry_count: '0', latest_time: '0', reachable_balance: null },
    })),
  )
  return { ...rows, accounts: [...(rows.accounts ?? []), ...clearing] }
}

/** A database in the form of before with these rows; `run` changes it behind the service's back. */
const startBefore = { sqlite: startFileBefore, postgres: startServerBefore }

async function startFileBefore(rows: Rows) {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'before.sqlite')
  const database = new Sqlite(path)
  onTestFinished(() => void database.close())
  database.pragma('journal_mode = WAL')
  migrateSqlite(database, formBefore)
  database.pragma('foreign_keys = OFF')
  for (const [table, each] of Object.entries(rows)) {
    const names = database.prepare('select name from pragma_table_info(?)').pluck().all(table) as string[]
    const insert = database.prepare(`insert into ${table} (${names}) values (${names.map(() => '?')})`)
    for (const row of each) insert.run(names.map((name) => row[name] ?? null))
  }
  const triggers = database.prepare(`select name from sqlite_schema where type = 'trigger'`).pluck().all()
  return {
    url: `sqlite:${path}`,
    run: async (statement: string) => {
      for (const trigger of triggers) database.exec(`drop trigger if exists ${trigger}`)
      database.exec(statement)
    },
    migrated: async () => database.prepare('select count(*) from migrations').pluck().get() as number,
  }
}

async function startServerBefore(rows: Rows) {
  const { url, remove } = await newPostgresDatabase({ isMigrated: false })
  spoilPostgresDatabase(url)
  onTestFinished(remove)
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await migratePostgres(client, formBefore, { mustExist: false })
  await client.query('set session_replication_role = replica')
  for (const [table, each] of Object.entries(rows)) {
    const { rows: columns } = await client.query<{ name: string }>(
      `select column_name as name from information_schema.columns where table_schema = 'public' and table_name = $1
        and is_generated = 'NEVER'`,
      [table],
    )
    const names = columns.map(({ name }) => name)
    const text = `insert into ${table} (${names}) values (${names.map((_, i) => `$${i + 1}`)})`
    for (const row of each) {
      await client.query(
        text,
        names.map((name) => row[name] ?? null),
      )
    }
  }
  return {
    url,
    run: async (statement: string) => void (await client.query(statement)),
    migrated: async () => Number((await client.query('select count(*) from migrations')).rows[0].count),
  }
}

/** Of another amount, on the other side, gone, all of a transfer gone, and a line too many. */
const otherEntries = [
  `update entries set amount = amount + 1 where account_id like 'fees:%'`,
  `update entries set direction = 'debit' where account_id = 'payouts_settled:USDC'`,
  `delete from entries where account_id = 'payouts_in_transit:USDC'`,
  'delete from entries where transfer_id in (select transfer_id from deposits)',
  `insert into entries select merchant_id, transfer_id, 9, account_id, direction, amount, null, null from entries
    where sequence = 1`,
]

const open = (url: string) => openDatabase({ url, onFatal: () => {} })

describe.each(everyEngine)('a database of before transfers were one row each, on %s', (engine) => {
  test('keeps every entry, line by line, and its books balance', async () => {
    const app = await startBusyApp(engine)
    const rows = await rowsAt(app.url)
    const before = await startBefore[engine](withClearingAccounts(rows))
    const db = await open(before.url)
    onTestFinished(() => db.close())

    expect(await rowsAt(before.url)).toEqual(rows)
    const { findings, ...summary } = await audit(createService({ db, mode: 'sandbox' }))
    expect(findings.filter(({ contradictions }) => contradictions > 0)).toEqual([])
    // Two deposits; four payouts without a fee, with what became of them; and as many with one, which two of the settlements move.
    expect(summary).toMatchObject({
      balanced: true,
      payouts: 8,
      transfers: 2 + 8 + 8,
      entries: 4 + (8 + 8) + (12 + 10),
    })
  })

  test('is refused with any other entries, and left as it is', async () => {
    const app = await startBusyApp(engine)
    const rows = withClearingAccounts(await rowsAt(app.url))
    for (const statement of otherEntries) {
      const before = await startBefore[engine](rows)
      await before.run(statement)

      await expect(open(before.url), statement).rejects.toThrow('entries that do not follow from their transfers')
      expect(await before.migrated()).toBe(formBefore.length)
    }
  })
})
