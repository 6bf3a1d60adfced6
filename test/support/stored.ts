import Sqlite from 'better-sqlite3'
import type { App } from './app.ts'

/**
 * Every row of every table of an app, as text, for a test that nothing moved. When a key was last used is left out: a
 * refused request used its key all the same.
 */
export function everythingStored(app: App): Record<string, string[]> {
  const database = new Sqlite(pathOf(app), { readonly: true })
  const names = database.prepare(`select name from sqlite_schema where type = 'table'`).pluck().all() as string[]
  const tables = names.map((name) => {
    const rows = database.prepare(`select * from "${name}"`).safeIntegers().all() as Record<string, unknown>[]
    return [name, rows.map(({ last_used_at: _, ...row }) => JSON.stringify(row, bigintAsText))]
  })
  database.close()
  return Object.fromEntries(tables)
}

/**
 * Runs `statements` behind the service's back, with every trigger dropped and no constraint enforced that can be turned
 * off, as somebody with the file in hand could.
 */
export function tamperWith(app: App, ...statements: string[]): void {
  const database = new Sqlite(pathOf(app))
  database.pragma('foreign_keys = OFF')
  database.pragma('ignore_check_constraints = ON')
  const triggers = database.prepare(`select name from sqlite_schema where type = 'trigger'`).pluck().all() as string[]
  for (const trigger of triggers) database.exec(`drop trigger ${trigger}`)
  for (const statement of statements) {
    const { changes } = database.prepare(statement).run()
    if (changes === 0) throw new Error(`this changed nothing: ${statement}`)
  }
  database.close()
}

function pathOf({ url }: App): string {
  return url.replace(/^sqlite:/, '')
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
