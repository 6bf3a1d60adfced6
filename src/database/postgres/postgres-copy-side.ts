import type pg from 'pg'
import type { QueryArrayConfig } from 'pg'
import type { ColumnKind } from '../columns.ts'
import type { CopiedColumn, CopiedTable, TableReference } from '../copy/copied-tables.ts'
import { copiedTables } from '../copy/copied-tables.ts'
import type { CopiedRow, CopiedValue, CopyMarker, CopyProgress, CopySide, RowKey } from '../copy/copy-side.ts'
import { nextBatchSize } from '../copy/copy-side.ts'
import { parseConnectionUrl } from './connection-url.ts'
import { createDeferredObjects, dropDeferredObjects } from './deferred-objects.ts'
import { followPrimary } from './failover.ts'
import { isLockTimeout, isRetryableConflict } from './postgres-errors.ts'
import { findOwnRelation } from './restore-postgres.ts'
import { requireAllRowsVisible } from './row-security.ts'
import { isoTime } from './values.ts'
import { exemptFromFence, fenceTables, unfenceTables } from './write-fence.ts'

const copyLockKey = 7_230_417_057

/**
 * The write fence waits for running transactions, and new transactions wait for the write fence. Therefore an attempt
 * to create the write fence ends after `fenceLockTimeoutMs`, and is repeated.
 */
const fenceLockTimeoutMs = 2_000
const maxFenceAttempts = 30

const sqlTypes: Readonly<Record<ColumnKind, string>> = {
  text: 'text',
  uuid: 'uuid',
  timestamp: 'timestamptz',
  integer: 'integer',
  amount: 'bigint',
  json: 'json',
}

/** @throws Error when another process copies to or from the database */
export async function postgresCopySide(url: string): Promise<CopySide> {
  const { servers } = parseConnectionUrl(url)
  const primary = followPrimary(servers)
  await primary.find()
  const client = primary.createClient({ connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  await client.connect()
  const inserts = new Map<string, string>()

  async function inTransaction(run: () => Promise<void>): Promise<void> {
    await client.query('begin')
    try {
      await run()
      await client.query('commit')
    } catch (error) {
      await client.query('rollback').catch(() => {})
      throw error
    }
  }

  async function fence(marker: CopyMarker, clearedTables: readonly string[] = []): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await inTransaction(async () => {
          await client.query(`set local lock_timeout = ${fenceLockTimeoutMs}`)
          for (const table of clearedTables) await client.query(`delete from ${client.escapeIdentifier(table)}`)
          await fenceTables(client, tableNames)
          await storeMarker(client, marker)
        })
      } catch (error) {
        if (attempt === maxFenceAttempts || !(isLockTimeout(error) || isRetryableConflict(error))) throw error
      }
    }
  }

  try {
    await prepareSession(client)
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
  return {
    name: `postgres://${servers.map(({ name }) => name).join(', ')}`,
    readMarker: () => readMarker(client),
    fence,
    mark: (marker) => inTransaction(() => storeMarker(client, marker)),
    unfence: (marker) =>
      inTransaction(async () => {
        await unfenceTables(client, tableNames)
        await storeMarker(client, marker)
      }),
    references: async () => (await client.query<TableReference>(referencesSql)).rows,
    keyOf: async ({ name }) => (await client.query<{ name: string }>(keySql, [name])).rows.map((row) => row.name),
    countRows: async ({ name }) => {
      const { rows } = await client.query(`select count(*) as count from ${client.escapeIdentifier(name)}`)
      return Number(rows[0].count)
    },
    hasRows: async ({ name }) => {
      const { rows } = await client.query(`select 1 from ${client.escapeIdentifier(name)} limit 1`)
      return rows.length > 0
    },
    read: (table, key, after) => readRows(client, table, key, after),
    insert: async (table, rows, progress) => {
      const text = inserts.get(table.name) ?? insertSql(client, table)
      inserts.set(table.name, text)
      const values = table.columns.map(({ kind }, i) => rows.map((row) => encodeValue(kind, row[i] ?? null)))
      await inTransaction(async () => {
        // The commits of copied rows do not wait for the disk. The commit that ends the copy waits for the disk, and
        // makes all earlier commits durable.
        await client.query('set local synchronous_commit = off')
        await client.query({ name: `copy ${table.name}`, text, values })
        await client.query('update database_copies set progress = $1', [JSON.stringify(progress)])
      })
    },
    beginLoad: () => inTransaction(() => dropDeferredObjects(client)),
    endLoad: async (onProgress) => {
      await createDeferredObjects(client, onProgress)
      await client.query('analyze')
    },
    close: () => client.end(),
  }
}

