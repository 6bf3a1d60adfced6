import Sqlite from 'better-sqlite3'
import type { ColumnKind } from '../columns.ts'
import type { Query } from '../query.ts'
import { statementCache } from '../statement-cache.ts'
import type { TableName } from '../tables.ts'
import { camelCase, columnKindsByTable } from '../tables.ts'
import type { SqliteStatement } from './compile-for-sqlite.ts'
import { compileForSqlite } from './compile-for-sqlite.ts'

/** The table whose rows are changed, or `anything` where its name can't be told. */
export type ChangedTable = TableName | 'anything'

/** One SQLite connection that runs queries by statements prepared once. */
export type SqliteConnection = {
  readonly raw: Sqlite.Database
  /** Runs a query and answers its rows; synchronous, as SQLite is. */
  readonly run: (query: Query, params: object) => unknown[]
  /** What the query changes; `null` where it only reads. */
  readonly changedTableOf: (query: Query) => ChangedTable | null
}

/** Forms that a connection keeps prepared: each takes about 15 KB, which one that is dropped gives back when it is collected. */
const maxPreparedProjections = 500

/**
 * What V8 is told that a form takes, by a buffer that nobody touches: it does not see what SQLite holds for a statement, and
 * would leave those that were dropped until there are tens of thousands of them.
 */
const projectionMemoryBytes = 32 * 1024

type PreparedStatement = {
  readonly statement: Sqlite.Statement
  readonly memoryWeight: ArrayBuffer | null
  readonly bind: (params: Record<string, unknown>) => unknown[]
  /** Makes rows of the values of each, in their place. */
  readonly readRows: (rows: unknown[][]) => unknown[]
  readonly changedTable: ChangedTable | null
}

/**
 * Opens the file at `path`.
 *
 * `synchronous=FULL` is set and read back: better-sqlite3 is built with NORMAL for WAL files, which loses acknowledged
 * commits when the power fails.
 *
 * @param isVisiting changes nothing, but takes its own log away where nobody else has the file open, which one that is
 *   `isReadOnly` could not
 */
export function openConnection(
  path: string,
  { isReadOnly, isInspection: isVisiting = false }: { isReadOnly: boolean; isInspection?: boolean },
): SqliteConnection {
  const raw = new Sqlite(path, { readonly: isReadOnly, fileMustExist: isVisiting, timeout: 5_000 })
  if (isVisiting) {
    raw.pragma('query_only = ON')
    raw.pragma('synchronous = FULL')
  } else if (!isReadOnly) {
    enableWal(raw)
    raw.pragma('synchronous = FULL')
    if (raw.pragma('synchronous', { simple: true }) !== 2) throw new Error(`${path}: synchronous=FULL was not accepted`)
    // Fewer checkpoints: each costs two syncs, and 4,000 pages are at most 16 MiB of log.
    raw.pragma('wal_autocheckpoint = 4000')
    // A log that a long read made larger shrinks again.
    raw.pragma('journal_size_limit = 67108864')
  }
  raw.pragma('foreign_keys = ON')
  // Else REPLACE would delete a row without asking the triggers that forbid it.
  raw.pragma('recursive_triggers = ON')
  raw.pragma('temp_store = MEMORY')
  raw.pragma('cache_size = -65536')

  const statements = statementCache<PreparedStatement>(maxPreparedProjections)
  const findOrPrepare = (query: Query) => {
    const known = statements.get(query)
    if (known) return known
    const fresh = prepareStatement(raw, query)
    statements.set(query, fresh)
    return fresh
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

/** SQLite does not wait when another process changes the mode of the same new file, so this does: for 5 s at most. */
function enableWal(raw: Sqlite.Database): void {
  const never = new Int32Array(new SharedArrayBuffer(4))
  for (let retry = 0; ; retry++) {
    try {
      raw.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'SQLITE_BUSY' || retry === 500) throw error
      Atomics.wait(never, 0, 0, 10)
    }
  }
}

function prepareStatement(raw: Sqlite.Database, query: Query): PreparedStatement {
  const { sql, parameters } = compileForSqlite(query.node)
  const statement = raw.prepare(sql)
  const columns = statement.reader ? statement.columns() : []
  // Amounts exceed what a number holds. A row that may have one is read with bigints, which costs more, any other without.
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

/** Triggers of ours change nothing, and no foreign key cascades, so it is this one only. */
function changedTableIn(sql: string): ChangedTable {
  const [, name] = /^(?:insert into|update|delete from) "(\w+)"/.exec(sql) ?? []
  return name === undefined ? 'anything' : (camelCase(name) as TableName)
}

/** An expression has no column to tell its kind, so it may be an amount. */
const bigintKinds: readonly (ColumnKind | null)[] = ['amount', null]

/**
 * The function that lists what is bound to a statement's parameters; generated, as that of rows is. Every name in it is one
 * that a query of ours was built with.
 */
function createBinder(parameters: SqliteStatement['parameters']): PreparedStatement['bind'] {
  const constants = parameters.map(({ value }) => encodeParameter(null, value))
  const values = parameters.map(({ name }, i) =>
    name === null ? `constants[${i}]` : `bound('${name}', params.${name})`,
  )
  return new Function('bound', 'constants', `return (params) => [${values.join(', ')}]`)(encodeParameter, constants)
}

function encodeParameter(name: string | null, value: unknown): unknown {
  if (typeof value === 'string') return value
  if (value === undefined) throw new Error(`the query parameter ${name} has no value`)
  // A number is bound as a floating-point value, which would divide as one.
  if (typeof value === 'number') return BigInt(value)
  if (typeof value === 'object' && value !== null) return JSON.stringify(value)
  return value
}

/** What decodes the values of rows where they are; most columns hold what SQLite answers. */
function createProjectionDecoder(
  columns: Sqlite.ColumnDefinition[],
  hasBigints: boolean,
): PreparedStatement['readRows'] {
  const decoded = columns.flatMap(({ table, column }, place) => {
    const kind = columnKindOf(table, column)
    if (kind === 'integer' && hasBigints) return [{ place, decode: Number as (value: unknown) => unknown }]
    return kind === 'json' ? [{ place, decode: JSON.parse as (value: unknown) => unknown }] : []
  })
  if (decoded.length === 0) return (rows) => rows
  return (rows) => {
    for (const row of rows) {
      for (const { place, decode } of decoded) if (row[place] !== null) row[place] = decode(row[place])
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

/**
 * The function that makes a row of a statement's values.
 *
 * It is generated, because an object literal with fixed names is made a third faster than an object filled in a loop.
 * Every name in it is a column of ours.
 */
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
