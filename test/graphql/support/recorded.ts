import { SqliteQueryCompiler } from 'kysely'
import type { Query } from '../../../src/database/query.ts'
import type { Service } from '../../../src/operations/context.ts'

/** A statement that the service executed, on either engine. */
export type Statement = {
  readonly sql: string
  readonly params: Readonly<Record<string, unknown>>
  /** The columns of its projection; `null` if it reads whole rows. */
  readonly columns: readonly string[] | null
}

/** A service that records its read statements. */
export function recordingStatements(service: Service) {
  const statements: Statement[] = []
  const execute = <Result>(query: Query, params: object) => {
    const { sql } = new SqliteQueryCompiler().compileQuery(query.node, { queryId: '' } as never)
    statements.push({ sql, params: params as Statement['params'], columns: query.projection?.names ?? null })
    return service.db.execute<Result>(query, params)
  }
  return {
    service: { ...service, db: { ...service.db, execute } },
    /** The statements that an action executes. */
    during: async (act: () => Promise<unknown>): Promise<Statement[]> => {
      statements.length = 0
      await act()
      return [...statements]
    },
  }
}

/** The rows that statements read by primary key, with duplicates. */
export function rowsByKey(statements: readonly Statement[]): string[] {
  return statements.flatMap(({ sql, params }) => {
    const [, table = '', column = ''] = /from "(\w+)".* where .*"(\w+)" (?:=|in) \S+$/s.exec(sql) ?? []
    const { id, ids } = params as { id?: string; ids?: readonly string[] }
    return (ids ?? (id === undefined ? [] : [id])).map((each) => `${table}.${column} ${each}`)
  })
}
