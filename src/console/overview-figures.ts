import { formatAmount, oneUnit } from '../core/money/amount.ts'
import { merchantsAfter } from '../modules/merchants/repository.ts'
import { estimateQuantile } from '../modules/payout-statistics/duration-buckets.ts'
import type { StatisticsSum } from '../modules/payout-statistics/read-statistics.ts'
import { countUncountedEvents, readStatistics } from '../modules/payout-statistics/read-statistics.ts'
import type { PayoutStatus } from '../modules/payouts/payout.ts'
import { payoutAssetCodes } from '../modules/payouts/payout.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import type { ChartStyle } from './charts.ts'
import { compactNumber, lineChart, stackedBarChart } from './charts.ts'
import { emptyValue, numberColumn, table } from './components.ts'
import type { PageRequest } from './console-page.ts'
import { formatDuration, pluralize } from './phrases.ts'

const dayMs = 86_400_000
const shownDays = 30

/** Shows today and the last 30 days from the payout statistics. */
export async function overviewFigures(request: PageRequest): Promise<Html> {
  const { service } = request
  const now = service.wallClock()
  const days = Array.from({ length: shownDays }, (_, place) => dayOf(now - (shownDays - 1 - place) * dayMs))
  const today = days.at(-1) ?? ''
  const sums = (await readStatistics(service, days[0] ?? today)).filter(({ day }) => day <= today)
  const uncounted = await countUncountedEvents(service)
  if (sums.length === 0) return uncounted > 0 ? uncountedNotice(uncounted) : emptyState(request)
  return html`<div class="charts">
${outcomeChart(request, sums, days)}${volumeChart(request, sums, days)}</div>
${corridorTable(request, sums, today)}
<p class="faint">Amounts are in the stablecoin that was paid from, of payouts created in the period. Success is the share of completed payouts among the completed and failed ones.
A time is at most 19 % off. ${uncounted === 0 ? 'Every event is counted.' : `${pluralize(uncounted, 'event')} not counted yet.`}</p>
`
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

function uncountedNotice(uncounted: number): Html {
  return html`<p class="empty">${pluralize(uncounted, 'event')} not counted yet. Figures appear here when the service has counted them.</p>\n`
}

/** Says what to do first. */
async function emptyState({ service, urlFor }: PageRequest): Promise<Html> {
  const [merchant] = await merchantsAfter(service.db, { after: '', limit: 1 })
  if (merchant === undefined) {
    return html`<section class="start"><h2>No merchant yet</h2><p>Create one, which shows its API key: <code>npm run -s cli -- merchant create &lt;name&gt;</code></p></section>\n`
  }
  return html`<section class="start"><h2>No payouts in the last 30 days</h2><p>For the first payout, <a href="${urlFor('/prices')}">set a rate</a>, fund a wallet
(<code>npm run -s cli -- deposit &lt;wallet id&gt; &lt;amount&gt;</code>), and pay with a merchant’s API key. The figures appear here within a minute.</p></section>\n`
}

type Figures = {
  readonly created: number
  readonly volume: bigint
  readonly fees: bigint
  readonly completed: number
  readonly failed: number
  readonly durations: ReadonlyMap<number, number>
}

function figuresOf(sums: readonly StatisticsSum[]): Figures {
  const ofStatus = (wanted: PayoutStatus) => sums.filter(({ status }) => status === wanted)
  const count = (some: readonly StatisticsSum[]) => some.reduce((total, { payoutCount }) => total + payoutCount, 0)
  const created = ofStatus('PROCESSING')
  const completed = ofStatus('COMPLETED')
  const durations = new Map<number, number>()
  for (const { durationBucket, payoutCount } of completed)
    durations.set(durationBucket, (durations.get(durationBucket) ?? 0) + payoutCount)
  return {
    created: count(created),
    volume: created.reduce((total, { amount }) => total + amount, 0n),
    fees: created.reduce((total, { fee }) => total + fee, 0n),
    completed: count(completed),
    failed: count(ofStatus('FAILED')),
    durations,
  }
}

/** A row for each stablecoin, and below it one for each currency that it was paid out in. */
function corridorTable({ urlFor }: PageRequest, sums: readonly StatisticsSum[], today: string): Html {
  const rows = assetsOf(sums).flatMap((asset) => {
    const ofAsset = sums.filter(({ assetCode }) => assetCode === asset)
    const currencies = [...new Set(ofAsset.map(({ recipientCurrency }) => recipientCurrency))].toSorted()
    const total = html`<a href="${urlFor('/payouts', { asset })}"><strong>${asset}</strong></a>`
    return [
      figureCells(total, ofAsset, today),
      ...currencies.map((currency) => {
        const link = html`<a class="part" href="${urlFor('/payouts', { asset, currency })}">to ${currency}</a>`
        return figureCells(
          link,
          ofAsset.filter(({ recipientCurrency }) => recipientCurrency === currency),
          today,
        )
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
${table('Payouts by currency', columns, rows, '')}`
}

function figureCells(name: Html, sums: readonly StatisticsSum[], today: string): readonly Html[] {
  const [all, ofToday] = [figuresOf(sums), figuresOf(sums.filter(({ day }) => day === today))]
  return [
    name,
    moneyText(ofToday.volume),
    html`${grouped(ofToday.created)}`,
    moneyText(all.volume),
    html`${grouped(all.created)}`,
    successText(all),
    timeText(all, 0.5),
    timeText(all, 0.95),
    moneyText(all.fees),
  ]
}

function successText({ completed, failed }: Figures): Html {
  if (completed + failed === 0) return emptyValue
  return html`${((100 * completed) / (completed + failed)).toFixed(1)} %`
}

function timeText({ durations }: Figures, share: number): Html {
  const durationMs = estimateQuantile(durations, share)
  return durationMs === null
    ? emptyValue
    : html`${durationMs <= 1_000 ? '< 1 second' : formatDuration(durationMs / 1_000)}`
}

function moneyText(amount: bigint): Html {
  const [whole = '', places = ''] = formatAmount(amount).split('.')
  return html`<span class="money">${grouped(BigInt(whole))}.${places.slice(0, 2)}</span>`
}

function grouped(count: number | bigint): string {
  return count.toLocaleString('en-US')
}

function assetsOf(sums: readonly StatisticsSum[]): readonly string[] {
  return payoutAssetCodes.filter((asset) => sums.some(({ assetCode }) => assetCode === asset))
}

const outcomes = [
  ['COMPLETED', 'Completed', 'good'],
  ['FAILED', 'Failed', 'bad'],
  ['RETURNED', 'Returned', 'warn'],
] as const

function outcomeChart({ urlFor }: PageRequest, sums: readonly StatisticsSum[], days: readonly string[]): Html {
  const series = outcomes.map(([status, name, style]) => ({
    ...{ name, style, href: urlFor('/payouts', { status }) },
    values: valuesByDay(
      days,
      sums.filter((sum) => sum.status === status),
      ({ payoutCount }) => payoutCount,
    ),
  }))
  const totals = series.map(
    ({ name, values }) => `${grouped(values.reduce((one, other) => one + other, 0))} ${name.toLowerCase()}`,
  )
  return stackedBarChart({
    id: 'outcomes',
    title: 'Payouts by outcome',
    description: `Payouts of each of the last 30 days by the outcome that they reached on it: ${totals.join(', ')}.`,
    days,
    series,
    format: compactNumber,
  })
}

const assetStyles: readonly ChartStyle[] = ['accent', 'busy', 'good', 'warn']

function volumeChart({ urlFor }: PageRequest, sums: readonly StatisticsSum[], days: readonly string[]): Html {
  const created = sums.filter(({ status }) => status === 'PROCESSING')
  const series = assetsOf(sums).map((asset, place) => ({
    ...{ name: asset, style: assetStyles[place] ?? 'accent', href: urlFor('/payouts', { asset }) },
    values: valuesByDay(
      days,
      created.filter(({ assetCode }) => assetCode === asset),
      ({ amount }) => Number(amount / (oneUnit / 100n)) / 100,
    ),
  }))
  const latest = series.map(({ name, values }) => `${compactNumber(values.at(-1) ?? 0)} ${name}`)
  return lineChart({
    id: 'volume',
    title: 'Volume',
    description: `The amount of the payouts created on each of the last 30 days, by stablecoin. Today: ${latest.join(', ')}.`,
    days,
    series,
    format: compactNumber,
  })
}

function valuesByDay(
  days: readonly string[],
  sums: readonly StatisticsSum[],
  measure: (sum: StatisticsSum) => number,
): readonly number[] {
  const values = new Map<string, number>()
  for (const sum of sums) values.set(sum.day, (values.get(sum.day) ?? 0) + measure(sum))
  return days.map((day) => values.get(day) ?? 0)
}
