import type { FieldNames } from '../core/errors.ts'
import { DomainError, formatDomainError } from '../core/errors.ts'
import type { ActionDeclaration, ActionField, ActionValues } from '../modules/operators/actions/action-declaration.ts'
import { AlreadyDoneError, parseReason, recordAction } from '../modules/operators/record-action.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { booleanAttribute } from './components.ts'
import type { ConsoleContext, ConsolePage, FormValues } from './console-page.ts'
import type { ConsoleSession } from './console-session.ts'
import { verifyCsrfToken } from './console-session.ts'

export type RejectedForm = {
  readonly action: string
  readonly target: string
  readonly values: FormValues
  readonly error: DomainError
}

type ActionFormState = {
  readonly address: string
  readonly csrfToken: string
  readonly target: string
  readonly current: FormValues
  readonly rejected: RejectedForm | null
}

export function formNameOf({ name, formName = name }: ActionDeclaration): string {
  return formName
}

export function isConfirmed({ movesMoney, isIrreversible }: ActionDeclaration): boolean {
  return movesMoney === true || isIrreversible === true
}

export function actionForm(action: ActionDeclaration, state: ActionFormState): Html {
  return html`<details class="action" id="${formIdOf(action, state)}"${booleanAttribute(state.rejected !== null, 'open')}>
<summary>${action.title}</summary>
${openActionForm(action, state)}</details>
`
}

function formIdOf(action: ActionDeclaration, { target }: ActionFormState): string {
  return `${formNameOf(action)} ${target}`.trim().replace(/[^\w-]+/g, '-')
}

export function openActionForm(action: ActionDeclaration, state: ActionFormState): Html {
  const { address, csrfToken, target, current, rejected } = state
  const { title, summary, formText = summary } = action
  const formId = formIdOf(action, state)
  const { message, fieldErrors } = rejected ? describeRejection(rejected.error, action) : noRejection
  return html`<form method="post" action="${address}#${formId}">
<p>${formText}</p>
${rejected ? html`<p class="wrong" role="alert" id="${formId}-wrong"><strong>Not done.</strong> ${message}</p>\n` : ''}\
<input type="hidden" name="_action" value="${formNameOf(action)}"><input type="hidden" name="_target" value="${target}"><input type="hidden" name="_form" value="${csrfToken}">
${formFieldsOf(action).map((field) =>
  formControl(field, {
    id: `${formId}-${field.name}`,
    value: rejected?.values[field.name] ?? '',
    current: current[field.name] ?? '',
    error: fieldErrors.get(field.name) ?? null,
  }),
)}<button>${title}</button>
</form>
`
}

type FormField = ActionField & { readonly label: string }

function formFieldsOf({ fields, reasonHint }: ActionDeclaration): readonly FormField[] {
  const hint = reasonHint ?? 'Kept in the operator log, with your name.'
  const reasonField: FormField = { name: 'reason', typed: '<reason>', label: 'Reason', hint }
  return [...fields.filter(isFormField), reasonField]
}

function isFormField(field: ActionField): field is FormField {
  return field.label !== undefined
}

type Rejection = { readonly message: string; readonly fieldErrors: ReadonlyMap<string, string> }

const noRejection: Rejection = { message: '', fieldErrors: new Map() }

function describeRejection(error: DomainError, action: ActionDeclaration): Rejection {
  const { errorFields = {} } = action
  const formFieldOf = (field: string) => errorFields[field] ?? field
  const labels: FieldNames = Object.fromEntries(formFieldsOf(action).map(({ name, label }) => [name, label]))
  const errors = error.details.fields ?? []
  const names = errors.map(({ field }) => [field, labels[formFieldOf(field)] ?? formFieldOf(field)] as const)
  const { message } = formatDomainError(error, Object.fromEntries(names))
  const fieldErrors = errors.map((each) => [formFieldOf(each.field), replaceOptions(each.message, action)] as const)
  return { message: replaceOptions(message, action), fieldErrors: new Map(fieldErrors) }
}

function replaceOptions(message: string, action: ActionDeclaration): string {
  return formFieldsOf(action).reduce((text, { typed, label }) => {
    const [option = ''] = typed.split(' ')
    return option.startsWith('--') ? text.replaceAll(option, `“${label}”`) : text
  }, message)
}

type ControlState = {
  readonly id: string
  readonly value: string
  readonly current: string
  readonly error: string | null
}

function formControl(field: FormField, state: ControlState): Html {
  const { name, label, options, isMultiple } = field
  const { id, value } = state
  const notes = controlNotes(field, state)
  const optionalMark = isOptional(field) ? html` <small>(may be left out)</small>` : html``
  const attributes = ariaAttributes(field, state)
  if (isFlag(field)) {
    return html`<label class="flag"><input type="checkbox" name="${name}" value="yes"${booleanAttribute(value === 'yes', 'checked')}${attributes}> ${label} ${notes}</label>\n`
  }
  if (isMultiple) {
    const selected = value.split(',')
    return html`<fieldset${attributes}><legend>${label}${optionalMark}</legend>${notes}${(options ?? []).map(
      ([each, text]) =>
        html`<label><input type="checkbox" name="${name}" value="${each}"${booleanAttribute(selected.includes(each), 'checked')}> ${text}</label>\n`,
    )}</fieldset>\n`
  }
  if (options) {
    const none = isOptional(field) ? '' : 'Choose'
    return html`<div class="field"><label for="${id}">${label}${optionalMark}</label><select id="${id}" name="${name}"${attributes}><option value="">${none}</option>${options.map(
      ([each, text]) => html`<option value="${each}"${booleanAttribute(value === each)}>${text}</option>`,
    )}</select>${notes}</div>\n`
  }
  const type = field.isTime ? 'datetime-local' : 'text'
  return html`<div class="field"><label for="${id}">${label}${optionalMark}</label><input type="${type}" id="${id}" name="${name}" value="${value}" autocomplete="off"${attributes}>${notes}</div>\n`
}

