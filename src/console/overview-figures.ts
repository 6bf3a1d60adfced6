import { merchantsAfter } from '../modules/merchants/repository.ts'
import type { CorridorSum, Coverage, PeriodStatistics } from '../modules/payout-statistics/read-statistics.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { numberColumn, table } from './components.ts'
import type { PageRequest } from './console-page.ts'
import { outcomeChart, volumeChart } from './overview-charts.ts'
import { assetsOf, figureCells, figuresOf, moneyText, successText, timeText } from './payout-figures.ts'
import { groupThousands, pluralize } from './phrases.ts'

const dayMs = 86_400_000
const shownDays = 30

/** `days` are the days of the overview in UTC, oldest first. */
export type CountedPeriod = { readonly days: readonly string[]; readonly coverage: Coverage }

export function lastDays(now: number): readonly string[] {
  return Array.from({ length: shownDays }, (_, place) => dayOf(now - (shownDays - 1 - place) * dayMs))
}

export async function overviewFigures(request: PageRequest, { days, coverage }: CountedPeriod): Promise<Html> {
  const { service, readPeriod } = request
  const before = lastDays(service.wallClock() - shownDays * dayMs)
  const statistics = await readPeriod(service, { before, period: days })
  const { uncountedEvents: uncounted } = coverage
  if (statistics.sums.length === 0) return uncounted > 0 ? uncountedNotice(coverage) : emptyState(request)
  return html`${figureCards(request, statistics)}<div class="charts">
${outcomeChart(request, statistics.daily, days)}${volumeChart(request, statistics.daily, days)}</div>
${corridorTable(request, statistics)}
<p class="faint">Amounts are in the stablecoin that was paid from, of payouts created in the period. Success is the share of completed payouts among the completed and failed ones.
A time is at most 19 % off. ${uncounted === 0 ? 'Every event is counted.' : `${pluralize(uncounted, 'event')} not counted yet.`}</p>
`
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

function figureCards({ urlFor }: PageRequest, { sums, before, ofToday }: PeriodStatistics): Html {
  const volumes = assetsOf(sums).map((asset) => {
    const ofAsset = (some: readonly CorridorSum[]) =>
      figuresOf(some.filter(({ assetCode }) => assetCode === asset)).volume
    const volumeBefore = before.reduce((total, each) => (each.assetCode === asset ? total + each.amount : total), 0n)
    const change = changeText(Number(ofAsset(sums)), Number(volumeBefore))
    const detail = html`${moneyText(ofAsset(ofToday))} today${change}`
    return figureCard(urlFor('/payouts', { asset }), `${asset} volume`, { value: moneyText(ofAsset(sums)), detail })
  })
  const figures = figuresOf(sums)
  const createdBefore = before.reduce((total, { payoutCount }) => total + payoutCount, 0)
  return html`<h2>The last 30 days <small class="faint">compared with the 30 days before</small></h2>
<ul class="cards">
${volumes}${figureCard(urlFor('/payouts'), 'Payouts', {
  value: html`${groupThousands(figures.created)}`,
  detail: html`${groupThousands(figuresOf(ofToday).created)} today${changeText(figures.created, createdBefore)}`,
})}${figureCard(urlFor('/payouts', { status: 'FAILED' }), 'Success rate', {
  value: successText(figures),
  detail: html`${groupThousands(figures.failed)} failed, ${groupThousands(figures.returned)} returned`,
})}${figureCard(urlFor('/payouts', { status: 'COMPLETED' }), 'Median time', {
  value: timeText(figures, 0.5),
  detail: html`95 % within ${timeText(figures, 0.95)}`,
})}</ul>
`
}

function figureCard(href: string, name: string, { value, detail }: { value: Html; detail: Html }): Html {
  return html`<li><a href="${href}">${name}</a><strong>${value}</strong><p>${detail}</p></li>\n`
}

function changeText(value: number, valueBefore: number): Html {
  if (valueBefore === 0) return html``
  const percent = Math.round((100 * (value - valueBefore)) / valueBefore)
  const sign = percent < 0 ? '−' : '+'
  return html` · <span class="money">${sign}${groupThousands(Math.abs(percent))} %</span>`
}

export function uncountedNotice({ uncountedEvents }: Coverage): Html {
  return html`<p class="empty">${pluralize(uncountedEvents, 'event')} not counted yet. Figures appear here when the service has counted them.</p>\n`
}

async function emptyState({ service, urlFor }: PageRequest): Promise<Html> {
  const [merchant] = await merchantsAfter(service.db, { after: '', limit: 1 })
  if (merchant === undefined) {
    return html`<section class="start"><h2>No merchant yet</h2><p>Create one, which shows its API key: <code>npm run -s cli -- merchant create &lt;name&gt;</code></p></section>\n`
  }
  return html`<section class="start"><h2>No payouts in the last 30 days</h2><p>For the first payout, <a href="${urlFor('/prices')}">set a rate</a>, fund a wallet
(<code>npm run -s cli -- deposit &lt;wallet id&gt; &lt;amount&gt;</code>), and pay with a merchant’s API key. The figures appear here within a minute.</p></section>\n`
}

function corridorTable({ urlFor }: PageRequest, { sums, ofToday }: PeriodStatistics): Html {
  const figuresWhere = (matches: (sum: CorridorSum) => boolean) => ({
    sums: sums.filter(matches),
    sumsOfToday: ofToday.filter(matches),
    shares: [0.5, 0.95],
  })
  const rows = assetsOf(sums).flatMap((asset) => {
    const ofAsset = sums.filter(({ assetCode }) => assetCode === asset)
    const currencies = [...new Set(ofAsset.map(({ recipientCurrency }) => recipientCurrency))].toSorted()
    const total = html`<a href="${urlFor('/payouts', { asset })}"><strong>${asset}</strong></a>`
    return [
      figureCells(
        total,
        figuresWhere(({ assetCode }) => assetCode === asset),
      ),
      ...currencies.map((currency) => {
        const link = html`<a class="part" href="${urlFor('/payouts', { asset, currency })}">to ${currency}</a>`
        const isOfCorridor = (sum: CorridorSum) => sum.assetCode === asset && sum.recipientCurrency === currency
        return figureCells(link, figuresWhere(isOfCorridor))
      }),
    ]
  })
  const columns = [
    'Currency',
    ...[
      'Volume today',
      'Payouts today',
      'Volume, 30 days',
      'Payouts',
      'Success',
      'Median time',
      '95 % within',
      'Fees',
    ].map(numberColumn),
  ]
  return html`<h2>Payouts today and in the last 30 days</h2>
<div class="compact">${table('Payouts by currency', columns, rows, '')}</div>`
}
