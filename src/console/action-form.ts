import type { Names } from '../core/api/error-message.ts'
import { refusalText } from '../core/api/error-message.ts'
import type { Refusal } from '../core/errors.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { selected } from './components.ts'
import type { Action, Field, Given } from './console-page.ts'

/** What was typed into a form, and why it was refused. */
export type Refused = {
  readonly action: string
  readonly target: string
  readonly given: Given
  readonly refusal: Refusal
}

/** A form as it stands on a page: what it is sent to, with what, and what it begins with. */
type Standing = {
  readonly address: string
  readonly sealed: string
  readonly target: string
  readonly preset: Given
  readonly refused: Refused | null
}

const reason: Field = { name: 'reason', label: 'Reason' }
const kept = 'Kept in the log of operators, with your name.'

/** The form of an action, behind its name; one that was refused is open, says why, and has what was typed. */
export function actionForm(action: Action, { address, sealed, target, preset, refused }: Standing): Html {
  const formId = `${action.name} ${target}`.trim().replace(/[^\w-]+/g, '-')
  const faults = refused ? faultsOf(refused.refusal, action) : { message: '', wrong: [] }
  const fields = [...(action.fields ?? []), { ...reason, hint: action.reasonHint ?? kept }]
  return html`<details class="action" id="${formId}"${selected(refused !== null, 'open')}>
<summary>${action.title}</summary>
<form method="post" action="${address}#${formId}">
<p>${action.text}</p>
${refused ? html`<p class="wrong" role="alert" id="${formId}-wrong"><strong>Not done.</strong> ${faults.message}</p>\n` : ''}\
<input type="hidden" name="_action" value="${action.name}"><input type="hidden" name="_target" value="${target}"><input type="hidden" name="_form" value="${sealed}">
${fields.map((field) =>
  control(field, {
    id: `${formId}-${field.name}`,
    value: refused?.given[field.name] ?? preset[field.name] ?? '',
    isWrong: faults.wrong.includes(field.name),
    wrongId: `${formId}-wrong`,
  }),
)}<button>${action.title}</button>
</form>
</details>
`
}

/** What a refusal says, by the labels that people see, and which fields it is about. */
function faultsOf(refusal: Refusal, { names = {}, fields = [] }: Action) {
  const own = (field: string) => names[field] ?? field
  const labels: Names = Object.fromEntries([...fields, reason].map(({ name, label }) => [name, label]))
  const said = refusal.details.fields ?? []
  const shown: Names = Object.fromEntries(said.map(({ field }) => [field, labels[own(field)] ?? own(field)]))
  return { message: refusalText(refusal, shown).message, wrong: said.map(({ field }) => own(field)) }
}

type Control = { readonly id: string; readonly value: string; readonly isWrong: boolean; readonly wrongId: string }

function control(field: Field, state: Control): Html {
  const { name, label, hint, options, kind, isOptional } = field
  const { id, value } = state
  const said = hint ? html`<small id="${id}-hint">${hint}</small>` : html``
  const optional = isOptional ? html` <small>(may be left out)</small>` : html``
  const about = described(field, state)
  if (kind === 'flag') {
    return html`<label class="flag"><input type="checkbox" name="${name}" value="yes"${selected(value === 'yes', 'checked')}${about}> ${label} ${said}</label>\n`
  }
  if (kind === 'many') {
    const chosen = value.split(',')
    return html`<fieldset${about}><legend>${label}${optional}</legend>${said}${(options ?? []).map(
      ([each, text]) =>
        html`<label><input type="checkbox" name="${name}" value="${each}"${selected(chosen.includes(each), 'checked')}> ${text}</label>\n`,
    )}</fieldset>\n`
  }
  if (options) {
    return html`<div class="field"><label for="${id}">${label}${optional}</label><select id="${id}" name="${name}"${about}>${isOptional ? html`<option value=""></option>` : ''}${options.map(
      ([each, text]) => html`<option value="${each}"${selected(value === each)}>${text}</option>`,
    )}</select>${said}</div>\n`
  }
  return html`<div class="field"><label for="${id}">${label}${optional}</label><input id="${id}" name="${name}" value="${value}" autocomplete="off"${about}>${said}</div>\n`
}

/** What tells those who don't see it which words belong to a control, and that it is wrong. */
function described({ hint }: Field, { id, isWrong, wrongId }: Control): Html {
  const ids = [...(hint ? [`${id}-hint`] : []), ...(isWrong ? [wrongId] : [])].join(' ')
  return html`${ids && html` aria-describedby="${ids}"`}${isWrong ? html` aria-invalid="true" autofocus` : ''}`
}
