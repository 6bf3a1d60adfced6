import type { ActionDeclaration } from '../modules/operators/actions/action-declaration.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { formNameOf, isConfirmed } from './action-form.ts'
import { descriptionList } from './components.ts'
import type { ConsolePage, PageContent, PageRequest } from './console-page.ts'

/** The form uses GET, because opening the confirmation page changes nothing. */
export function confirmationButton(action: ActionDeclaration, address: string, target: string): Html {
  return html`<form method="get" action="${address}" class="ask"><input type="hidden" name="confirm" value="${formNameOf(action)}"><input type="hidden" name="target" value="${target}"><button>${action.title} …</button></form>
`
}

export function confirmedAction({ actions = [] }: ConsolePage, name: string): ActionDeclaration | null {
  return actions.find((each) => isConfirmed(each) && formNameOf(each) === name) ?? null
}

export function createConfirmationPage(page: ConsolePage, action: ActionDeclaration, target: string): ConsolePage {
  return { path: page.path, render: (request) => renderConfirmation(page, request, { action, target }) }
}

async function renderConfirmation(
  page: ConsolePage,
  request: PageRequest,
  { action, target }: { action: ActionDeclaration; target: string },
): Promise<PageContent> {
  const values = target.split(' ')
  const ofRow = (action.rowFields ?? []).map((name, place) => [fieldLabel(name), html`${values[place] ?? ''}`] as const)
  const facts = (await page.confirmationFacts?.(request, target)) ?? ofRow
  return {
    title: action.title,
    body: html`${facts.length === 0 ? '' : descriptionList(facts)}<section class="action confirmation">${request.confirmationForm(action, target)}</section>
<p><a href="${request.urlFor(request.path)}">Back, and change nothing</a></p>
`,
  }
}

function fieldLabel(name: string): string {
  const words = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  return words.charAt(0).toUpperCase() + words.slice(1)
}
