import { findUsedCorridors } from '../modules/diagnoses/price-checks.ts'
import { findAttentionCounts } from '../modules/diagnoses/queue-checks.ts'
import { readCoverage } from '../modules/payout-statistics/read-statistics.ts'
import { listAllAttention } from '../modules/rails/attention/list-attention.ts'
import { listRails } from '../modules/rails/orders/rail-routes.ts'
import { listUnhealthyEndpoints } from '../modules/webhooks/endpoints/list.ts'
import { countRecentDeliveries } from '../modules/webhooks/endpoints/recent-deliveries.ts'
import { measureDatabase } from '../observability/metrics/database-metrics.ts'
import type { Service } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { attentionPayoutsTable } from './attention-page.ts'
import type { ConsolePage, PageRequest } from './console-page.ts'
import { lastDays, overviewFigures } from './overview-figures.ts'
import { recentOrdersTable } from './overview-health.ts'
import { heldSection } from './overview-held.ts'
import { formatDuration, pluralize } from './phrases.ts'
import { railHealthTable } from './rails-page.ts'
import { endpointsTable } from './webhooks-page.ts'

type OverviewTile = {
  readonly kind: 'good' | 'plain' | 'warn' | 'bad'
  readonly text: string
  readonly detail: string
  readonly href: string
}

const hourSeconds = 3_600

/** Normally, an event is sealed within ten seconds. */
const sealingLimitSeconds = 60
const maxShown = 5

const maxCountedPayouts = 1_000

export const overviewPage: ConsolePage = {
  path: '/',
  render: async (request) => {
    const { service, urlFor } = request
    const period = { days: lastDays(service.wallClock()), coverage: await readCoverage(service) }
    const [{ items }, unhealthyEndpoints, tiles, figures, railHealth] = [
      await listAllAttention(service, { limit: maxShown }),
      await listUnhealthyEndpoints(service, maxShown),
      await overviewTiles(request),
      await overviewFigures(request, period),
      await railHealthTable(request),
    ]
    return {
      title: 'Overview',
      body: html`<ul class="tiles">
${tiles.map(({ kind, text, detail, href }) => html`<li class="${kind}"><strong>${tileMarks[kind]} ${text}</strong><p><a href="${urlFor(href)}">${detail}</a></p></li>\n`)}</ul>
${figures}${await heldSection(request, period)}<h2>Payouts that need attention</h2>
${attentionPayoutsTable(request, items)}${items.length === maxShown ? html`<p><a href="${urlFor('/attention')}">All of them</a></p>` : ''}
<h2>Rails</h2>
${railHealth}${await recentOrdersTable(request)}<h2>Webhook endpoints that fail</h2>
${await endpointsTable(request, unhealthyEndpoints, 'No endpoint fails.')}${unhealthyEndpoints.length === maxShown ? html`<p><a href="${urlFor('/webhooks')}">All of them</a></p>` : ''}`,
    }
  },
}

const tileMarks: Readonly<Record<OverviewTile['kind'], Html>> = {
  good: html`<span aria-hidden="true">✓</span>`,
  plain: html`<span aria-hidden="true">·</span>`,
  warn: html`<span aria-hidden="true">!</span>`,
  bad: html`<span aria-hidden="true">✕</span>`,
}

async function overviewTiles({ service, rails, auditRun }: PageRequest): Promise<OverviewTile[]> {
  const { processing, rateAges, unsealed } = await measureDatabase(service, [], { maxPayouts: maxCountedPayouts })
  const all = await listRails(service, rails)
  const paused = all.filter(({ pausedAt }) => pausedAt !== null)
  const unconfigured = all.filter(({ isConfigured, open }) => !isConfigured && open.length > 0)
  return [
    await attentionTile(service),
    {
      kind: processing.oldestSeconds > 24 * hourSeconds && processing.payouts > 0 ? 'warn' : 'good',
      text: `${pluralize(processing.payouts, 'payout')}${processing.payouts === maxCountedPayouts ? ' or more' : ''} processing`,
      detail: processing.payouts > 0 ? `the oldest for ${formatDuration(processing.oldestSeconds)}` : 'all payouts',
      href: '/payouts?status=PROCESSING',
    },
    {
      kind: unsealed.oldestSeconds > sealingLimitSeconds && unsealed.events > 0 ? 'warn' : 'good',
      text: unsealed.events === 0 ? 'Every event is sealed' : `${pluralize(unsealed.events, 'event')} to seal`,
      detail: unsealed.events === 0 ? 'the books' : `the oldest for ${formatDuration(unsealed.oldestSeconds)}`,
      href: '/books',
    },
    auditTile(auditRun.lastResult()),
    {
      kind: paused.length > 0 || unconfigured.length > 0 ? 'warn' : 'good',
      text: paused.length > 0 ? `Paused: ${paused.map(({ rail }) => rail).join(', ')}` : 'No rail is paused',
      detail:
        unconfigured.length > 0 ? `not configured: ${unconfigured.map(({ rail }) => rail).join(', ')}` : 'all rails',
      href: '/rails',
    },
    await ratesTile(service, rateAges),
    await deliveriesTile(service),
  ]
}

async function attentionTile(service: Service): Promise<OverviewTile> {
  const { payouts, deposits } = await findAttentionCounts(service)
  const isNone = payouts + deposits === 0
  return {
    kind: isNone ? 'good' : 'bad',
    text: isNone ? 'No items need attention' : `${pluralize(payouts + deposits, 'item')} to decide`,
    detail: `${pluralize(payouts, 'payout')} and ${pluralize(deposits, 'deposit')}`,
    href: '/attention',
  }
}

/** The tile reports missing exchange rates only for currency pairs that payouts use. */
async function ratesTile(service: Service, ages: ReadonlyMap<string, number>): Promise<OverviewTile> {
  const missing = await findUsedCorridors(service, (pair) => !ages.has(pair))
  const isNone = missing.length === 0
  return {
    kind: isNone ? (ages.size === 0 ? 'plain' : 'good') : 'bad',
    text: isNone
      ? ages.size === 0
        ? 'No rate is set'
        : 'Every pair in use has a rate'
      : `No rate for ${missing.join(', ')}`,
    detail: ages.size === 0 ? 'all rates' : `the oldest was set ${formatDuration(Math.max(...ages.values()))} ago`,
    href: '/prices',
  }
}

async function deliveriesTile(service: Service): Promise<OverviewTile> {
  const { total, delivered, retried } = await countRecentDeliveries(service)
  const share = total === 0 ? 1 : delivered / total
  return {
    kind: total === 0 ? 'plain' : share < minDeliveredShare ? 'warn' : 'good',
    text:
      total === 0 ? 'No webhook was sent yet' : `${(100 * share).toFixed(share === 1 ? 0 : 1)} % of webhooks delivered`,
    detail: total === 0 ? 'all endpoints' : `of the latest ${total}, ${retried} after a retry`,
    href: '/webhooks',
  }
}

const minDeliveredShare = 0.95

function auditTile(last: ReturnType<PageRequest['auditRun']['lastResult']>): OverviewTile {
  if (last === null)
    return { kind: 'plain', text: 'Books not audited here yet', detail: 'run the audit', href: '/books' }
  const { balanced } = last.result
  const text = balanced ? 'The books balance' : 'The books do not balance'
  return {
    kind: balanced ? 'good' : 'bad',
    text,
    detail: `as of ${last.at.slice(0, 19).replace('T', ' ')}`,
    href: '/books',
  }
}
