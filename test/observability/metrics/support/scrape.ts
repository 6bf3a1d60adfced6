import { onTestFinished } from 'vitest'
import { everyEngine, newDatabase } from '../../../support/app.ts'
import { freePort } from '../../../support/free-port.ts'
import type { TestInstallation } from '../../../support/process.ts'
import { cli, createDemoInstallation, createEmptyInstallation, startService } from '../../../support/process.ts'

/** A scrape: the value of each series, and the names of all metrics. */
export type Scrape = {
  readonly text: string
  readonly type: string | null
  readonly names: ReadonlySet<string>
  readonly series: ReadonlyMap<string, number>
}

/** Parses OpenMetrics and rejects invalid text. */
export function readScrape(text: string, type: string | null = null): Scrape {
  const lines = text.split('\n')
  if (lines.pop() !== '' || lines.pop() !== '# EOF') throw new Error('the text does not end as OpenMetrics does')
  const names = new Set<string>()
  const series = new Map<string, number>()
  for (const line of lines) {
    const [, keyword, of = ''] = /^# (HELP|TYPE) (\S+) \S.*$/.exec(line) ?? []
    if (keyword) {
      names.add(of)
      continue
    }
    const [, name, value] = /^([a-z_0-9]+(?:\{(?:[a-z_]+="(?:[^"\\]|\\.)*",?)+\})?) (\S+)$/.exec(line) ?? []
    if (name === undefined || series.has(name)) throw new Error(`no sample, or one that is there twice: ${line}`)
    series.set(name, Number(value))
  }
  return { text, type, names, series }
}

/** The Accept header of Prometheus 3. */
const prometheusAccept =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2'

/** Returns the sum of the series of a name with all of these labels. */
export function sumOf({ series }: Scrape, name: string, labels: Readonly<Record<string, string>> = {}): number {
  const expectedLabels = Object.entries(labels).map(([label, value]) => `${label}="${value}"`)
  return [...series]
    .filter(
      ([each]) =>
        each.split('{')[0] === `payout_gateway_${name}` && expectedLabels.every((label) => each.includes(label)),
    )
    .reduce((sum, [, value]) => sum + value, 0)
}

/** The process models of the measured service. */
export const everyModel = everyEngine.flatMap((engine) => [[engine, '1'] as const, [engine, '2'] as const])

/** Starts a service with metrics on the demo database. */
export async function startMeasured(engine: 'sqlite' | 'postgres', environment: Record<string, string> = {}) {
  const METRICS_PORT = String(await freePort())
  const place = await placeFor(engine, { METRICS_PORT, ...environment })
  const service = await startService(place)
  const scrape = async (): Promise<Scrape> => {
    const response = await fetch(`http://127.0.0.1:${METRICS_PORT}/metrics`, { headers: { accept: prometheusAccept } })
    return readScrape(await response.text(), response.headers.get('content-type'))
  }
  return { ...service, place, scrape, metricsPort: METRICS_PORT }
}

/** Creates a demo database and the environment of a service on it. */
export async function placeFor(
  engine: 'sqlite' | 'postgres',
  environment: Record<string, string>,
): Promise<TestInstallation> {
  if (engine === 'sqlite') return createDemoInstallation(environment)
  const { url, remove } = await newDatabase('postgres')
  onTestFinished(remove)
  const place = await createEmptyInstallation({ DATABASE_URL: url, ...environment })
  await cli(place, 'demo')
  return place
}
