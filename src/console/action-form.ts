import type { FieldNames } from '../core/api/error-message.ts'
import { formatDomainError } from '../core/api/error-message.ts'
import type { DomainError } from '../core/errors.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { booleanAttribute } from './components.ts'
import type { ConsoleAction, FormField, FormValues } from './console-page.ts'

/** What was typed into a form, and why it was refused. */
export type RejectedForm = {
  readonly action: string
  readonly target: string
  readonly values: FormValues
  readonly refusal: DomainError
}

/** A form as it stands on a page: what it is sent to, with what, and what it begins with. */
type ActionFormState = {
  readonly address: string
  readonly csrfToken: string
  readonly target: string
  readonly preset: FormValues
  readonly rejected: RejectedForm | null
}

const reasonField: FormField = { name: 'reason', label: 'Reason' }
const defaultReasonHint = 'Kept in the log of operators, with your name.'

/** The form of an action, behind its name; one that was refused is open, says why, and has what was typed. */
export function actionForm(
  action: ConsoleAction,
  { address, csrfToken: sealed, target, preset, rejected: refused }: ActionFormState,
): Html {
  const formId = `${action.name} ${target}`.trim().replace(/[^\w-]+/g, '-')
  const faults = refused ? describeRejection(refused.refusal, action) : { message: '', wrong: [] }
  const fields = [...(action.fields ?? []), { ...reasonField, hint: action.reasonHint ?? defaultReasonHint }]
  return html`<details class="action" id="${formId}"${booleanAttribute(refused !== null, 'open')}>
<summary>${action.title}</summary>
<form method="post" action="${address}#${formId}">
<p>${action.text}</p>
${refused ? html`<p class="wrong" role="alert" id="${formId}-wrong"><strong>Not done.</strong> ${faults.message}</p>\n` : ''}\
<input type="hidden" name="_action" value="${action.name}"><input type="hidden" name="_target" value="${target}"><input type="hidden" name="_form" value="${sealed}">
${fields.map((field) =>
  formControl(field, {
    id: `${formId}-${field.name}`,
    value: refused?.values[field.name] ?? preset[field.name] ?? '',
    isInvalid: faults.wrong.includes(field.name),
    errorId: `${formId}-wrong`,
  }),
)}<button>${action.title}</button>
</form>
</details>
`
}

/** What a refusal says, by the labels that people see, and which fields it is about. */
function describeRejection(refusal: DomainError, { names = {}, fields = [] }: ConsoleAction) {
  const formFieldOf = (field: string) => names[field] ?? field
  const labels: FieldNames = Object.fromEntries([...fields, reasonField].map(({ name, label }) => [name, label]))
  const said = refusal.details.fields ?? []
  const shown: FieldNames = Object.fromEntries(
    said.map(({ field }) => [field, labels[formFieldOf(field)] ?? formFieldOf(field)]),
  )
  return { message: formatDomainError(refusal, shown).message, wrong: said.map(({ field }) => formFieldOf(field)) }
}

type ControlState = {
  readonly id: string
  readonly value: string
  readonly isInvalid: boolean
  readonly errorId: string
}

function formControl(field: FormField, state: ControlState): Html {
  const { name, label, hint, options, kind, isOptional } = field
  const { id, value } = state
  const said = hint ? html`<small id="${id}-hint">${hint}</small>` : html``
  const optional = isOptional ? html` <small>(may be left out)</small>` : html``
  const about = ariaAttributes(field, state)
  if (kind === 'flag') {
    return html`<label class="flag"><input type="checkbox" name="${name}" value="yes"${booleanAttribute(value === 'yes', 'checked')}${about}> ${label} ${said}</label>\n`
  }
  if (kind === 'many') {
    const chosen = value.split(',')
    return html`<fieldset${about}><legend>${label}${optional}</legend>${said}${(options ?? []).map(
      ([each, text]) =>
        html`<label><input type="checkbox" name="${name}" value="${each}"${booleanAttribute(chosen.includes(each), 'checked')}> ${text}</label>\n`,
    )}</fieldset>\n`
  }
  if (options) {
    return html`<div class="field"><label for="${id}">${label}${optional}</label><select id="${id}" name="${name}"${about}>${isOptional ? html`<option value=""></option>` : ''}${options.map(
      ([each, text]) => html`<option value="${each}"${booleanAttribute(value === each)}>${text}</option>`,
    )}</select>${said}</div>\n`
  }
  return html`<div class="field"><label for="${id}">${label}${optional}</label><input id="${id}" name="${name}" value="${value}" autocomplete="off"${about}>${said}</div>\n`
}

/** What tells those who don't see it which words belong to a control, and that it is wrong. */
function ariaAttributes({ hint }: FormField, { id, isInvalid: isWrong, errorId: wrongId }: ControlState): Html {
  const ids = [...(hint ? [`${id}-hint`] : []), ...(isWrong ? [wrongId] : [])].join(' ')
  return html`${ids && html` aria-describedby="${ids}"`}${isWrong ? html` aria-invalid="true" autofocus` : ''}`
}
