import { dirname } from 'node:path'
import Sqlite from 'better-sqlite3'
import type { ColumnKind } from '../columns.ts'
import type { Query } from '../query.ts'
import { statementCache } from '../query-caches.ts'
import type { TableName } from '../tables.ts'
import { camelCase, columnKindsByTable } from '../tables.ts'
import type { SqliteStatement } from './compile-for-sqlite.ts'
import { compileForSqlite } from './compile-for-sqlite.ts'

export type ChangedTable = TableName | 'anything'

export type SqliteConnection = {
  readonly raw: Sqlite.Database
  readonly run: (query: Query, params: object) => unknown[]
  readonly changedTableOf: (query: Query) => ChangedTable | null
}

export const lockTimeoutMs = 5_000

/** A prepared statement uses about 15 KB. */
const maxPreparedProjections = 500

/**
 * V8 does not count the memory that SQLite allocates for a statement, so each cached statement with a projection has an
 * unused buffer. Without the buffers, garbage collection would start only after tens of thousands of evicted
 * statements.
 */
const projectionMemoryBytes = 32 * 1024

type PreparedStatement = {
  readonly statement: Sqlite.Statement
  readonly memoryWeight: ArrayBuffer | null
  readonly bind: (params: Record<string, unknown>) => unknown[]
  readonly readRows: (rows: unknown[][]) => unknown[]
  readonly changedTable: ChangedTable | null
}

/**
 * Sets `synchronous=FULL`, because the default of better-sqlite3 for WAL files is NORMAL, which loses acknowledged
 * commits in a power failure.
 *
 * @param isInspection true for a connection that changes nothing. Unlike a read-only connection, an inspection
 *   connection removes the WAL that it created, if no other process has the file open.
 */
export function openConnection(
  path: string,
  { isReadOnly, isInspection = false }: { isReadOnly: boolean; isInspection?: boolean },
): SqliteConnection {
  const raw = new Sqlite(path, { readonly: isReadOnly, fileMustExist: isInspection, timeout: lockTimeoutMs })
  if (isInspection) {
    raw.pragma('query_only = ON')
    raw.pragma('synchronous = FULL')
  } else if (!isReadOnly) {
    enableWal(raw)
    raw.pragma('synchronous = FULL')
    if (raw.pragma('synchronous', { simple: true }) !== 2) throw new Error(`${path}: synchronous=FULL was not accepted`)
    // A checkpoint costs two syncs.
    raw.pragma('wal_autocheckpoint = 4000')
    // Shrinks a WAL that has grown during a long read.
    raw.pragma('journal_size_limit = 67108864')
  }
  raw.pragma('foreign_keys = ON')
  // Without `recursive_triggers`, REPLACE would delete rows of append-only tables without running their triggers.
  raw.pragma('recursive_triggers = ON')
  useMemory(raw, 'requests')

  const statements = statementCache<PreparedStatement>(maxPreparedProjections)
  const findOrPrepare = (query: Query) => {
    const cached = statements.get(query)
    if (cached) return cached
    const prepared = prepareStatement(raw, query)
    statements.set(query, prepared)
    return prepared
  }
  return {
    raw,
    run: (query, params) => {
      const { statement, bind, readRows } = findOrPrepare(query)
      const values = bind(params as Record<string, unknown>)
      if (statement.reader) return readRows(statement.all(values) as unknown[][])
      statement.run(values)
      return []
    },
    changedTableOf: (query) => findOrPrepare(query).changedTable,
  }
}

/**
 * A scan of a whole table may sort more rows than fit in memory, so SQLite writes temporary files. The temporary files
 * are in the database's folder, because in a container no other folder may be writable. SQLite sorts with as much
 * memory as `cache_size` allows.
 */
export function useMemory(raw: Sqlite.Database, use: 'requests' | 'scans'): void {
  if (use === 'scans') raw.pragma(`temp_store_directory = '${dirname(raw.name).replaceAll("'", "''")}'`)
  raw.pragma(`temp_store = ${use === 'scans' ? 'FILE' : 'MEMORY'}`)
  raw.pragma(`cache_size = ${use === 'scans' ? -16_384 : -65_536}`)
}

/**
 * Retries, because SQLite ignores the busy timeout while another process changes the journal mode of the same new file.
 */
