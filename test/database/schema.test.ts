import Sqlite from 'better-sqlite3'
import { expect, onTestFinished, test } from 'vitest'
import type { Column, ColumnKind } from '../../src/database/columns.ts'
import { tables } from '../../src/database/tables.ts'
import { openTestDatabase } from './open-test-database.ts'

/** Tables without a merchant: shared, or used to find the merchant. */
const tablesOfNoMerchant = [
  'merchants',
  'api_keys',
  'asset_codes',
  'asset_networks',
  'rates',
  'fees',
  'installation',
  'migrations',
  'payout_transfers',
  'rail_routes',
  'paused_rails',
  'rail_reports',
  'watched_addresses',
  'given_addresses',
  'chain_events',
  'merchant_clocks',
  'trusted_documents',
  'operator_actions',
  'operators',
  'database_copies',
]

const typeOfKind: Record<ColumnKind, string> = {
  text: 'TEXT',
  uuid: 'TEXT',
  timestamp: 'TEXT',
  json: 'TEXT',
  integer: 'INTEGER',
  amount: 'INTEGER',
}

type CatalogueColumn = { name: string; type: string; notnull: bigint; pk: bigint; hidden: bigint }
type ForeignKey = { id: bigint; seq: bigint; table: string; from: string; to: string }

const storedGenerated = 3n

/** Returns the catalogue of a migrated file. */
async function readCatalogue() {
  const { path } = await openTestDatabase()
  const database = new Sqlite(path, { readonly: true })
  onTestFinished(() => void database.close())
  const all = <Row>(sql: string, ...values: unknown[]) =>
    database
      .prepare(sql)
      .safeIntegers()
      .all(...values) as Row[]

  const names = all<{ name: string; strict: bigint }>(
    `select name, strict from pragma_table_list where type = 'table' and name not like 'sqlite%' order by name`,
  )
  return names.map(({ name, strict }) => ({
    name,
    isStrict: strict === 1n,
    columns: all<CatalogueColumn>(`select name, type, "notnull", pk, hidden from pragma_table_xinfo(?)`, name),
    indexes: all<{ name: string }>(`select name from pragma_index_list(?)`, name).map((index) => ({
      name: index.name,
      columns: all<{ name: string }>(`select name from pragma_index_info(?) order by seqno`, index.name).map(
        (column) => column.name,
      ),
    })),
    foreignKeys: all<ForeignKey>(`select id, seq, "table", "from", "to" from pragma_foreign_key_list(?)`, name),
  }))
}

type Catalogue = Awaited<ReturnType<typeof readCatalogue>>
const isOfMerchant = ({ name }: Catalogue[number]) => !tablesOfNoMerchant.includes(name)

test('the catalogue has the tables and columns of tables.ts, with the same types and nullability', async () => {
  const catalogue = await readCatalogue()

  const actual = Object.fromEntries(
    catalogue
      .filter(({ name }) => name !== 'migrations')
      .map(({ name, columns }) => [
        name,
        columns.map(({ name, type, notnull, hidden }) => ({
          name,
          type,
          isNullable: notnull === 0n,
          isGenerated: hidden === storedGenerated,
        })),
      ]),
  )
  const declared = Object.fromEntries(
    Object.entries<Record<string, Column<unknown, boolean>>>(tables).map(([name, columns]) => [
      snakeCase(name),
      Object.entries(columns).map(([name, { kind, isNullable, isGenerated }]) => ({
        name: snakeCase(name),
        type: typeOfKind[kind],
        isNullable,
        isGenerated,
      })),
    ]),
  )
  expect(actual).toEqual(declared)
})

test('every table is STRICT', async () => {
  const catalogue = await readCatalogue()

  expect(catalogue.filter(({ isStrict }) => !isStrict)).toEqual([])
})

test('every table of a merchant has merchant_id first: in its columns, its key and its indexes', async () => {
  const catalogue = await readCatalogue()

  const wrong = catalogue.filter(isOfMerchant).flatMap(({ name, columns, indexes }) => {
    const [first] = columns
    const key = columns.find(({ pk }) => pk === 1n)
    const faults = [
      first?.name !== 'merchant_id' && `${name}: the first column is ${first?.name}`,
      key?.name !== 'merchant_id' && `${name}: the primary key begins with ${key?.name}`,
      ...indexes.map(({ name, columns }) => columns[0] !== 'merchant_id' && `${name} begins with ${columns[0]}`),
    ]
    return faults.filter(Boolean)
  })

  expect(wrong).toEqual([])
})

test('only the tables that this test lists have no merchant column', async () => {
  const catalogue = await readCatalogue()

  const keyedOtherwise = catalogue.filter(({ columns }) => columns[0]?.name !== 'merchant_id').map(({ name }) => name)
  expect(keyedOtherwise.toSorted()).toEqual(tablesOfNoMerchant.toSorted())
})

test('foreign keys stay within a merchant, and every merchant’s table references merchants', async () => {
  const catalogue = await readCatalogue()
  const ofMerchant = new Set(catalogue.filter(isOfMerchant).map(({ name }) => name))

  const leading = new Map<string, Set<string>>()
  const wrong: string[] = []
  for (const { name, foreignKeys } of catalogue.filter(isOfMerchant)) {
    leading.set(name, new Set(foreignKeys.filter(({ from }) => from === 'merchant_id').map(({ table }) => table)))
    for (const { seq, table, from, to } of foreignKeys) {
      if (!ofMerchant.has(table) || seq > 0n) continue
      if (from !== 'merchant_id' || to !== 'merchant_id') wrong.push(`${name} to ${table} by ${from} first`)
    }
  }
  const leadsToMerchants = (name: string): boolean =>
    [...(leading.get(name) ?? [])].some((table) => table === 'merchants' || leadsToMerchants(table))

  expect(wrong).toEqual([])
  expect([...ofMerchant].filter((name) => !leadsToMerchants(name))).toEqual([])
})

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
