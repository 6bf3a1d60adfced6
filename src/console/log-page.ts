import { listOperatorActions } from '../modules/operators/list-operator-actions.ts'
import type { OperatorAction } from '../modules/operators/operator-action.ts'
import type { Service } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { filterForm, idElement, pager, table, timeElement, valueOrEmpty } from './components.ts'
import type { ConsolePage } from './console-page.ts'

/** What operators did, the latest first. */
export const logPage: ConsolePage = {
  path: '/log',
  render: async (asked) => {
    const { service, query } = asked
    const { items, next } = await listOperatorActions(service, { subject: query.subject, before: query.before })
    return {
      title: 'Operator log',
      body: html`<p class="faint">What was done in consoles and by commands, with the reason that was given. Nothing of it can be changed.</p>
${filterForm(asked, [{ name: 'subject', label: 'Done to', hint: 'an id, or the name of a rail' }])}
${actionsTable(items, 'Nothing was done.')}${pager(asked, { older: next === null ? null : { before: next } })}`,
    }
  },
}

/** What operators did to one thing lately. */
export async function operatorActionsOn(service: Service, subject: string): Promise<Html> {
  const { items } = await listOperatorActions(service, { subject })
  return html`<h2>What operators did</h2>\n${actionsTable(items, 'No operator has done anything to it.')}`
}

function actionsTable(actions: readonly OperatorAction[], empty: string): Html {
  const rows = actions.map(({ createdAt, operator, session, action, subject, reason, details }) => [
    timeElement(createdAt),
    html`${operator} <span class="faint">${session}</span>`,
    html`<strong>${action}</strong>${detailsCell(details)}`,
    idElement(subject),
    valueOrEmpty(reason),
  ])
  return table('What operators did', ['When', 'Who', 'What', 'To what', 'Reason'], rows, empty)
}

function detailsCell(details: OperatorAction['details']): Html {
  const said = Object.entries(details).map(([name, value]) => `${name}: ${String(value)}`)
  return said.length === 0 ? html`` : html` <span class="faint">${said.join(', ')}</span>`
}
