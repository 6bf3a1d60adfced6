import type Sqlite from 'better-sqlite3'

/** What SQLite finds wrong with its own file: pages, rows that an index lacks or has otherwise, constraints, foreign keys. */
export function findIntegrityErrors(raw: Sqlite.Database): string[] {
  try {
    const pages = raw.pragma('integrity_check') as { integrity_check: string }[]
    const orphans = raw.pragma('foreign_key_check') as { table: string; rowid: number | null; parent: string }[]
    return [
      ...pages.map((row) => row.integrity_check).filter((text) => text !== 'ok'),
      ...orphans.map(({ table, rowid, parent }) => `${table} ${rowid ?? ''} refers to ${parent} that are not there`),
    ]
  } catch (error) {
    return [(error as Error).message]
  }
}
