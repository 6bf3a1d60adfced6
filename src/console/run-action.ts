import { DomainError } from '../core/errors.ts'
import { AlreadyDoneError, parseReason, recordAction } from '../modules/operators/record-action.ts'
import type { ConsoleAction, ConsoleContext, ConsolePage, FormValues, RevealedSecret } from './console-page.ts'
import { verifyCsrfToken } from './csrf-token.ts'
import type { LoginSession } from './login-session.ts'

/** What was sent to a page. */
type SubmittedForm = { readonly path: string; readonly params: FormValues; readonly values: FormValues }

/** What became of it: done, also where that was before; with a secret to be shown once; or refused, and why. */
export type ActionOutcome =
  | { readonly formId: string; readonly secret: RevealedSecret | null }
  | { readonly action: string; readonly target: string; readonly values: FormValues; readonly refusal: DomainError }
  | 'forged'

/** Does what a form of a page asks for, once however often it is sent. Faults propagate. */
export async function runSubmittedAction(
  desk: ConsoleContext,
  entrance: LoginSession,
  { actions = [] }: ConsolePage,
  { path, params, values: given }: SubmittedForm,
): Promise<ActionOutcome> {
  const { _action: name = '', _target: target = '', _form: form = '', reason = '', ...typed } = given
  const action = actions.find((each) => each.name === name)
  const formId = verifyCsrfToken(entrance, form, { path, action: name, target })
  if (!action || formId === null) return 'forged'
  try {
    const secret = await performAction(desk, action, { formId, input: { params, target, values: typed, reason } })
    return { formId, secret }
  } catch (error) {
    if (error instanceof AlreadyDoneError) return { formId, secret: null }
    if (error instanceof DomainError) return { action: name, target, values: given, refusal: error }
    throw error
  }
}

type ActionRunArgs = { readonly formId: string; readonly input: Parameters<ConsoleAction['run']>[1] }

async function performAction(
  { service, operator }: ConsoleContext,
  action: ConsoleAction,
  { formId, input: on }: ActionRunArgs,
): Promise<RevealedSecret | null> {
  const reason = parseReason(on.reason)
  const subject = action.subject(on)
  const typed = (action.fields ?? []).flatMap(({ name }) => (on.values[name] ? [[name, on.values[name]] as const] : []))
  const details = {
    ...Object.fromEntries(typed),
    ...(on.target !== '' && on.target !== subject && { target: on.target }),
  }
  const kept = { formId, ...operator, action: action.command ?? action.name, subject, reason, details }
  return (await recordAction(service, kept, (keeping) => action.run(keeping, { ...on, reason }))) ?? null
}
