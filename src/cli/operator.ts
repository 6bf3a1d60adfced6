import { userInfo } from 'node:os'
import type { Operator } from '../modules/operators/operator-action.ts'

/** Who runs this process, as the log of operators has it. */
export function currentOperator(session: string): Operator {
  return { operator: userName(), session }
}

/** A container may run as a user that has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
