import { historyColumns } from './history.ts'
import { historyQuery } from './repository.ts'

/** The events of a merchant after a number and through another, in their order, with all that is sealed of what they lead to. */
export const findHistory = historyQuery(historyColumns)
