import type Sqlite from 'better-sqlite3'
import type { CopiedTable, TableReference } from '../copy/copied-tables.ts'
import { isNumeric } from '../copy/copied-tables.ts'
import type { CopiedRow, CopyMarker, CopySide, RowKey } from '../copy/copy-side.ts'
import { nextBatchSize } from '../copy/copy-side.ts'
import { lockTimeoutMs, openConnection } from './sqlite-connection.ts'
import { fenceEpoch, unfenceEpoch } from './writer-epoch.ts'

export function sqliteCopySide(path: string): CopySide {
  const { raw } = openConnection(path, { isReadOnly: false })
  raw.pragma(`busy_timeout = ${lockTimeoutMs}`)
  // The source database has checked the foreign keys, and the audit of the copy checks them again.
  raw.pragma('foreign_keys = OFF')
  const inTransaction = (run: () => void) => raw.transaction(run).immediate()
  const inserts = new Map<string, Sqlite.Statement>()

  function prepareInsert({ name, columns }: CopiedTable): Sqlite.Statement {
    const prepared =
      inserts.get(name) ??
      raw.prepare(
        `insert into ${quote(name)} (${listOf(columns.map((column) => column.name))})
          values (${columns.map(() => '?').join(', ')})`,
      )
    inserts.set(name, prepared)
    return prepared
  }

  return {
    name: `sqlite:${path}`,
    readMarker: async () => readMarker(raw),
    fence: async (marker, clearedTables = []) =>
      inTransaction(() => {
        fenceEpoch(raw)
        for (const table of clearedTables) raw.prepare(`delete from ${quote(table)}`).run()
        storeMarker(raw, marker)
      }),
    mark: async (marker) => inTransaction(() => storeMarker(raw, marker)),
    unfence: async (marker) =>
      inTransaction(() => {
        unfenceEpoch(raw)
        storeMarker(raw, marker)
      }),
    references: async () => raw.prepare(referencesSql).all() as TableReference[],
    keyOf: async ({ name }) =>
      raw.prepare('select name from pragma_table_info(?) where pk > 0 order by pk').pluck().all(name) as string[],
    countRows: async ({ name }) =>
      raw
        .prepare(`select count(*) from ${quote(name)}`)
        .pluck()
        .get() as number,
    hasRows: async ({ name }) => raw.prepare(`select 1 from ${quote(name)} limit 1`).get() !== undefined,
    read: (table, key, after) => readRows(raw, table, key, after),
    insert: async (table, rows, progress) => {
      const insert = prepareInsert(table)
      const numeric = table.columns.map(isNumeric)
      inTransaction(() => {
        for (const row of rows)
          insert.run(row.map((value, i) => (value !== null && numeric[i] ? BigInt(value) : value)))
        raw.prepare('update database_copies set progress = ?').run(JSON.stringify(progress))
      })
    },
    beginLoad: async () => {},
    endLoad: async () => {},
    close: async () => void raw.close(),
  }
}

async function* readRows(
  raw: Sqlite.Database,
  { name, columns }: CopiedTable,
  key: readonly string[],
  after: RowKey | null,
): AsyncGenerator<CopiedRow[]> {
  const select = `select ${listOf(columns.map((column) => column.name))} from ${quote(name)}`
  const order = `order by ${listOf(key)} limit ?`
  const isAfter = `(${listOf(key)}) > (${key.map(() => '?').join(', ')})`
  const first = raw.prepare(`${select} ${order}`).raw().safeIntegers()
  const next = raw.prepare(`${select} where ${isAfter} ${order}`).raw().safeIntegers()
  const keyColumns = key.map((each) => columns.findIndex((column) => column.name === each))
  let bound = after?.map((value, i) => bindKeyValue(columns, keyColumns[i] as number, value)) ?? null
  let limit = nextBatchSize([])
  for (;;) {
    const batch = (bound === null ? first.all(limit) : next.all(...bound, limit)) as unknown[][]
    const last = batch.at(-1)
    if (last === undefined) return
    bound = keyColumns.map((column) => last[column])
    const rows = batch.map((row) => row.map((value) => (value === null ? null : String(value))))
    limit = nextBatchSize(rows)
    yield rows
  }
}

function bindKeyValue(columns: CopiedTable['columns'], index: number, value: string): unknown {
  const column = columns[index]
  return column !== undefined && isNumeric(column) ? BigInt(value) : value
}

const referencesSql = `select s.name as child, k."table" as parent
  from sqlite_schema s join pragma_foreign_key_list(s.name) k where s.type = 'table'`

type StoredMarker = Omit<CopyMarker, 'progress'> & { readonly progress: string | null }

function readMarker(raw: Sqlite.Database): CopyMarker | null {
  // An earlier version had no table `database_copies`.
  if (raw.prepare(`select 1 from sqlite_schema where name = 'database_copies'`).get() === undefined) return null
  const stored = raw.prepare(markerSql).get() as StoredMarker | undefined
  return stored === undefined
    ? null
    : { ...stored, progress: stored.progress === null ? null : JSON.parse(stored.progress) }
}

const markerSql = `select copy_id as copyId, role, other, started_at as startedAt, completed_at as completedAt, progress
  from database_copies`

function storeMarker(raw: Sqlite.Database, marker: CopyMarker | null): void {
  raw.prepare('delete from database_copies').run()
  if (marker === null) return
  raw
    .prepare('insert into database_copies values (1, @copyId, @role, @other, @startedAt, @completedAt, @progress)')
    .run({ ...marker, progress: marker.progress === null ? null : JSON.stringify(marker.progress) })
}

function listOf(names: readonly string[]): string {
  return names.map(quote).join(', ')
}

function quote(name: string): string {
  return `"${name}"`
}