/** @throws Error when the database has tables that this service did not create */
export async function requireNewOrOwnPostgres(url: string): Promise<void> {
  const { servers } = parseConnectionUrl(url)
  const primary = followPrimary(servers)
  await primary.find()
  const client = primary.createClient({ connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    const { rows } = await client.query(`select to_regclass('migrations') as name`)
    const relation = rows[0].name === null ? await findOwnRelation(client) : null
    if (relation === null) return
    throw new Error(`${client.database} is not empty: it has ${relation}, which this service did not create.`)
  } finally {
    await client.end().catch(() => {})
  }
}

const tableNames = copiedTables.map(({ name }) => name)

async function prepareSession(client: pg.Client): Promise<void> {
  const settings = {
    'app.every_merchant': 'on',
    timezone: 'UTC',
    datestyle: 'ISO',
    statement_timeout: '0',
    lock_timeout: '0',
    idle_in_transaction_session_timeout: '0',
    synchronous_commit: 'on',
  }
  for (const [name, value] of Object.entries(settings)) {
    await client.query('select set_config($1, $2, false)', [name, value])
  }
  await exemptFromFence(client)
  await requireAllRowsVisible(client)
  const { rows } = await client.query('select pg_try_advisory_lock($1) as "isAlone"', [copyLockKey])
  if (!rows[0].isAlone) throw new Error(`Another process copies to or from ${client.database} now.`)
}

function insertSql(client: pg.Client, { name, columns }: CopiedTable): string {
  const names = columns.map((column) => client.escapeIdentifier(column.name)).join(', ')
  const arrays = columns.map(({ kind }, i) => `$${i + 1}::${sqlTypes[kind]}[]`).join(', ')
  return `insert into ${client.escapeIdentifier(name)} (${names}) select * from unnest(${arrays})`
}

/**
 * Uses a cursor, so that the server sorts at most once. While the caller uses a batch, the server already sends the
 * next batch.
 */
async function* readRows(
  client: pg.Client,
  { name, columns }: CopiedTable,
  key: readonly string[],
  after: RowKey | null,
): AsyncGenerator<CopiedRow[]> {
  const kindOf = (column: string) => columns.find((each) => each.name === column)?.kind ?? 'text'
  const keySqlOf = (column: string) => {
    const isText = kindOf(column) === 'text'
    return `${client.escapeIdentifier(column)}${isText ? ' collate "C"' : ''}`
  }
  const keys = key.map(keySqlOf).join(', ')
  const bound = key.map((column, i) => `${literal(client, kindOf(column), after?.[i] ?? null)}`).join(', ')
  const condition = after === null ? '' : `where (${keys}) > (${bound})`
  const select = columns.map((column) => client.escapeIdentifier(column.name)).join(', ')
  await client.query('begin isolation level repeatable read read only')
  try {
    await client.query(
      `declare copied no scroll cursor for select ${select} from ${client.escapeIdentifier(name)} ${condition} order by ${keys}`,
    )
    let next = fetchRows(client, columns, nextBatchSize([]))
    for (;;) {
      const rows = await next
      if (rows.length === 0) return
      next = fetchRows(client, columns, nextBatchSize(rows))
      next.catch(() => {})
      yield rows
    }
  } finally {
    await client.query('rollback').catch(() => {})
  }
}

async function fetchRows(client: pg.Client, columns: readonly CopiedColumn[], limit: number): Promise<CopiedRow[]> {
  const query: QueryArrayConfig = { text: `fetch ${limit} from copied`, rowMode: 'array', types: rawTypes }
  const { rows } = await client.query<CopiedValue[]>(query)
  for (const [i, { kind }] of columns.entries()) {
    if (kind !== 'timestamp') continue
    for (const row of rows) row[i] = row[i] == null ? null : exactTime(row[i])
  }
  return rows
}

const rawTypes = { getTypeParser: () => (text: string) => text } as unknown as NonNullable<QueryArrayConfig['types']>

/** Unlike `isoTime`, keeps digits beyond milliseconds, so that the comparison of databases detects different digits. */
function exactTime(text: string): string {
  const [, beyond = ''] = /\.\d{3}(\d+)\+00/.exec(text) ?? []
  return beyond === '' ? isoTime(text) : isoTime(text).replace('Z', `${beyond}Z`)
}

function encodeValue(kind: ColumnKind, value: CopiedValue): CopiedValue {
  return kind === 'timestamp' && value?.startsWith('0000-') ? `0001${value.slice(4)} BC` : value
}

function literal(client: pg.Client, kind: ColumnKind, value: CopiedValue): string {
  return `${client.escapeLiteral(encodeValue(kind, value) ?? '')}::${sqlTypes[kind]}`
}

const referencesSql = `select c.relname as child, p.relname as parent from pg_constraint
  join pg_class c on c.oid = conrelid join pg_class p on p.oid = confrelid
  where contype = 'f' and connamespace = current_schema()::regnamespace`

const keySql = `select attname as name from pg_constraint cross join unnest(conkey) with ordinality as k(number, place)
  join pg_attribute on attrelid = conrelid and attnum = number
  where contype = 'p' and conrelid = to_regclass(quote_ident($1)) order by place`

async function readMarker(client: pg.Client): Promise<CopyMarker | null> {
  // Earlier versions have no table `database_copies`.
  const { rows: tables } = await client.query(`select to_regclass('database_copies') as name`)
  if (tables[0].name === null) return null
  const { rows } = await client.query({
    text: `select copy_id as "copyId", role, other, started_at as "startedAt", completed_at as "completedAt",
      progress::text as progress from database_copies`,
    types: rawTypes,
  })
  const [stored] = rows as (Omit<CopyMarker, 'progress'> & { readonly progress: string | null })[]
  if (stored === undefined) return null
  const { startedAt, completedAt, progress } = stored
  return {
    ...stored,
    startedAt: isoTime(startedAt),
    completedAt: completedAt === null ? null : isoTime(completedAt),
    progress: progress === null ? null : (JSON.parse(progress) as CopyProgress),
  }
}

async function storeMarker(client: pg.Client, marker: CopyMarker | null): Promise<void> {
  await client.query('delete from database_copies')
  if (marker === null) return
  const { copyId, role, other, startedAt, completedAt, progress } = marker
  await client.query('insert into database_copies values (1, $1, $2, $3, $4, $5, $6)', [
    ...[copyId, role, other, startedAt, completedAt],
    progress === null ? null : JSON.stringify(progress),
  ])
}
