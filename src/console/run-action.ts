import { Refusal } from '../core/errors.ts'
import { DoneBefore, keepAction, parseReason } from '../modules/operators/record-action.ts'
import type { Action, ConsolePage, Desk, Given, Secret } from './console-page.ts'
import { openForm } from './csrf-token.ts'
import type { Entrance } from './login-session.ts'

/** What was sent to a page. */
type Sent = { readonly path: string; readonly params: Given; readonly given: Given }

/** What became of it: done, also where that was before; with a secret to be shown once; or refused, and why. */
export type Taken =
  | { readonly formId: string; readonly secret: Secret | null }
  | { readonly action: string; readonly target: string; readonly given: Given; readonly refusal: Refusal }
  | 'forged'

/** Does what a form of a page asks for, once however often it is sent. Faults propagate. */
export async function takeAction(
  desk: Desk,
  entrance: Entrance,
  { actions = [] }: ConsolePage,
  { path, params, given }: Sent,
): Promise<Taken> {
  const { _action: name = '', _target: target = '', _form: form = '', reason = '', ...typed } = given
  const action = actions.find((each) => each.name === name)
  const formId = openForm(entrance, form, { path, action: name, target })
  if (!action || formId === null) return 'forged'
  try {
    const secret = await run(desk, action, { formId, on: { params, target, given: typed, reason } })
    return { formId, secret }
  } catch (error) {
    if (error instanceof DoneBefore) return { formId, secret: null }
    if (error instanceof Refusal) return { action: name, target, given, refusal: error }
    throw error
  }
}

type Asking = { readonly formId: string; readonly on: Parameters<Action['run']>[1] }

async function run({ service, operator }: Desk, action: Action, { formId, on }: Asking): Promise<Secret | null> {
  const reason = parseReason(on.reason)
  const subject = action.subject(on)
  const typed = (action.fields ?? []).flatMap(({ name }) => (on.given[name] ? [[name, on.given[name]] as const] : []))
  const details = {
    ...Object.fromEntries(typed),
    ...(on.target !== '' && on.target !== subject && { target: on.target }),
  }
  const kept = { formId, ...operator, action: action.command ?? action.name, subject, reason, details }
  return (await keepAction(service, kept, (keeping) => action.run(keeping, { ...on, reason }))) ?? null
}
