import { z } from 'zod'
import { parseUuid } from '../../core/ids-and-clock.ts'
import { limit, optional, parseInput, uuid } from '../../core/input.ts'
import type { Service } from '../../operations/context.ts'
import type { OperatorAction } from './record-action.ts'
import { operatorActionByForm, operatorActionsBefore, operatorActionsOfSubject } from './repository.ts'

const pageSize = 20

/** After every id there is. */
const maxActionId = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const ListOperatorActionsInput = z.object({
  subject: optional(z.string()),
  before: optional(uuid()),
  limit: limit(pageSize),
})

/** A part of what operators did; `next` is what `before` takes for the part after it, `null` at the end. */
export type OperatorActionsPage = { readonly items: readonly OperatorAction[]; readonly next: string | null }

/**
 * What operators did, or what they did to one thing, the latest first.
 *
 * @param input `subject` the id of the thing, whatever it is
 * @throws Refusal INVALID_INPUT
 */
export async function listOperatorActions(
  { db }: Service,
  input: z.input<typeof ListOperatorActionsInput>,
): Promise<OperatorActionsPage> {
  const { subject, before, limit } = parseInput(ListOperatorActionsInput, input)
  const asked = { before: before ?? maxActionId, limit: limit + 1 }
  const found = await (subject === null
    ? operatorActionsBefore(db, asked)
    : operatorActionsOfSubject(db, { subject: parseUuid(subject.trim()) ?? subject.trim(), ...asked }))
  const items = found.slice(0, limit)
  return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null }
}

/** What a form has done; `null` where it was never sent, or was refused. */
export async function findActionByForm({ db }: Service, formId: string): Promise<OperatorAction | null> {
  return operatorActionByForm(db, { formId })
}
