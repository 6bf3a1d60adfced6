import { historyColumns } from './hashed-columns.ts'
import { selectHistory } from './repository.ts'

/** The events of a merchant after a number and through another, in their order, with all that is sealed of what they lead to. */
export const findHistory = selectHistory(historyColumns)
