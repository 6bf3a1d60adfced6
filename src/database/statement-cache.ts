import { LRUCache } from 'lru-cache'
import type { Query } from './query.ts'

/** What an engine keeps of queries: of those that we wrote for good, of the forms that callers choose the latest used. */
export type StatementCache<Kept> = {
  readonly get: (query: Query) => Kept | undefined
  readonly set: (query: Query, kept: Kept) => void
}

/** @param formsKept how many forms are kept at most */
export function statementCache<Kept extends object>(formsKept: number): StatementCache<Kept> {
  const byNumber: Kept[] = []
  const forms = new LRUCache<Query, Kept>({ max: formsKept })
  return {
    get: (query) => (query.projection === null ? byNumber[query.number] : forms.get(query)),
    set: (query, kept) => {
      if (query.projection === null) byNumber[query.number] = kept
      else forms.set(query, kept)
    },
  }
}
