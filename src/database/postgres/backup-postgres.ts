import { existsSync, linkSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type pg from 'pg'
import { createPrivateFile, fsyncPath } from '../private-file.ts'
import { requireToolVersion, runTool, withConnectionString } from './client-tools.ts'
import type { ServerTarget } from './connection-url.ts'
import { rowCounter } from './copy-row-counter.ts'

/** Lets a transaction see the rows of every merchant, for as long as a large database takes. */
const wholeDatabaseSettings = `set local app.every_merchant = 'on'; set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0`

/**
 * Copies one snapshot of a database by `pg_dump`, in its custom format, under a name of its own until it is read through, on disk,
 * and has the rows of that snapshot.
 *
 * Row-level security binds the owner of the tables as well, so `pg_dump` runs as an operator's view over all merchants.
 *
 * @param client a connection of its own to the server at `place`, which is opened and closed here
 * @throws Error where the target exists, `pg_dump` is missing, older than the server or fails, or the copy lacks something
 */
export async function backUpPostgres(client: pg.Client, place: ServerTarget, target: string): Promise<void> {
  if (existsSync(target)) throw new Error(`${target} exists already: a backup never replaces a file`)
  const partial = `${target}.${process.pid}.partial`
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query('begin isolation level repeatable read read only')
    await client.query(wholeDatabaseSettings)
    const { rows } = await client.query(
      `select pg_export_snapshot() as snapshot, current_setting('server_version_num')::int as number`,
    )
    const [{ snapshot, number }] = rows as [{ snapshot: string; number: number }]
    await requireAllRowsVisible(client)
    await requireToolVersion('pg_dump', number)
    await requireToolVersion('pg_restore', number)
    createPrivateFile(partial)
    await withConnectionString(place, (connection) =>
      runTool('pg_dump', [...dumpOptions({ snapshot, partial }), `--dbname=${connection}`]),
    )
    await requireRowCounts(partial, await countRows(client))
    fsyncPath(partial)
    // A link, because unlike a new name it never replaces what another backup has put there meanwhile.
    linkSync(partial, target)
  } finally {
    rmSync(partial, { force: true })
    await client.end().catch(() => {})
  }
  fsyncPath(dirname(resolve(target)))
}

/** Holds that policies hide no row from an operator's view: it would be missed by `pg_dump`, and by whoever counts rows here. */
async function requireAllRowsVisible(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname as name from pg_class c
      where relnamespace = current_schema()::regnamespace and relkind = 'r' and row_security_active(c.oid) and (
        not exists (select from pg_policy where polrelid = c.oid and polpermissive and polcmd in ('*', 'r')
          and pg_get_expr(polqual, polrelid) like '%app.every_merchant%')
        or exists (select from pg_policy where polrelid = c.oid and not polpermissive
          and pg_get_expr(polqual, polrelid) not like '%app.customer_id%')) order by 1`,
  )
  if (rows.length === 0) return
  const names = rows.map(({ name }) => name).join(', ')
  throw new Error(
    `Row-level security may hide rows of ${names}, so nothing was copied: \`doctor\` says how the policies differ.`,
  )
}

function dumpOptions({ snapshot, partial }: { snapshot: string; partial: string }): string[] {
  return ['--format=custom', '--enable-row-security', `--snapshot=${snapshot}`, `--file=${partial}`, '--no-password']
}

type RowCounts = ReadonlyMap<string, number>

/** How many rows each table has in the snapshot, by its name as a copy has it. */
async function countRows(client: pg.Client): Promise<RowCounts> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', current_schema(), relname) as name from pg_class c
      where relnamespace = current_schema()::regnamespace and relkind = 'r' and not exists
        (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')`,
  )
  const sizes = new Map<string, number>()
  for (const { name } of tables) {
    const { rows } = await client.query<{ count: string }>(`select count(*) from ${name}`)
    sizes.set(name, Number(rows[0]?.count))
  }
  return sizes
}

/** Reads the whole copy as a restore would, and counts what it has of each table. */
async function requireRowCounts(copy: string, expected: RowCounts): Promise<void> {
  const counter = rowCounter()
  await runTool('pg_restore', ['--data-only', '--file=-', copy], counter.read)
  const found = counter.rows()
  const wrong = [...expected].filter(([table, count]) => found.get(table) !== count)
  if (wrong.length === 0) return
  const described = wrong
    .slice(0, 3)
    .map(([table, count]) => `${table} has ${found.get(table) ?? 'no'} of ${count} rows`)
  throw new Error(`The copy does not have the rows of the database, and was removed: ${described.join('; ')}`)
}