function enableWal(raw: Sqlite.Database): void {
  const unchanged = new Int32Array(new SharedArrayBuffer(4))
  for (let retry = 0; ; retry++) {
    try {
      raw.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'SQLITE_BUSY' || retry === 500) throw error
      Atomics.wait(unchanged, 0, 0, 10)
    }
  }
}

function prepareStatement(raw: Sqlite.Database, query: Query): PreparedStatement {
  const { sql, parameters } = compileForSqlite(query.node)
  const statement = raw.prepare(sql)
  const columns = statement.reader ? statement.columns() : []
  // A JavaScript number cannot represent every amount. Numbers are faster than bigints, so rows without amounts use
  // numbers.
  const hasBigints = columns.some(({ table, column }) => bigintKinds.includes(columnKindOf(table, column)))
  statement.safeIntegers(hasBigints)
  if (statement.reader) statement.raw(true)
  return {
    statement,
    memoryWeight: query.projection ? new ArrayBuffer(projectionMemoryBytes) : null,
    bind: createBinder(parameters),
    readRows: query.projection
      ? createProjectionDecoder(columns, hasBigints)
      : decodeEach(createRowDecoder(columns, hasBigints)),
    changedTable: statement.readonly ? null : changedTableIn(sql),
  }
}

/** A statement changes only one table, because triggers change no rows and foreign keys do not cascade. */
function changedTableIn(sql: string): ChangedTable {
  const [, name] = /^(?:insert into|update|delete from) "(\w+)"/.exec(sql) ?? []
  return name === undefined ? 'anything' : (camelCase(name) as TableName)
}

const bigintKinds: readonly (ColumnKind | null)[] = ['amount', null]

/** Only parameter names of our own queries become part of the generated code. */
function createBinder(parameters: SqliteStatement['parameters']): PreparedStatement['bind'] {
  const constants = parameters.map(({ value }) => encodeParameter(null, value))
  const values = parameters.map(({ name }, i) =>
    name === null ? `constants[${i}]` : `bound('${name}', params.${name})`,
  )
  return new Function('bound', 'constants', `return (params) => [${values.join(', ')}]`)(encodeParameter, constants)
}

function encodeParameter(name: string | null, value: unknown): unknown {
  if (value === undefined) throw new Error(`the query parameter ${name} has no value`)
  // better-sqlite3 binds a number as floating point, and SQL divides floating-point numbers without rounding.
  if (typeof value === 'number') return BigInt(value)
  if (typeof value === 'object' && value !== null) return JSON.stringify(value)
  return value
}

function createProjectionDecoder(
  columns: Sqlite.ColumnDefinition[],
  hasBigints: boolean,
): PreparedStatement['readRows'] {
  const decoded = columns.flatMap(({ table, column }, index) => {
    const kind = columnKindOf(table, column)
    if (kind === 'integer' && hasBigints) return [{ index, decode: Number as (value: unknown) => unknown }]
    return kind === 'json' ? [{ index, decode: JSON.parse as (value: unknown) => unknown }] : []
  })
  if (decoded.length === 0) return (rows) => rows
  return (rows) => {
    for (const row of rows) {
      for (const { index, decode } of decoded) if (row[index] !== null) row[index] = decode(row[index])
    }
    return rows
  }
}

function decodeEach(toRow: (values: unknown[]) => unknown): PreparedStatement['readRows'] {
  return (rows: unknown[]) => {
    for (let i = 0; i < rows.length; i++) rows[i] = toRow(rows[i] as unknown[])
    return rows
  }
}

/** Generated code is faster than a loop. Only column names of our own queries become part of the generated code. */
function createRowDecoder(columns: Sqlite.ColumnDefinition[], hasBigints: boolean): (values: unknown[]) => unknown {
  const fields = columns.map(({ name, table, column }, i) => {
    const value = `values[${i}]`
    const kind = columnKindOf(table, column)
    const decoded =
      kind === 'integer' && hasBigints ? `Number(${value})` : kind === 'json' ? `JSON.parse(${value})` : null
    return `${camelCase(name)}: ${decoded ? `${value} === null ? null : ${decoded}` : value}`
  })
  return new Function('values', `return { ${fields.join(', ')} }`) as (values: unknown[]) => unknown
}

function columnKindOf(table: string | null, column: string | null): ColumnKind | null {
  return (table !== null && column !== null && columnKindsByTable[table]?.[column]) || null
}
