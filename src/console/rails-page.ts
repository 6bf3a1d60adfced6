import { pauseRailAction, resumeRailAction } from '../modules/operators/actions/payout-actions.ts'
import { listRails } from '../modules/rails/orders/rail-routes.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { emptyValue, statusBadge, table, timeElement } from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'

export const railsPage: ConsolePage = {
  path: '/rails',
  actions: [pauseRailAction, resumeRailAction],
  render: async ({ service, rails, session, actionForm, urlFor }) => {
    const all = await listRails(service, rails)
    const rows = all.map(({ rail, isConfigured, pausedAt, routes, open }) => [
      html`<a href="${urlFor(`/rails/${rail}`)}"><strong>${rail}</strong></a>`,
      pausedAt === null ? statusBadge('running') : html`${statusBadge('paused')} ${timeElement(pausedAt)}`,
      html`${isConfigured ? 'yes' : 'no: not in RAILS'}`,
      routes.length === 0 ? emptyValue : html`${routes.join('; ')}`,
      open.length === 0 ? emptyValue : html`${open.join(', ')}`,
      pausedAt === null ? actionForm(pauseRailAction, rail) : actionForm(resumeRailAction, rail),
    ])
    const columns = [
      'Rail',
      'State',
      'Configured',
      'Routes (asset, currency, country)',
      'Open orders',
      session.can('act') && 'Actions',
    ]
    return {
      title: 'Rails',
      body: table('Rails', columns, rows, 'There is no rail: payouts are settled by hand.'),
    }
  },
}

export async function railHealthTable({ service, rails, urlFor }: PageRequest): Promise<Html> {
  const rows = (await listRails(service, rails)).map(({ rail, isConfigured, pausedAt, open }) => [
    html`<a href="${urlFor(`/rails/${rail}`)}"><strong>${rail}</strong></a>`,
    statusBadge(pausedAt === null ? 'running' : 'paused'),
    html`${isConfigured ? 'yes' : 'no: not in RAILS'}`,
    open.length === 0 ? emptyValue : html`${open.join(', ')}`,
  ])
  return table(
    'Rails',
    ['Rail', 'State', 'Configured', 'Open orders'],
    rows,
    'There is no rail: payouts are settled by hand.',
  )
}
