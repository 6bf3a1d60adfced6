import type { RowOf } from '../../database/tables.ts'

/**
 * What an operator did: `action` is the command that does it, `subject` the id of what it was done to, `details` what else was
 * said, never a secret.
 */
export type OperatorAction = RowOf<'operatorActions'>

/** Who does something: the user of the machine, and in which session. */
export type Operator = Pick<OperatorAction, 'operator' | 'session'>