function controlNotes({ hint }: FormField, { id, current, error }: ControlState): Html {
  return html`${error === null ? '' : html`<small class="invalid" id="${id}-wrong">${error}</small>`}\
${current === '' ? '' : html`<small class="current" id="${id}-current">Now: ${current}</small>`}\
${hint ? html`<small id="${id}-hint">${hint}</small>` : ''}`
}

function isFlag({ typed }: ActionField): boolean {
  return /^--[\w-]+$/.test(typed)
}

function isOptional({ typed, isRequiredInForm }: ActionField): boolean {
  return typed.startsWith('--') && !isRequiredInForm
}

function ariaAttributes({ hint }: FormField, { id, current, error }: ControlState): Html {
  const notes = { wrong: error !== null, current: current !== '', hint: hint !== undefined }
  const ids = Object.entries(notes).flatMap(([name, isShown]) => (isShown ? [`${id}-${name}`] : []))
  return html`${ids.length === 0 ? '' : html` aria-describedby="${ids.join(' ')}"`}${error === null ? '' : html` aria-invalid="true" autofocus`}`
}

type SubmittedForm = { readonly path: string; readonly params: FormValues; readonly values: FormValues }

export type RevealedSecret = { readonly name: string; readonly secret: string; readonly advice: string }

/**
 * `done` is also the outcome if the same form was submitted earlier. `forged` means that the CSRF token is missing or
 * wrong.
 */
export type ActionOutcome =
  | { readonly done: { readonly formId: string; readonly secret: RevealedSecret | null } }
  | { readonly rejected: RejectedForm }
  | 'forged'

/** Runs the action once, even if the form is submitted again. */
export async function runSubmittedAction(
  console: ConsoleContext,
  session: ConsoleSession,
  { actions = [] }: ConsolePage,
  { path, params, values }: SubmittedForm,
): Promise<ActionOutcome> {
  const { _action: name = '', _target: target = '', _form: csrfToken = '' } = values
  const action = actions.find((each) => formNameOf(each) === name)
  const formId = verifyCsrfToken(session, csrfToken, { path, action: name, target })
  if (!action || formId === null) return 'forged'
  try {
    return {
      done: { formId, secret: await performAction(console, session, action, { formId, params, target, values }) },
    }
  } catch (error) {
    if (error instanceof AlreadyDoneError) return { done: { formId, secret: null } }
    if (error instanceof DomainError) return { rejected: { action: name, target, values, error } }
    throw error
  }
}

type VerifiedForm = Omit<SubmittedForm, 'path'> & { readonly formId: string; readonly target: string }

async function performAction(
  { service }: ConsoleContext,
  { actor }: ConsoleSession,
  action: ActionDeclaration,
  { formId, params, target, values: sent }: VerifiedForm,
): Promise<RevealedSecret | null> {
  const reason = parseReason(sent.reason ?? '')
  const fields = action.fields
    .filter(isFormField)
    .map((field) => ({ field, text: zonedText(field, sent[field.name] ?? '') }))
  const typed = fields.filter(({ field, text }) => text.trim() !== '' || !isOptional(field))
  const values: ActionValues = {
    ...Object.fromEntries(typed.map(({ field, text }) => [field.name, text.trim()])),
    ...params,
    ...valuesOfTarget(action, target),
    reason,
  }
  const subject = action.subject.map((name) => values[name] ?? '').join(' ')
  const details = {
    ...Object.fromEntries(fields.filter(({ text }) => text !== '').map(({ field, text }) => [field.name, text])),
    ...(target !== '' && target !== subject && { target }),
  }
  const row = { formId, ...actor, action: action.name, subject, reason, details }
  const result = await recordAction(service, row, (recording) => action.run(recording, values))
  if (action.secret === undefined) return null
  const { name, field, advice } = action.secret
  return { name, secret: String(result[field]), advice }
}

/** Browsers send times without a time zone, so the UTC suffix is added. */
function zonedText({ isTime }: ActionField, text: string): string {
  const [, minute, seconds = ':00'] = /^(\d{4}-\d\d-\d\dT\d\d:\d\d)(:\d\d)?$/.exec(text.trim()) ?? []
  return isTime && minute !== undefined ? `${minute}${seconds}Z` : text
}

function valuesOfTarget({ rowFields = [] }: ActionDeclaration, target: string): ActionValues {
  const texts = rowFields.length === 1 ? [target] : target.split(' ')
  return Object.fromEntries(rowFields.map((name, place) => [name, texts[place] ?? '']))
}
