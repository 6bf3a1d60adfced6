import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { Measure, Target } from './measures.ts'
import type { Profile, ProfilePart } from './profile.ts'
import type { Figures } from './run-measure.ts'

/** A measured ratio and its target. */
export type Row = {
  readonly what: string
  readonly against: string
  /** By requests per second, or by another measured figure. */
  readonly ratio: number
  /** By CPU time per request; `null` if not measured. */
  readonly cpuRatio: number | null
  readonly reach: number
  readonly aim: number
  readonly by?: Target['by']
  /** Whether less is better. */
  readonly isCost: boolean
}

/** The rows of a measure: its first subject, or the one that a target names, compared with others. */
export function rowsOf({ title, targets, isCost = false }: Measure, figures: readonly Figures[]): Row[] {
  const named = (name: string | undefined) => {
    const match = figures.find((each) => each.name === name)
    if (!match) throw new Error(`${title}: there is no ${name}`)
    return match
  }
  return targets.map(({ of, ...target }) => {
    const [own, other] = [named(of ?? figures[0]?.name), named(target.against)]
    const [ratio, cpuRatio] = [own.rate / other.rate, other.cpuMicros / own.cpuMicros]
    return {
      what: of === undefined ? title : `${title}: ${of}`,
      ...target,
      ratio: isCost ? 1 / ratio : ratio,
      cpuRatio: isCost ? 1 / cpuRatio : cpuRatio,
      isCost,
    }
  })
}

/** A row about another figure than requests, where less is better. */
export function costRow(what: string, ratio: number, target: Target, cpuRatio: number | null = null): Row {
  return { what, ...target, ratio, cpuRatio, isCost: true }
}

/** Whether a row has failed: by the figure that counts, or by both. */
export function isShort(row: Row): boolean {
  return verdictsOn(row).every((verdict) => verdict === '' || verdict === 'short')
}

/** The verdicts on requests per second and on CPU time; empty for a figure that is missing or does not count. */
function verdictsOn({ ratio, cpuRatio, by, ...row }: Row): [requests: string, cpu: string] {
  return [
    by === 'cpu' ? '' : verdictOn(ratio, row),
    cpuRatio === null || by === 'requests' ? '' : verdictOn(cpuRatio, row),
  ]
}

function verdictOn(ratio: number, { reach, aim, isCost }: Pick<Row, 'reach' | 'aim' | 'isCost'>): string {
  const holds = (bound: number) => (isCost ? ratio <= bound : ratio >= bound)
  return holds(aim) ? 'aim' : holds(reach) ? 'reached' : 'short'
}

/** All ratios, each with its verdict. */
export function summaryTable(rows: readonly Row[]): string {
  return table(
    ['measure', 'against', 'requests/s', '', 'CPU', '', 'reach', 'aim'],
    rows.map((row) => {
      const [byRequests, byCpu] = verdictsOn(row)
      return [
        row.what,
        row.against,
        `× ${row.ratio.toFixed(2)}`,
        byRequests,
        row.cpuRatio === null ? '' : `× ${row.cpuRatio.toFixed(2)}`,
        byCpu,
        `${row.isCost ? '≤' : '≥'} ${short(row.reach)}`,
        short(row.aim),
      ]
    }),
  )
}

/** With two decimals at most. */
function short(bound: number): string {
  return String(Number(bound.toFixed(2)))
}

/** The medians of a measure. */
export function measureTable({ title }: Measure, figures: readonly Figures[]): string {
  return table(
    [title, 'requests/s', 'CPU µs', 'p50 ms', 'p99 ms', 'MiB'],
    figures.map(({ name, rate, cpuMicros, p50, p99, memoryMiB }) => [
      name,
      rate.toFixed(0),
      cpuMicros.toFixed(0),
      p50.toFixed(1),
      p99.toFixed(1),
      memoryMiB.toFixed(0),
    ]),
  )
}

/** The CPU time of a request: by phase, and by function. */
export function profileTables({ title }: Measure, { cpuMicros, phases, functions }: Profile): string {
  const parts = (heading: string, entries: readonly ProfilePart[]) =>
    table(
      [heading, 'share', 'µs'],
      entries.map(({ name, share, micros }) => [name, `${(share * 100).toFixed(1)} %`, micros.toFixed(1)]),
    )
  return `${parts(`${title}: ${cpuMicros.toFixed(0)} µs`, phases)}\n${parts('function', functions)}`
}

/** A Markdown table that is aligned in a terminal too. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((name, i) => Math.max(name.length, 3, ...rows.map((row) => row[i]?.length ?? 0)))
  const isText = (i: number) => i === 0 || rows.every((row) => !/\d/.test(row[i] ?? '') || / [a-z]/i.test(row[i] ?? ''))
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, i) => (isText(i) ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(' | ')} |`
  const rule = `|${widths.map((width, i) => (isText(i) ? '-'.repeat(width + 2) : `${'-'.repeat(width + 1)}:`)).join('|')}|`
  return `${[line(head), rule, ...rows.map(line)].join('\n')}\n`
}

/** Replaces a section of a Markdown file, or appends it. */
export function writeSection(path: string, title: string, lines: readonly string[]): void {
  const written = existsSync(path) ? readFileSync(path, 'utf8') : '# Measured\n'
  const sections = written.split(/^(?=## )/m).map((section) => section.trim())
  const at = sections.findIndex((section) => section.startsWith(`## ${title}\n`))
  sections[at === -1 ? sections.length : at] = `## ${title}\n\n${lines.join('\n').trim()}`
  writeFileSync(path, `${sections.join('\n\n')}\n`)
}
