import type { DailySum } from '../modules/payout-statistics/read-statistics.ts'
import type { Html } from '../server/pages/html.ts'
import type { ChartStyle } from './charts.ts'
import { chartValue, compactNumber, lineChart, stackedBarChart } from './charts.ts'
import type { PageRequest } from './console-page.ts'
import { assetsOf } from './payout-figures.ts'
import { groupThousands } from './phrases.ts'

const outcomes = [
  ['COMPLETED', 'Completed', 'good'],
  ['FAILED', 'Failed', 'bad'],
  ['RETURNED', 'Returned', 'warn'],
] as const

export function outcomeChart({ urlFor }: PageRequest, sums: readonly DailySum[], days: readonly string[]): Html {
  const series = outcomes.map(([status, name, style]) => ({
    ...{ name, style, href: urlFor('/payouts', { status }) },
    values: valuesByDay(
      days,
      sums.filter((sum) => sum.status === status),
      ({ payoutCount }) => payoutCount,
    ),
  }))
  const totals = series.map(
    ({ name, values }) => `${groupThousands(values.reduce((one, other) => one + other, 0))} ${name.toLowerCase()}`,
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

export function volumeChart({ urlFor }: PageRequest, sums: readonly DailySum[], days: readonly string[]): Html {
  const created = sums.filter(({ status }) => status === 'PROCESSING')
  const series = assetsOf(sums).map((asset, place) => ({
    ...{ name: asset, style: assetStyles[place] ?? 'accent', href: urlFor('/payouts', { asset }) },
    values: valuesByDay(
      days,
      created.filter(({ assetCode }) => assetCode === asset),
      ({ amount }) => chartValue(amount),
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
  sums: readonly DailySum[],
  measure: (sum: DailySum) => number,
): readonly number[] {
  const values = new Map<string, number>()
  for (const sum of sums) values.set(sum.day, (values.get(sum.day) ?? 0) + measure(sum))
  return days.map((day) => values.get(day) ?? 0)
}
