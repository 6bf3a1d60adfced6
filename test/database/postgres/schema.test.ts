import { expect, onTestFinished, test } from 'vitest'
import { openDatabase } from '../../../src/app/open-database.ts'
import { customerTables } from '../../../src/database/customer-tables.ts'
import { camelCase, columnKindsByTable } from '../../../src/database/tables.ts'
import { describePostgres } from '../../support/engines.ts'
import { corruptPostgresDatabase, newPostgresDatabase, runSql } from '../../support/postgres-database.ts'

/** Tables without a merchant: shared, or used to find the merchant. In a sharded database they are reference tables. */
const shared = [
  'api_keys',
  'asset_codes',
  'asset_networks',
  'chain_events',
  'database_copies',
  'fees',
  'given_addresses',
  'installation',
  'merchant_clocks',
  'merchants',
  'migrations',
  'operator_actions',
  'operators',
  'paused_rails',
  'payout_transfers',
  'rail_reports',
  'rail_routes',
  'rates',
  'trusted_documents',
  'watched_addresses',
]

const typeOfKind = {
  text: 'text',
  uuid: 'uuid',
  timestamp: 'timestamp with time zone',
  json: 'json',
  integer: 'integer',
  amount: 'bigint',
}

/** Returns rows of the catalogue of a migrated database. */
async function catalogue<Row extends object>(text: string): Promise<Row[]> {
  const { url, remove } = await newPostgresDatabase()
  corruptPostgresDatabase(url)
  onTestFinished(remove)
  return runSql<Row>(url, text)
}

type Key = { name: string; on: string; columns: string[]; target: string | null; targetColumns: string[] | null }

/** Selects every primary key, unique index (`target` null) and foreign key, with its columns in order. */
const keys = `
  select indexrelid::regclass::text as name, indrelid::regclass::text as "on", null as target, null::text[] as "targetColumns",
    array(select attname::text from unnest(indkey::int2[]) with ordinality k(n, i) join pg_attribute a
      on a.attrelid = indrelid and a.attnum = n order by i) as columns
    from pg_index join pg_class c on c.oid = indrelid where relnamespace = 'public'::regnamespace
  union all
  select conname, conrelid::regclass::text, confrelid::regclass::text,
    array(select attname::text from unnest(confkey) with ordinality k(n, i) join pg_attribute a
      on a.attrelid = confrelid and a.attnum = n order by i),
    array(select attname::text from unnest(conkey) with ordinality k(n, i) join pg_attribute a
      on a.attrelid = conrelid and a.attnum = n order by i)
    from pg_constraint where contype = 'f' and connamespace = 'public'::regnamespace`

