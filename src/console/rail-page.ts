import { notFound } from '../core/errors.ts'
import { pauseRailAction, resumeRailAction } from '../modules/operators/actions/payout-actions.ts'
import { railOrderStates } from '../modules/rail-orders/rail-order.ts'
import type { RailHealth } from '../modules/rails/orders/rail-health.ts'
import { maxMeasuredOrders, measureRail } from '../modules/rails/orders/rail-health.ts'
import type { RailSummary } from '../modules/rails/orders/rail-routes.ts'
import { listRails } from '../modules/rails/orders/rail-routes.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import {
  descriptionList,
  emptyValue,
  numberColumn,
  shortIdLink,
  statusBadge,
  table,
  timeElement,
  valueOrEmpty,
} from './components.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import { operatorActionsOn } from './log-page.ts'
import { formatDuration, groupThousands } from './phrases.ts'

export const railPage: ConsolePage = {
  path: '/rails/:rail',
  actions: [pauseRailAction, resumeRailAction],
  render: async (request) => {
    const { service, rails, session, params, actionForm, urlFor } = request
    const rail = (await listRails(service, rails)).find((each) => each.rail === params.rail)
    if (!rail) throw notFound('Rail')
    const health = await measureRail(service, rail.rail)
    const action = actionForm(rail.pausedAt === null ? pauseRailAction : resumeRailAction, rail.rail)
    return {
      title: `Rail ${rail.rail}`,
      body: html`${railFacts(rail, health)}
${session.can('act') ? html`<h2>Actions</h2>\n<div class="actions">${action}</div>\n` : ''}<p><a href="${urlFor('/attention')}">Attention</a> has the orders that need a decision. The command <code>rail check ${rail.rail}</code> tests the bank.</p>
<h2>Orders by state</h2>
${statesTable(rail, health)}
<h2>Latest errors</h2>
${failuresTable(request, health)}<p class="faint">Open orders are counted in full. Everything else is of the newest ${maxMeasuredOrders} orders of all rails, among which this one has ${groupThousands(health.orderCount)}.
After five calls without an answer, the process that submits stops calling for five seconds to five minutes (its circuit breaker).</p>
${await operatorActionsOn(service, rail.rail)}`,
    }
  },
}

function railFacts({ pausedAt, isConfigured, routes }: RailSummary, health: RailHealth): Html {
  const { durationsMs, lastAnswerAt, lastUnansweredAt } = health
  const isAnswering = lastUnansweredAt === null || (lastAnswerAt !== null && lastAnswerAt >= lastUnansweredAt)
  return descriptionList([
    ['State', pausedAt === null ? statusBadge('running') : html`${statusBadge('paused')} ${timeElement(pausedAt)}`],
    ['Configured', html`${isConfigured ? 'yes' : 'no: not in RAILS'}`],
    ['Routes (asset, currency, country)', valueOrEmpty(routes.join('; '))],
    ['Calls', lastAnswerAt === null && isAnswering ? emptyValue : statusBadge(isAnswering ? 'answered' : 'unanswered')],
    ['Last answer', timeElement(lastAnswerAt)],
    ['Last call without an answer', timeElement(lastUnansweredAt)],
    ['Median time to completion', durationText(durationsMs, 0.5)],
    ['95 % within', durationText(durationsMs, 0.95)],
  ])
}

function durationText(ascendingMs: readonly number[], share: number): Html {
  const duration = ascendingMs[Math.ceil(ascendingMs.length * share) - 1]
  if (duration === undefined) return emptyValue
  return html`${duration < 2_000 ? `${duration} ms` : formatDuration(duration / 1_000)}`
}

function statesTable({ open }: RailSummary, { countsByState }: RailHealth): Html {
  const openCounts = new Map(open.map((text) => text.split(' ') as [string, string]))
  const rows = railOrderStates
    .filter((state) => openCounts.has(state) || countsByState.has(state))
    .map((state) => [
      statusBadge(state),
      html`${openCounts.get(state) ?? emptyValue}`,
      html`${countsByState.get(state) ?? 0}`,
    ])
  const columns = ['State', numberColumn('Open orders'), numberColumn('Among the newest')]
  return table('Orders by state', columns, rows, 'The rail has no order.')
}

function failuresTable({ urlFor }: PageRequest, { failures }: RailHealth): Html {
  const rows = failures.map(({ at, payoutId, state, cause }) => [
    timeElement(at),
    shortIdLink(urlFor(`/payouts/${payoutId}`), payoutId),
    statusBadge(state),
    valueOrEmpty(cause),
  ])
  return table('Latest errors', ['Time', 'Payout', 'Order became', 'Cause'], rows, 'No error among the newest orders.')
}
