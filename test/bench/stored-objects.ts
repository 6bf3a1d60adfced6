import Sqlite from 'better-sqlite3'
import pg from 'pg'

/** The rows of a table, or one of its indexes, and their size with the free space in their pages. */
export type StoredObject = {
  readonly table: string
  /** An index's name, `<table>_key` for a primary key on either engine; `null` for the rows. */
  readonly index: string | null
  /** Columns in order, with the condition of a partial index. */
  readonly columns: string
  readonly isUnique: boolean
  /** `null` for the key of a clustered table. */
  readonly bytes: number | null
}

/** Constraints and triggers on the rows of a table. */
export type Guards = {
  readonly table: string
  readonly columns: number
  readonly foreignKeys: number
  readonly triggers: number
}

/** An engine's storage of some tables, and the position of its write-ahead log. */
export type Storage = {
  readonly stored: (tables: readonly string[]) => Promise<StoredObject[]>
  readonly guards: (tables: readonly string[]) => Promise<Guards[]>
  /** Restarts the log, as far as the engine can, so that later writes are counted from there. */
  readonly restartLog: () => Promise<void>
  readonly logBytes: () => Promise<number>
  /** The page size of the log, if it consists of whole pages. */
  readonly logPageBytes: number | null
  readonly close: () => Promise<void>
}

/** The contents of the SQLite file at `path`. */
export function sqliteStorage(path: string, logSize: () => number): Storage {
  const db = new Sqlite(path)
  const bytesIn = db
    .prepare<[string], number | null>('select sum(pgsize) from dbstat where name = ? and aggregate = 1')
    .pluck()
  const bytesOf = (name: string) => bytesIn.get(name) ?? null
  const indexes = db.prepare<[string], { name: string; unique: number; origin: string; sql: string | null }>(
    `select name, "unique", origin, (select sql from sqlite_schema s where s.name = l.name) as sql
      from pragma_index_list(?) l`,
  )
  const columns = db.prepare<[string], string>('select name from pragma_index_info(?) order by seqno').pluck()
  const countIn = (source: string) => db.prepare<[string], number>(`select count(*) from ${source}`).pluck()
  const [columnCount, foreignKeyCount, triggerCount] = [
    countIn('pragma_table_info(?)'),
    countIn('(select distinct id from pragma_foreign_key_list(?))'),
    countIn(`sqlite_schema where type = 'trigger' and tbl_name = ?`),
  ]
  return {
    stored: async (tables) =>
      tables.flatMap((table) => [
        { table, index: null, columns: '', isUnique: false, bytes: bytesOf(table) },
        ...indexes.all(table).map(({ name, unique, origin, sql }) => ({
          table,
          index: origin === 'pk' ? `${table}_key` : name,
          columns: withCondition(columns.all(name), /\bwhere (.*)$/is.exec(sql ?? '')?.[1]),
          isUnique: unique === 1,
          bytes: bytesOf(name),
        })),
      ]),
    guards: async (tables) =>
      tables.map((table) => ({
        table,
        columns: columnCount.get(table) ?? 0,
        foreignKeys: foreignKeyCount.get(table) ?? 0,
        triggers: triggerCount.get(table) ?? 0,
      })),
    restartLog: async () => void db.pragma('wal_checkpoint(truncate)'),
    logBytes: async () => logSize(),
    // A page of the WAL has a header.
    logPageBytes: (db.pragma('page_size', { simple: true }) as number) + 24,
    close: async () => void db.close(),
  }
}

/** The contents of a PostgreSQL database; the log is that of the whole server. */
export async function postgresStorage(url: string): Promise<Storage> {
  const client = new pg.Client(url)
  await client.connect()
  const ask = async <Row>(text: string, tables: readonly string[]) => (await client.query(text, [tables])).rows as Row[]
  return {
    stored: async (tables) => {
      const rows = await ask<
        Omit<StoredObject, 'columns' | 'bytes'> & { columns: string[] | null; condition: string | null; bytes: string }
      >(
        `select relname as table, null as index, null as columns, null as condition, false as "isUnique",
          pg_relation_size(oid) as bytes
          from pg_class where relkind = 'r' and relname = any($1)
        union all
        select c.relname, case when indisprimary then c.relname || '_key' else i.relname end,
          (select array_agg(pg_get_indexdef(indexrelid, place, true) order by place)
            from generate_series(1, indnkeyatts) place),
          pg_get_expr(indpred, indrelid), indisunique, pg_relation_size(indexrelid)
          from pg_index join pg_class c on c.oid = indrelid join pg_class i on i.oid = indexrelid
          where c.relname = any($1)`,
        tables,
      )
      return rows.map(({ columns, condition, bytes, ...row }) => ({
        ...row,
        columns: withCondition(columns ?? [], condition),
        bytes: Number(bytes),
      }))
    },
    guards: (tables) =>
      ask<Guards>(
        `select relname as table, relnatts::int as columns,
          (select count(*)::int from pg_constraint where conrelid = c.oid and contype = 'f') as "foreignKeys",
          (select count(*)::int from pg_trigger where tgrelid = c.oid and not tgisinternal) as triggers
        from pg_class c where relkind = 'r' and relname = any($1)`,
        tables,
      ),
    restartLog: async () => {},
    logBytes: async () => {
      const { rows } = await client.query(`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`)
      return Number(rows[0].bytes)
    },
    logPageBytes: null,
    close: () => client.end(),
  }
}

function withCondition(columns: readonly string[], condition: string | null | undefined): string {
  return `${columns.join(', ')}${condition ? ` where ${condition.replace(/["()]|::text/g, '').toLowerCase()}` : ''}`
}
