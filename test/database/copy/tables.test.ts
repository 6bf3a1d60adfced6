import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import type { CopiedTable } from '../../../src/database/copy/copied-tables.ts'
import { copiedTables, orderByReferences, uncopiedTables } from '../../../src/database/copy/copied-tables.ts'
import { nextBatchSize } from '../../../src/database/copy/copy-side.ts'
import { snakeCase } from '../../../src/database/tables.ts'
import { describePostgres } from '../../support/engines.ts'
import { newPostgresDatabase, runSql } from '../../support/postgres-database.ts'
import { openTestDatabase } from '../open-test-database.ts'

type StoredColumn = { readonly table: string; readonly name: string }

/** Tables that the engine or the migrations fill. */
const ownTables = ['migrations']

function expectedColumns(): string[] {
  return copiedTables.flatMap(({ name, columns }) => columns.map((column) => `${name}.${column.name}`)).toSorted()
}

/** Returns the stored columns, except those of tables that a copy leaves out. */
function copiedColumns(stored: readonly StoredColumn[]): string[] {
  const omitted = [...ownTables, ...Object.keys(uncopiedTables).map(snakeCase)]
  return stored
    .filter(({ table }) => !omitted.includes(table))
    .map(({ table, name }) => `${table}.${name}`)
    .toSorted()
}

test('a copy reads every table and every non-generated column of a SQLite file, and each table has a key', async () => {
  const { path } = await openTestDatabase()
  const database = new Sqlite(path, { readonly: true })
  onTestFinished(() => void database.close())
  const stored = database
    .prepare(
      `select s.name as "table", c.name from sqlite_schema s join pragma_table_xinfo(s.name) c
        where s.type = 'table' and s.name not like 'sqlite%' and c.hidden = 0`,
    )
    .all() as StoredColumn[]
  const keyed = database
    .prepare(`select distinct s.name from sqlite_schema s join pragma_table_info(s.name) c where c.pk > 0`)
    .pluck()
    .all()

  expect(copiedColumns(stored)).toEqual(expectedColumns())
  expect(copiedTables.filter(({ name }) => !keyed.includes(name))).toEqual([])
})

describePostgres('a copy from or to PostgreSQL', {}, () => {
  test('a copy from or to PostgreSQL reads every table and every non-generated column, and no column uses a sequence', async () => {
    const { url, remove } = await newPostgresDatabase()
    onTestFinished(remove)
    const stored = await runSql<StoredColumn>(
      url,
      `select relname as "table", attname as name from pg_class join pg_attribute on attrelid = pg_class.oid
        where relkind = 'r' and relnamespace = 'public'::regnamespace and attnum > 0 and not attisdropped
          and attgenerated = ''`,
    )
    const counters = await runSql(
      url,
      `select sequencename as name from pg_sequences union all
      select attname from pg_attribute where attidentity <> ''`,
    )

    expect(copiedColumns(stored)).toEqual(expectedColumns())
    expect(counters).toEqual([])
  })
})

test('every table that a copy omits is listed with a reason', () => {
  for (const reason of Object.values(uncopiedTables)) expect(reason).toMatch(/\w \w/)
})

const tableNamed = (name: string): CopiedTable => ({ name, columns: [] })

test('a copy orders tables by their foreign keys, and rejects a cycle with the names of the tables in the cycle', () => {
  const tables = ['payouts', 'wallets', 'merchants'].map(tableNamed)
  const references = [
    { child: 'payouts', parent: 'wallets' },
    { child: 'wallets', parent: 'merchants' },
    { child: 'wallets', parent: 'wallets' },
    { child: 'payouts', parent: 'elsewhere' },
  ]

  expect(orderByReferences(tables, references).map(({ name }) => name)).toEqual(['merchants', 'wallets', 'payouts'])
  const cycle = [...references, { child: 'merchants', parent: 'payouts' }]
  expect(() => orderByReferences(tables, cycle)).toThrow('the foreign keys of payouts, wallets, merchants form a cycle')
})

test('the batches of a copy have thousands of rows if the rows are small, and one row if the rows are very large', () => {
  const rowsOf = (count: number, text: string) => Array.from({ length: count }, () => [text, null])

  expect(nextBatchSize([])).toBe(100)
  expect(nextBatchSize(rowsOf(100, 'abc'))).toBe(1_000)
  expect(nextBatchSize(rowsOf(1_000, 'abc'))).toBe(2_000)
  expect(nextBatchSize(rowsOf(100, 'a'.repeat(100_000)))).toBe(5)
  expect(nextBatchSize(rowsOf(1, 'a'.repeat(5_000_000)))).toBe(1)
})
