import { scaleBand, scaleLinear, scalePoint } from 'd3-scale'
import { line } from 'd3-shape'
import { oneUnit } from '../core/money/amount.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { numberColumn, table } from './components.ts'

/** Fill patterns and dashed lines distinguish the series of a chart for people who cannot see colours. */
type ChartSeries = {
  readonly name: string
  readonly style: ChartStyle
  readonly values: readonly number[]
  /** Exact values for the table of figures. By default, the table shows the rounded values of the axis. */
  readonly figures?: readonly Html[]
  readonly href?: string
}

export type ChartStyle = 'good' | 'bad' | 'warn' | 'accent' | 'busy'

type DailyChart = {
  readonly id: string
  readonly title: string
  readonly description: string
  /** Days in UTC, for example `2026-03-01`. */
  readonly days: readonly string[]
  readonly series: readonly ChartSeries[]
  readonly format: (value: number) => string
}

const [width, height] = [460, 190]
const plot = { left: 40, right: width - 6, top: 10, bottom: height - 24 }

export function stackedBarChart(chart: DailyChart): Html {
  const { days, series, id } = chart
  const x = scaleBand(days, [plot.left, plot.right]).paddingInner(0.3).paddingOuter(0.1)
  const totals = days.map((_, day) => series.reduce((sum, { values }) => sum + (values[day] ?? 0), 0))
  const y = valueScale(Math.max(...totals))
  const bars = days.map((day, place) => {
    let base = 0
    const parts = series.map(({ name, style, values }) => {
      const value = values[place] ?? 0
      const [top, bottom] = [y(base + value), y(base)]
      base += value
      return value === 0
        ? html``
        : html`<rect x="${rounded(x(day) ?? 0)}" y="${rounded(top)}" width="${rounded(x.bandwidth())}" height="${rounded(bottom - top)}" fill="url(#${id}-${style})"><title>${shortDay(day)}: ${value} ${name.toLowerCase()}</title></rect>`
    })
    return html`<g>${parts}</g>\n`
  })
  const patterns = series.map(({ style }) => fillPattern(id, style))
  const middle = (day: string) => (x(day) ?? 0) + x.bandwidth() / 2
  return chartFigure(chart, html`<defs>${patterns}</defs>${axes(chart, y, middle)}${bars}`)
}

export function lineChart(chart: DailyChart): Html {
  const { days, series } = chart
  const x = scalePoint(days, [plot.left, plot.right]).padding(0.3)
  const y = valueScale(Math.max(...series.flatMap(({ values }) => values)))
  const lines = series.map(({ style, values }) => {
    const last = values.length - 1
    const part = (from: number, to: number) =>
      line<number>(
        (_, place) => rounded(x(days[from + place] ?? '') ?? 0),
        (value) => rounded(y(value)),
      )(values.slice(from, to + 1)) ?? ''
    const attributes = html`fill="none" stroke-width="2" stroke-linejoin="round"${dashes[style]}`
    // The last day of the chart is today, so the last part of the line is drawn as incomplete.
    return html`<path class="line ${style}" d="${part(0, last - 1)}" ${attributes}/><path class="line ${style} unfinished" d="${part(last - 1, last)}" ${attributes}/><circle class="fill ${style}" cx="${rounded(x(days[last] ?? '') ?? 0)}" cy="${rounded(y(values[last] ?? 0))}" r="3"/>\n`
  })
  return chartFigure(chart, html`${axes(chart, y, (day) => x(day) ?? 0)}${lines}`)
}

function valueScale(max: number) {
  return scaleLinear([0, Math.max(max, 1)], [plot.bottom, plot.top]).nice(4)
}

function rounded(coordinate: number): number {
  return Math.round(coordinate * 10) / 10
}

const dashes: Readonly<Record<ChartStyle, Html>> = {
  accent: html``,
  good: html``,
  busy: html` stroke-dasharray="6 4"`,
  warn: html` stroke-dasharray="2 4"`,
  bad: html` stroke-dasharray="9 3 2 3"`,
}

const fillMarks: Readonly<Record<ChartStyle, Html>> = {
  good: html``,
  accent: html``,
  bad: html`<path d="M-1 5 5 -1M2 8 8 2" stroke-width="1.4" class="gap"/>`,
  warn: html`<circle cx="3" cy="3" r="1.3" class="gap-fill"/>`,
  busy: html`<path d="M0 3H6" stroke-width="1.4" class="gap"/>`,
}

function fillPattern(id: string, style: ChartStyle): Html {
  return html`<pattern id="${id}-${style}" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" class="fill ${style}"/>${fillMarks[style]}</pattern>`
}

function axes({ days, format }: DailyChart, y: ReturnType<typeof valueScale>, x: (day: string) => number): Html {
  const values = y.ticks(4)
  const labelled = days.filter((_, place) => (days.length - 1 - place) % 7 === 0)
  return html`<g class="axis" aria-hidden="true">${values.map(
    (value) =>
      html`<path class="grid" d="M${plot.left} ${rounded(y(value))}H${plot.right}"/><text x="${plot.left - 6}" y="${rounded(y(value) + 3.5)}" text-anchor="end">${format(value)}</text>`,
  )}${labelled.map(
    (day) =>
      // On phones, text is larger. The label of the last day is right-aligned so that it fits.
      html`<text x="${day === days.at(-1) ? plot.right : rounded(x(day))}" y="${height - 7}" text-anchor="${day === days.at(-1) ? 'end' : 'middle'}">${shortDay(day)}</text>`,
  )}</g>\n`
}

function chartFigure(chart: DailyChart, drawing: Html): Html {
  const { id, title, description, days, series, format } = chart
  const rows = days
    .map((day, place) => [
      html`<time datetime="${day}">${day}</time>`,
      ...series.map(({ values, figures }) => figures?.[place] ?? html`${format(values[place] ?? 0)}`),
    ])
    .reverse()
  return html`<figure class="chart"><figcaption><strong>${title}</strong>${legend(chart)}</figcaption>
<svg viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="${id}-title ${id}-description">
<title id="${id}-title">${title}</title><desc id="${id}-description">${description}</desc>
${drawing}</svg>
<details><summary>Figures</summary>
${table(title, ['Day', ...series.map(({ name }) => numberColumn(name))], rows, 'There are no figures.')}</details></figure>
`
}

function legend({ id, series }: DailyChart): Html {
  return html`<span class="legend">${series.map(({ name, style, href }) => {
    const sample = html`<svg viewBox="0 0 12 12" width="12" height="12" aria-hidden="true"><defs>${fillPattern(`${id}-legend`, style)}</defs><rect width="12" height="12" rx="2" fill="url(#${id}-legend-${style})"/></svg> `
    return href === undefined ? html`<span>${sample}${name}</span>` : html`<a href="${href}">${sample}${name}</a>`
  })}</span>`
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

function shortDay(day: string): string {
  return `${Number(day.slice(8))} ${months[Number(day.slice(5, 7)) - 1]}`
}

/** Converts an amount in 10⁻⁸ units to a number with two decimal places. */
export function chartValue(amount: bigint): number {
  return Number(amount / (oneUnit / 100n)) / 100
}

/** Formats a number as 1.2k or 35M, for example. */
export function compactNumber(value: number): string {
  for (const [divisor, unit] of units) {
    if (value >= divisor) return `${Math.round((value / divisor) * 10) / 10}${unit}`
  }
  return `${Math.round(value * 100) / 100}`
}

const units = [
  [1e9, 'B'],
  [1e6, 'M'],
  [1e3, 'k'],
] as const
