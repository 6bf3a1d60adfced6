import type { Query } from './query.ts'
import { isRead } from './query.ts'

/** What shared queries have answered (see `sharedQuery`), to be forgotten as soon as it may not be so any more. */
export type SharedQueryCache<Answer> = {
  /** What the query answers: what it did before with the same parameters, or what `run` does. */
  readonly getOrRun: (query: Query, params: object, run: () => Answer) => Answer
  /** Has it look at what is run: what changes what all share ends all answers. */
  readonly clearIfChangedBy: (query: Query) => void
  readonly clear: () => void
}

/** Answers that are kept at most, before all are forgotten: some for each pair of assets in each minute. */
const maxCachedResults = 200

export function sharedQueryCache<Answer>(): SharedQueryCache<Answer> {
  const answers = new Map<string, Answer>()
  const clear = () => answers.clear()
  return {
    getOrRun: (query, params, run) => {
      const key = `${query.number} ${Object.values(params).join(' ')}`
      const known = answers.get(key)
      if (known !== undefined) return known
      const answer = run()
      if (answers.size === maxCachedResults) clear()
      answers.set(key, answer)
      return answer
    },
    clearIfChangedBy: (query) => {
      if (query.scope !== 'merchant' && !isRead(query)) clear()
    },
    clear,
  }
}
