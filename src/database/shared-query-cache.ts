import type { Query } from './query.ts'
import { isRead } from './query.ts'

/** What shared queries have answered (see `sharedQuery`), to be forgotten as soon as it may not be so any more. */
export type SharedAnswers<Answer> = {
  /** What the query answers: what it did before with the same parameters, or what `run` does. */
  readonly answer: (query: Query, params: object, run: () => Answer) => Answer
  /** Has it look at what is run: what changes what all share ends all answers. */
  readonly note: (query: Query) => void
  readonly forget: () => void
}

/** Answers that are kept at most, before all are forgotten: some for each pair of assets in each minute. */
const answersKept = 200

export function sharedAnswers<Answer>(): SharedAnswers<Answer> {
  const answers = new Map<string, Answer>()
  const forget = () => answers.clear()
  return {
    answer: (query, params, run) => {
      const key = `${query.number} ${Object.values(params).join(' ')}`
      const known = answers.get(key)
      if (known !== undefined) return known
      const answer = run()
      if (answers.size === answersKept) forget()
      answers.set(key, answer)
      return answer
    },
    note: (query) => {
      if (query.scope !== 'merchant' && !isRead(query)) forget()
    },
    forget,
  }
}
