import type pg from 'pg'
import { createPrivateFile, startNewFile } from '../private-file.ts'
import { requireToolVersion, runTool, withConnectionString } from './client-tools.ts'
import type { ServerTarget } from './connection-url.ts'

const wholeDatabaseSettings = `set local app.every_merchant = 'on'; set local statement_timeout = 0;
  set local idle_in_transaction_session_timeout = 0`

/**
 * Writes a dump in the custom format of `pg_dump`. The dump gets its final name after it is synced, and after the row
 * counts of all tables match the snapshot. Row-level security also applies to the owner of the tables, so `pg_dump`
 * needs access to all merchants.
 *
 * @param client a new client for `server`, which this function connects and closes
 * @throws Error when the target exists; when `pg_dump` is missing, older than the server, or fails; or when the dump is
 * incomplete
 */
export async function backUpPostgres(client: pg.Client, server: ServerTarget, target: string): Promise<void> {
  const { path, publish, remove } = startNewFile(target)
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
    createPrivateFile(path)
    const options = [
      '--format=custom',
      '--enable-row-security',
      `--snapshot=${snapshot}`,
      `--file=${path}`,
      '--no-password',
    ]
    await withConnectionString(server, (connection) => runTool('pg_dump', [...options, `--dbname=${connection}`]))
    await requireRowCounts(path, await countRows(client))
    publish()
  } finally {
    remove()
    await client.end().catch(() => {})
  }
}

/**
 * @throws Error when a policy may hide rows from `pg_dump` and `countRows`, although they have access to all merchants
 */
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
    `Row-level security may hide rows of ${names}, so nothing was copied: run \`doctor\` to see how the policies differ.`,
  )
}

type RowCounts = ReadonlyMap<string, number>

async function countRows(client: pg.Client): Promise<RowCounts> {
  const { rows: tables } = await client.query<{ name: string }>(
    `select format('%I.%I', current_schema(), relname) as name from pg_class c
      where relnamespace = current_schema()::regnamespace and relkind = 'r' and not exists
        (select from pg_depend where classid = 'pg_class'::regclass and objid = c.oid and deptype = 'e')`,
  )
  const counts = new Map<string, number>()
  for (const { name } of tables) {
    const { rows } = await client.query<{ count: string }>(`select count(*) from ${name}`)
    counts.set(name, Number(rows[0]?.count))
  }
  return counts
}

async function requireRowCounts(dump: string, expected: RowCounts): Promise<void> {
  const counter = rowCounter()
  await runTool('pg_restore', ['--data-only', '--file=-', dump], counter.read)
  const counts = counter.rows()
  const wrong = [...expected].filter(([table, count]) => counts.get(table) !== count)
  if (wrong.length === 0) return
  const described = wrong
    .slice(0, 3)
    .map(([table, count]) => `${table} has ${counts.get(table) ?? 'no'} of ${count} rows`)
  throw new Error(`The copy does not have the rows of the database, and was removed: ${described.join('; ')}`)
}

type RowCounter = { readonly read: (bytes: Buffer) => void; readonly rows: () => RowCounts }

const newline = 10
const copyLinePattern = /^COPY (.+?) (\(.*\) )?FROM stdin;$/

const maxLineBytes = 1024 * 1024

function rowCounter(): RowCounter {
  const rows = new Map<string, number>()
  let table: string | null = null
  let line = ''

  function endLine(text: string): void {
    if (table === null) {
      table = copyLinePattern.exec(text)?.[1] ?? null
      if (table !== null) rows.set(table, 0)
    } else if (text === '\\.') table = null
    else rows.set(table, (rows.get(table) ?? 0) + 1)
  }

  function appendToLine(part: Buffer): void {
    const maxLength = table === null ? maxLineBytes : 3
    if (line.length < maxLength) line += part.toString('latin1', 0, maxLength)
  }

  return {
    rows: () => rows,
    read: (bytes) => {
      let start = 0
      for (let end = bytes.indexOf(newline); end !== -1; end = bytes.indexOf(newline, start)) {
        appendToLine(bytes.subarray(start, end))
        endLine(line)
        line = ''
        start = end + 1
      }
      appendToLine(bytes.subarray(start))
    },
  }
}
