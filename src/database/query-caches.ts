import { LRUCache } from 'lru-cache'
import type { Query } from './query.ts'
import { isRead } from './query.ts'

/**
 * Caches one statement per query. Clients choose the columns of projections, so the number of cached projections is
 * limited (LRU).
 */
export type StatementCache<Statement> = {
  readonly get: (query: Query) => Statement | undefined
  readonly set: (query: Query, statement: Statement) => void
}

export function statementCache<Statement extends object>(maxProjections: number): StatementCache<Statement> {
  const byNumber: Statement[] = []
  const projections = new LRUCache<Query, Statement>({ max: maxProjections })
  return {
    get: (query) => (query.projection === null ? byNumber[query.number] : projections.get(query)),
    set: (query, statement) => {
      if (query.projection === null) byNumber[query.number] = statement
      else projections.set(query, statement)
    },
  }
}

export type SharedQueryCache<Result> = {
  readonly getOrRun: (query: Query, params: object, run: () => Result) => Result
  readonly clearIfChangedBy: (query: Query) => void
  readonly clear: () => void
}

/** Prices are cached by asset pair and minute, so each asset pair adds a few results per minute. */
const maxCachedResults = 200

export function sharedQueryCache<Result>(): SharedQueryCache<Result> {
  const results = new Map<string, Result>()
  const clear = () => results.clear()
  return {
    getOrRun: (query, params, run) => {
      const key = `${query.number} ${Object.values(params).join('\0')}`
      const cached = results.get(key)
      if (cached !== undefined) return cached
      const result = run()
      if (results.size === maxCachedResults) clear()
      results.set(key, result)
      return result
    },
    clearIfChangedBy: (query) => {
      if (query.scope !== 'merchant' && !isRead(query)) clear()
    },
    clear,
  }
}
