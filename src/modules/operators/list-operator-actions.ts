import { z } from 'zod'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { limit, optional, parseInput, uuid } from '../../core/input.ts'
import type { Service } from '../../operations/context.ts'
import type { OperatorAction } from './record-action.ts'
import { operatorActionByForm, operatorActionsBefore, operatorActionsOfSubject } from './repository.ts'

const pageSize = 20

const maxActionId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const ListOperatorActionsInput = z.object({
  subject: optional(z.string()),
  before: optional(uuid()),
  limit: limit(pageSize),
})

/** `next` is the value of `before` for the next page, or `null` on the last page. */
export type OperatorActionsPage = { readonly items: readonly OperatorAction[]; readonly next: string | null }

/**
 * Actions are newest first.
 *
 * @param input if `subject` (the id of an object) is set, only actions on this object are listed
 * @throws DomainError INVALID_INPUT
 */
export async function listOperatorActions(
  { db }: Service,
  input: z.input<typeof ListOperatorActionsInput>,
): Promise<OperatorActionsPage> {
  const { subject, before, limit } = parseInput(ListOperatorActionsInput, input)
  const range = { before: before ?? maxActionId, limit: limit + 1 }
  const actions = await (subject === null
    ? operatorActionsBefore(db, range)
    : operatorActionsOfSubject(db, { subject: parseUuid(subject.trim()) ?? subject.trim(), ...range }))
  const items = actions.slice(0, limit)
  return { items, next: actions.length > limit ? (items.at(-1)?.id ?? null) : null }
}

export async function findActionByForm({ db }: Service, formId: string): Promise<OperatorAction | null> {
  return operatorActionByForm(db, { formId })
}
