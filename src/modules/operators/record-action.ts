import { z } from 'zod'
import { DomainError } from '../../core/errors.ts'
import { parseUuid, timestamp } from '../../core/ids-and-clock.ts'
import { freeText, parseInput } from '../../core/input.ts'
import type { Database } from '../../database/database.ts'
import type { RowOf } from '../../database/tables.ts'
import type { Service } from '../../operations/context.ts'
import { insertOperatorAction, operatorActionByForm } from './repository.ts'

/** Thrown where the same form was sent before: nothing is done a second time. */
export class AlreadyDoneError extends DomainError {
  constructor() {
    super('IDEMPOTENCY_KEY_REUSED', 'This was done already, and is not done again.')
  }
}

/**
 * Does what an operator asks for, and keeps who did what, to what and why in the transaction that does it: neither is there
 * without the other, and whatever the operation refuses leaves no trace.
 *
 * @param action `formId` that of a form, which does it once however often it is sent; `null` for a command. `subject` the id of
 *   what it is done to, or what finds that in what the transaction made
 * @param run the operation, on the service that it is given, which writes at least once
 * @throws DoneBefore; else what `run` throws
 */
export async function recordAction<Result>(
  service: Service,
  {
    subject,
    ...action
  }: Omit<OperatorAction, 'id' | 'createdAt' | 'subject'> & {
    readonly subject: string | ((made: unknown) => string)
  },
  run: (service: Service) => Promise<Result>,
): Promise<Result> {
  const { formId } = action
  let isKept = false
  const write: Database['write'] = async (operation, options) => {
    if (isKept) return service.db.write(operation, options)
    const written = await service.db.write(async (tx) => {
      if (formId !== null && (await operatorActionByForm(tx, { formId }))) throw new AlreadyDoneError()
      const result = await operation(tx)
      const to = typeof subject === 'string' ? subject : subject(result)
      const row = { ...action, id: service.newId(), createdAt: timestamp(service.now()) }
      // In the spelling by which it is looked for.
      await insertOperatorAction(tx, { ...row, subject: parseUuid(to) ?? to })
      return result
    }, options)
    isKept = true
    return written
  }
  const result = await run({ ...service, db: { ...service.db, write } })
  if (!isKept) throw new Error(`${action.action} wrote nothing, so nothing of it is kept`)
  return result
}

/** The service for what only looks: whatever it would write is a mistake of ours. */
export function readOnlyService(service: Service, name: string): Service {
  const write = async () => {
    throw new Error(`${name} says that it changes nothing, and writes`)
  }
  return { ...service, db: { ...service.db, write } }
}

/** The reason that an operator gives, as it is kept. @throws Refusal INVALID_INPUT */
export function parseReason(reason: string): string {
  return parseInput(z.object({ reason: freeText() }), { reason }).reason
}

/**
 * What an operator did: `action` is the command that does it, `subject` the id of what it was done to, `details` what else was
 * said, never a secret.
 */
export type OperatorAction = RowOf<'operatorActions'>

/** Who does something: the user of the machine, and in which session. */
export type Operator = Pick<OperatorAction, 'operator' | 'session'>
