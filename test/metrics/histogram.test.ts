import { Histogram, Registry } from 'prom-client'
import { expect, test } from 'vitest'
import { keyedHistogram } from '../../src/metrics/histogram.ts'
import type { Snapshot } from '../../src/metrics/snapshot.ts'
import { exposed } from '../../src/metrics/snapshot.ts'

const [name, help, buckets] = ['seconds', 'How long.', [0.5, 1, 2.5]] as const

test("a histogram that finds its series by a text is scraped as prom-client's own", async () => {
  const registry = new Registry()
  const labelNames = ['route', 'status']
  const theirs = new Histogram({ name, help, buckets: [...buckets], labelNames, registers: [registry] })
  const ours = keyedHistogram<{ route: string; status: number }>({
    ...{ name, help, buckets },
    keyOf: ({ route, status }) => `${route} ${status}`,
    labelsOf: (labels) => labels,
  })
  // None, on a bound, between two, beyond all.
  const values = [0, 0.5, 0.50001, 1, 2.4, 2.5, 2.6, 1_000, 0.1]
  for (const [place, value] of values.entries()) {
    const labels = { route: place % 2 === 0 ? 'GET /' : 'POST /"\n', status: place % 3 === 0 ? 200 : 404 }
    theirs.observe(labels, value)
    ours.observe(labels, value)
  }

  const theirSnapshot = (await registry.getMetricsAsJSON()) as unknown as Snapshot
  const [own, expected] = [await exposed([[ours.snapshot()]]), await exposed([theirSnapshot])]
  expect(own).toEqual(expected)
  // Of two processes as well.
  expect(await exposed([[ours.snapshot()], theirSnapshot])).toEqual(await exposed([theirSnapshot, theirSnapshot]))
})
