import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { brokenLinks } from '../../support/docs.ts'
import { startMeasured } from './support/scrape.ts'

const root = join(import.meta.dirname, '../../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

type Rule = {
  alert: string
  expr: string
  labels: { severity: string }
  annotations: { summary: string; runbook_url: string }
}
type Panel = { title: string; targets: { expr: string }[] }

const rules = (parse(read('deploy/alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  ({ rules }) => rules,
)
const dashboard = JSON.parse(read('deploy/grafana-dashboard.json')) as {
  panels: Panel[]
  templating: { list: { query: string }[] }
}

/** Returns the metrics of an expression by their names in a scrape, without OpenMetrics suffixes. */
function metricsIn(expression: string): string[] {
  return [...expression.matchAll(/payout_gateway_\w+/g)].map(([name]) => name.replace(/_(total|bucket|sum|count)$/, ''))
}

const expressions = [
  ...rules.map(({ expr }) => expr),
  ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
  ...dashboard.templating.list.map(({ query }) => query),
]

test('the dashboard and the alerts use exactly the exported metrics, and the reference documents every exported metric', async () => {
  const { scrape } = await startMeasured('sqlite')
  const names = new Set([...(await scrape()).names].filter((name) => name.startsWith('payout_gateway_')))
  const usedMetrics = new Set(expressions.flatMap(metricsIn))

  expect([...usedMetrics].filter((name) => !names.has(name))).toEqual([])
  expect([...names].filter((name) => !usedMetrics.has(name))).toEqual([])
  const page = read('docs/reference/metrics-and-alerts.md')
  const section = page.slice(page.indexOf('\n## Metrics\n'), page.indexOf('\n### Alerts\n'))
  const missing = [...names].filter((name) => !section.includes(`\`${name.replace('payout_gateway_', '')}`))
  expect(missing).toEqual([])
})

test('each alert links to a separate section of the runbook', () => {
  const page = read('docs/reference/metrics-and-alerts.md')
  const links = rules.map(({ annotations }) => `[x](${annotations.runbook_url.replace('docs/', '')})`).join('\n')

  const faultsOf = (alerts: string) =>
    brokenLinks({ 'docs/reference/metrics-and-alerts.md': page, 'docs/alerts.md': alerts }, () => true).filter(
      (fault) => fault.startsWith('docs/alerts.md'),
    )

  expect(rules.length).toBeGreaterThan(10)
  expect(faultsOf(links)).toEqual([])
  expect(faultsOf('[x](reference/metrics-and-alerts.md#no-alert)')).not.toEqual([])
  const runbooks = rules.map(({ annotations }) => annotations.runbook_url)
  expect(new Set(runbooks).size).toBe(rules.length)
  expect(rules.filter(({ labels }) => !['page', 'ticket'].includes(labels.severity))).toEqual([])
  const headings = [
    ...(read('docs/reference/metrics-and-alerts.md')
      .split('\n### Alerts\n')[1]
      ?.split('\n## ')[0]
      ?.matchAll(/^#### /gm) ?? []),
  ]
  expect(headings).toHaveLength(rules.length)
})
