import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { migrations } from '../../db/migrations/index.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { everyEngine } from '../support/app.ts'
import { runSql } from '../support/postgres-database.ts'
import { startEarlierDatabase } from './earlier-database.ts'

const open = (url: string) =>
  openDatabase({
    url,
    onFatal: (error) => {
      throw error
    },
  })

/** Creates a database at migration `count`, and a function that runs SQL in it. */
const startOf = (engine: (typeof everyEngine)[number], count: number) =>
  startEarlierDatabase(engine, migrations.slice(0, count), {})

async function checkAt(url: string) {
  const db = await open(url)
  try {
    return await db.checkSchema()
  } finally {
    await db.close()
  }
}

/** Changes a schema from another connection. */
async function changeSchema(url: string, sql: string): Promise<void> {
  if (!url.startsWith('sqlite:')) return void (await runSql(url, sql))
  const database = new Sqlite(url.replace(/^sqlite:/, ''))
  database.unsafeMode()
  database.exec(sql)
  database.close()
}

const equal = { differences: [], notices: [], unchecked: null }

/** Changes of a schema on both engines, and the reported difference. */
const changes: readonly [done: string, sql: string, said: string | RegExp][] = [
  [
    'an index is dropped',
    'drop index payouts_by_idempotency_key',
    'index payouts_by_idempotency_key on payouts is missing',
  ],
  [
    'a unique index is replaced by a non-unique index',
    'drop index payouts_by_idempotency_key; create index payouts_by_idempotency_key on payouts (merchant_id, idempotency_key)',
    /^index payouts_by_idempotency_key on payouts is changed: CREATE INDEX /i,
  ],
  [
    'a unique index is added',
    'create unique index one_payout on payouts (merchant_id)',
    'index one_payout on payouts is not part of the schema',
  ],
  [
    'an expression index is added',
    'create index computed on payouts (length(recipient_country))',
    'index computed on payouts is not part of the schema',
  ],
  ['a table is dropped', 'drop table seals', 'table seals is missing'],
  ['a column is added', 'alter table seals add column more text', 'column seals.more is not part of the schema'],
  ['a column is dropped', 'alter table seals drop column prints', 'column seals.prints is missing'],
  [
    'a table of another application refers to ours',
    'create table bookmarks (code text references asset_codes (code))',
    /^(constraint|foreign key) .* on bookmarks is not part of the schema$/,
  ],
]

const changesOf: Record<'sqlite' | 'postgres', typeof changes> = {
  sqlite: [
    ...changes,
    ['a trigger is dropped', 'drop trigger transfers_no_delete', 'trigger transfers_no_delete on transfers is missing'],
    [
      'a trigger is added',
      `create trigger nothing_more before insert on payouts begin select raise(abort, 'no'); end`,
      'trigger nothing_more on payouts is not part of the schema',
    ],
    [
      'a trigger is replaced',
      'drop trigger transfers_no_delete; create trigger transfers_no_delete before delete on transfers begin select 1; end',
      /^trigger transfers_no_delete on transfers is changed: CREATE TRIGGER/,
    ],
    [
      'a check is removed',
      `pragma writable_schema = on; update sqlite_schema set sql = replace(sql, 'check (number > 0)', '') where name = 'seals';
        pragma writable_schema = reset`,
      /^table seals is changed: CREATE TABLE/,
    ],
  ],
  postgres: [
    ...changes,
    [
      'a trigger is dropped',
      'drop trigger transfers_no_delete on transfers',
      'trigger transfers_no_delete on transfers is missing',
    ],
    [
      'a trigger is added',
      `create function nothing_more() returns trigger language plpgsql as $$ begin return null; end $$;
        create trigger nothing_more before insert on payouts for each row execute function nothing_more()`,
      'trigger nothing_more on payouts is not part of the schema',
    ],
    [
      'triggers are disabled',
      'alter table seals disable trigger seals_no_delete',
      /^trigger seals_no_delete on seals is changed: CREATE TRIGGER .* \(switched off\)$/,
    ],
    [
      'the trigger function is replaced by an empty one',
      'create or replace function forbid_change() returns trigger language plpgsql as $$ begin return old; end $$',
      /^function forbid_change\(\) is changed/,
    ],
    [
      'a foreign key is not enforced',
      'alter table seals disable trigger all; alter table seals enable trigger user',
      /^constraint seals_merchant on seals is changed: FOREIGN KEY .* \(switched off\)$/,
    ],
    [
      'a check is dropped',
      'alter table seals drop constraint seals_number_check',
      'constraint seals_number_check on seals is missing',
    ],
    [
      'a rule is added',
      'create rule no_seals as on insert to seals do instead nothing',
      'rule no_seals on seals is not part of the schema',
    ],
    [
      'a policy is added',
      'create policy everything on seals using (true)',
      'policy everything on seals is not part of the schema',
    ],
    [
      'a policy allows all rows',
      'alter policy one_merchant on seals using (true)',
      /^policy one_merchant on seals is changed: permissive \* to public using true/,
    ],
    [
      'row-level security is not forced',
      'alter table seals no force row level security',
      'row-level security state on seals is changed: enabled',
    ],
    ['a table is made unlogged', 'alter table seals set unlogged', 'table seals is changed: r u'],
  ],
}

describe.each(everyEngine)('the check of the schema on %s', (engine) => {
  test('finds no difference in a new database, and leaves no temporary schema behind', async () => {
    const { url } = await startOf(engine, migrations.length)

    expect(await checkAt(url)).toEqual(equal)
    if (engine === 'sqlite') return
    expect(await runSql(url, `select nspname from pg_namespace where nspname like 'payout_gateway_%'`)).toEqual([])
  })

  test('finds no difference in a database migrated from an earlier version', async () => {
    // Each version needs its own database; migration 28 rewrites the ledger.
    const forms = migrations.map((_, count) => count).filter((count) => [1, 27, 28].includes(count) || count % 6 === 5)
    for (const count of forms) {
      const { url } = await startOf(engine, count)
      expect([count, await checkAt(url)]).toEqual([count, equal])
    }
  })

  test.each(changesOf[engine])('reports that %s', async (_, sql, said) => {
    const { url } = await startOf(engine, migrations.length)
    await changeSchema(url, sql)

    const { differences } = await checkAt(url)

    expect(differences).toEqual([typeof said === 'string' ? said : expect.stringMatching(said)])
  })

  test('reports an index and a table that an operator added, as notices', async () => {
    const { url } = await startOf(engine, migrations.length)
    await changeSchema(
      url,
      'create index payouts_by_name on payouts (recipient_country); create table notes (text text)',
    )

    expect(await checkAt(url)).toEqual({
      differences: [],
      notices: ['index payouts_by_name on payouts was added', 'table notes was added'],
      unchecked: null,
    })
  })
})