describePostgres('the PostgreSQL catalogue', {}, () => {
  test('the PostgreSQL catalogue has the tables and columns of tables.ts, with the matching types', async () => {
    const columns = await catalogue<{ table_name: string; column_name: string; data_type: string }>(
      `select table_name, column_name, data_type from information_schema.columns where table_schema = 'public'`,
    )
    const typeOf = new Map(columns.map((row) => [`${row.table_name}.${row.column_name}`, row.data_type]))

    for (const [table, columns] of Object.entries(columnKindsByTable)) {
      for (const [column, kind] of Object.entries(columns)) {
        expect([`${table}.${column}`, typeOf.get(`${table}.${column}`)]).toEqual([
          `${table}.${column}`,
          typeOfKind[kind],
        ])
        typeOf.delete(`${table}.${column}`)
      }
    }
    // Not in tables.ts: the list of migrations, and the text by which a wallet refers to its account.
    expect([...typeOf.keys()].sort()).toEqual(['migrations.applied_at', 'migrations.name', 'wallets.id_text'])
  })

  test('every key of a merchant’s table on PostgreSQL has merchant_id first', async () => {
    const unscopedKeys = (await catalogue<Key>(keys)).filter(({ on, target }) => !shared.includes(on) && !target)

    expect(unscopedKeys.length).toBeGreaterThan(30)
    expect(unscopedKeys.filter(({ columns }) => columns[0] !== 'merchant_id')).toEqual([])
  })

  test('no foreign key on PostgreSQL can reference a row of another merchant', async () => {
    const foreignKeys = (await catalogue<Key>(keys)).filter(({ target }) => target !== null && !shared.includes(target))

    expect(foreignKeys.length).toBeGreaterThan(8)
    expect(foreignKeys.filter(({ targetColumns }) => targetColumns?.[0] !== 'merchant_id')).toEqual([])
    expect(foreignKeys.filter(({ on }) => shared.includes(on))).toEqual([])
  })

  test('PostgreSQL enforces row-level security on every table of a merchant, even for the table’s owner', async () => {
    const tables = await catalogue<{ name: string; isForced: boolean; policies: number }>(
      `select relname as name, relrowsecurity and relforcerowsecurity as "isForced",
        (select count(*)::int from pg_policy where polrelid = c.oid and polpermissive) as policies
        from pg_class c where relkind = 'r' and relnamespace = 'public'::regnamespace order by 1`,
    )

    const secured = tables.filter(({ isForced, policies }) => isForced && policies === 1).map(({ name }) => name)
    const open = tables.filter(({ isForced, policies }) => !isForced && policies === 0).map(({ name }) => name)
    expect(open).toEqual(shared)
    expect(secured).toHaveLength(tables.length - shared.length)
    // Restrictive policies: a table with a customer column admits that customer's rows, an undeclared table admits none.
    const heldTo = await catalogue<{ name: string; condition: string }>(
      `select polrelid::regclass::text as name, obj_description(oid, 'pg_policy') as condition
        from pg_policy where not polpermissive order by 1`,
    )
    const isDeclared = (name: string) => camelCase(name) in customerTables
    const owned = heldTo.filter(({ condition }) => condition.includes(' or ')).map(({ name }) => name)
    const closed = heldTo.filter(({ condition }) => !condition.includes(' or ')).map(({ name }) => name)
    expect(owned).toEqual([
      ...['customer_compliance_details', 'customer_search_keys', 'customers', 'payout_methods', 'payouts', 'wallets'],
    ])
    expect(closed).toEqual(secured.filter((name) => !isDeclared(name)))
    expect(closed).toContain('webhook_endpoints')
  })

  test('a PostgreSQL database of an older version gets the policies of the customer scope when it is opened', async () => {
    const { url, remove } = await newPostgresDatabase()
    corruptPostgresDatabase(url)
    onTestFinished(remove)
    const policies = `select polrelid::regclass::text as name, pg_get_expr(polqual, polrelid) as condition,
      obj_description(oid, 'pg_policy') as comment from pg_policy where polname = 'one_customer' order by 1`
    const expected = await runSql(url, policies)
    // The state that the previous version left: four tables without a comment.
    await runSql(url, 'drop policy one_customer on seals; drop policy one_customer on webhook_endpoints')
    await runSql(url, 'comment on policy one_customer on wallets is null')
    await runSql(url, 'create policy one_customer on accounts as restrictive using (false)')

    await (await openDatabase({ url, onFatal: () => {} })).close()

    expect(await runSql(url, policies)).toEqual(expected)
  })

  test('PostgreSQL rejects changes of every append-only table', async () => {
    const { url, remove } = await newPostgresDatabase()
    corruptPostgresDatabase(url)
    onTestFinished(remove)

    const columns = { rates: 'rate', fees: 'flat', transfers: 'kind', payout_events: 'cause' }
    for (const [table, column] of Object.entries(columns)) {
      for (const change of [
        `update ${table} set ${column} = null`,
        `delete from ${table}`,
        `truncate ${table} cascade`,
      ]) {
        await expect(runSql(url, change)).rejects.toThrow('are append-only')
      }
    }
    // A row that may be cancelled is cancelled once.
    await runSql(url, `insert into rates values ('USDC', 'NGN', '2030-01-01', 1, '1500', null)`)
    await runSql(url, `insert into fees values ('USDC', 'NGN', '2030-01-01', 1, 0, '1', null)`)
    for (const table of ['rates', 'fees']) {
      await runSql(url, `update ${table} set cancelled_at = now()`)
      await expect(runSql(url, `update ${table} set cancelled_at = null`)).rejects.toThrow('are append-only')
    }
  })
})
