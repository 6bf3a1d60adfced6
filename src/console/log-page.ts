import { listOperatorActions } from '../modules/operators/list-operator-actions.ts'
import type { OperatorAction } from '../modules/operators/record-action.ts'
import type { Service } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { filterForm, idElement, pager, table, timeElement, valueOrEmpty } from './components.ts'
import type { ConsolePage } from './console-page.ts'

export const logPage: ConsolePage = {
  path: '/log',
  render: async (request) => {
    const { service, query } = request
    const { items, next } = await listOperatorActions(service, { subject: query.subject, before: query.before })
    return {
      title: 'Operator log',
      body: html`<p class="faint">Actions of operators in consoles and by commands, with their reasons. No row can be changed or deleted.</p>
${filterForm(request, [{ name: 'subject', label: 'Subject', hint: 'an id, or the name of a rail', size: 36 }])}
${actionsTable(items, 'There are no actions.')}${pager(request, { older: next === null ? null : { before: next } })}`,
    }
  },
}

export async function operatorActionsOn(service: Service, subject: string): Promise<Html> {
  const { items } = await listOperatorActions(service, { subject })
  return html`<h2>Operator actions</h2>\n${actionsTable(items, 'There are no actions about it.')}`
}

function actionsTable(actions: readonly OperatorAction[], empty: string): Html {
  const rows = actions.map(({ createdAt, operator, session, action, subject, reason, details }) => [
    timeElement(createdAt),
    html`${operator} <span class="faint">${session}</span>`,
    html`<strong>${action}</strong>${detailsCell(details)}`,
    idElement(subject),
    valueOrEmpty(reason),
  ])
  return table('Operator actions', ['Time', 'Operator', 'Action', 'Subject', 'Reason'], rows, empty)
}

function detailsCell(details: OperatorAction['details']): Html {
  const texts = Object.entries(details).map(([name, value]) => `${name}: ${String(value)}`)
  return texts.length === 0 ? html`` : html` <span class="faint">${texts.join(', ')}</span>`
}
