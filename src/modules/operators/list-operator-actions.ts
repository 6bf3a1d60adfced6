import { z } from 'zod'
import { parseUuid } from '../../core/ids.ts'
import { limit, optional, parse, uuid } from '../../core/input.ts'
import type { Service } from '../../operations/context.ts'
import type { OperatorAction } from './operator-action.ts'
import { operatorActionOfForm, operatorActionsBefore, operatorActionsOf } from './repository.ts'

const pageSize = 20

/** After every id there is. */
const end = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

const Input = z.object({ subject: optional(z.string()), before: optional(uuid()), limit: limit(pageSize) })

/** A part of what operators did; `next` is what `before` takes for the part after it, `null` at the end. */
export type OperatorActionsPage = { readonly items: readonly OperatorAction[]; readonly next: string | null }

/**
 * What operators did, or what they did to one thing, the latest first.
 *
 * @param input `subject` the id of the thing, whatever it is
 * @throws Refusal INVALID_INPUT
 */
export async function listOperatorActions({ db }: Service, input: z.input<typeof Input>): Promise<OperatorActionsPage> {
  const { subject, before, limit } = parse(Input, input)
  const asked = { before: before ?? end, limit: limit + 1 }
  const found = await (subject === null
    ? operatorActionsBefore(db, asked)
    : operatorActionsOf(db, { subject: parseUuid(subject.trim()) ?? subject.trim(), ...asked }))
  const items = found.slice(0, limit)
  return { items, next: found.length > limit ? (items.at(-1)?.id ?? null) : null }
}

/** What a form has done; `null` where it was never sent, or was refused. */
export async function findActionOfForm({ db }: Service, formId: string): Promise<OperatorAction | null> {
  return operatorActionOfForm(db, { formId })
}
