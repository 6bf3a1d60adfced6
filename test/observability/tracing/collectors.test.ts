import type { ServerResponse } from 'node:http'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createTracer } from '../../../src/observability/tracing/trace-process.ts'
import { payoutBody } from '../../support/app.ts'
import { freePort } from '../../support/free-port.ts'
import { startService } from '../../support/process.ts'
import { placeFor } from '../metrics/support/scrape.ts'
import { startCollector } from './support/collector.ts'
import { askAt, spanLike } from './support/traced.ts'

const pay = { ...payoutBody, amount: '0.01' }

async function startAt(endpoint: string) {
  const place = await placeFor('sqlite', { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })
  const service = await startService(place)
  return { ...service, ask: askAt(service.address) }
}

const bad: readonly [string, (response: ServerResponse) => unknown][] = [
  ['never responds', () => {}],
  ['never ends its response', (response) => response.writeHead(200).write('{')],
  ['does not respond with HTTP', (response) => response.socket?.end('nonsense\r\n\r\n')],
  ['does not respond with JSON', (response) => response.writeHead(200).end('<html>')],
  ['fails', (response) => response.writeHead(500, { 'content-type': 'text/html' }).end('<html>secret</html>')],
]

describe.each(bad)('a collector that %s', (_, reply) => {
  test('delays neither requests nor the shutdown', async () => {
    const collector = await startCollector(reply)
    const { ask, child, ended } = await startAt(collector.endpoint)
    expect((await ask('/api/payouts/banks', pay)).status).toBe(200)
    await expect.poll(() => collector.received.length).toBeGreaterThan(0)
    expect((await ask('/api/payouts/banks', pay)).status).toBe(200)

    child.kill('SIGTERM')
    const { code, stdout } = await ended
    // By itself: a process that runs longer than nine seconds is killed.
    expect(code).toBe(0)
    expect(stdout).toContain('"msg":"shutdown is complete"')
    expect(stdout).not.toContain('secret')
  })
})

test('a collector that starts late receives the later spans, and its absence is logged at most once', async () => {
  const port = await freePort()
  const { ask, child, ended } = await startAt(`http://127.0.0.1:${port}`)
  expect((await ask('/api/payouts/banks', pay)).status).toBe(200)
  const { spans } = await startCollector(undefined, { port })
  await expect
    .poll(async () => {
      expect((await ask('/api/customers')).status).toBe(200)
      return spans().map(({ name }) => name)
    })
    .toContain('GET /api/customers')

  child.kill('SIGTERM')
  const { code, stdout } = await ended
  expect(code).toBe(0)
  expect(
    stdout.split('\n').filter((line) => line.includes('span export failed, spans were dropped')).length,
  ).toBeLessThan(2)
})

test('spans are buffered up to a limit while the collector does not respond, and then dropped', async () => {
  const faults: unknown[] = []
  const collector = await startCollector(() => {})
  vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', collector.endpoint)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { tracer, end } = createTracer({
    ...{ version: '1', role: 'service', sampler: 'parentbased_always_on', ratio: 1, timeoutMs: 200 },
    onError: (error) => faults.push(error),
  })
  for (let count = 0; count < 10_000; count++) tracer.startSpan(`span ${count}`).end()
  await end()

  expect(collector.spans().length).toBeGreaterThan(0)
  expect(collector.spans().length).toBeLessThanOrEqual(2_048 + 256)
  await expect.poll(() => faults.length).toBeGreaterThan(0)
})

test('the remaining spans are exported at shutdown', async () => {
  const collector = await startCollector()
  const { ask, child, ended } = await startAt(collector.endpoint)
  await ask('/api/customers')
  child.kill('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
  await spanLike(collector.spans, { name: 'GET /api/customers' })
})
