import { z } from 'zod'
import { DomainError } from '../../core/errors.ts'
import { parseUuid, timestamp } from '../../core/ids-and-clock.ts'
import { freeText, parseInput } from '../../core/input.ts'
import type { Database } from '../../database/database.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Service } from '../../operations/context.ts'
import { insertOperatorAction, operatorActionByForm } from './repository.ts'

/** Thrown if the same console form was already submitted. */
export class AlreadyDoneError extends DomainError {
  constructor() {
    super('IDEMPOTENCY_KEY_REUSED', 'This action was already performed and was not repeated.')
  }
}

/**
 * Runs an operation and records it in the same transaction. An operation that fails is not recorded.
 *
 * @param action `formId` makes the action of a console form idempotent; it is `null` for a command. `subject` is the id
 *   of the object, or a function that computes the id from the operation's result.
 * @param run must write at least once with the given service
 * @throws AlreadyDoneError, or the error of `run`
 */
export async function recordAction<Result>(
  service: Service,
  {
    subject,
    ...action
  }: Omit<OperatorAction, 'id' | 'createdAt' | 'subject'> & {
    readonly subject: string | ((result: unknown) => string)
  },
  run: (service: Service) => Promise<Result>,
): Promise<Result> {
  const { formId } = action
  let isRecorded = false
  const write: Database['write'] = async (operation, options) => {
    if (isRecorded) return service.db.write(operation, options)
    const written = await service.db.write(async (tx) => {
      if (formId !== null && (await operatorActionByForm(tx, { formId }))) throw new AlreadyDoneError()
      const result = await operation(tx)
      const subjectId = typeof subject === 'string' ? subject : subject(result)
      const row = { ...action, id: service.newId(), createdAt: timestamp(service.now()) }
      // A UUID is stored in canonical form, so that lookups find it.
      await insertOperatorAction(tx, { ...row, subject: parseUuid(subjectId) ?? subjectId })
      return result
    }, options)
    isRecorded = true
    return written
  }
  const result = await run({ ...service, db: { ...service.db, write } })
  if (!isRecorded) throw new Error(`${action.action} wrote nothing, so it could not be recorded`)
  return result
}

/** Every write through the returned service throws. */
export function readOnlyService(service: Service, name: string): Service {
  const write = async () => {
    throw new Error(`${name} is declared as read-only but tried to write`)
  }
  return { ...service, db: { ...service.db, write } }
}

/** @throws DomainError INVALID_INPUT */
export function parseReason(reason: string): string {
  return parseInput(z.object({ reason: freeText() }), { reason }).reason
}

/**
 * `action` is the name of the command. `subject` is the id of the object. `details` are the other arguments except
 * secrets.
 */
export type OperatorAction = RowOf<'operatorActions'>

/** `operator` is the name of a console operator or of the machine's user. */
export type Actor = Pick<OperatorAction, 'operator' | 'session'>
