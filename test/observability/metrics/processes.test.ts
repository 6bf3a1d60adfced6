import { randomUUID } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { demoApiKey } from '../../../src/demo/demo.ts'
import { payoutBody } from '../../support/app.ts'
import { cli, startService } from '../../support/process.ts'
import { isAlive, processesOf } from '../../support/processes.ts'
import type { Scrape } from './support/scrape.ts'
import { everyModel, startMeasured, sumOf } from './support/scrape.ts'

const headers = { 'x-api-key': demoApiKey, 'content-type': 'application/json' }
const patience = { timeout: 20_000 }

type Measured = Awaited<ReturnType<typeof startMeasured>>

/** Sends `count` requests over separate connections, so any process may respond. */
async function ask({ address }: Measured, times: number, path: string, init: RequestInit = {}): Promise<number[]> {
  const one = async () => {
    const response = await fetch(address + path, {
      ...init,
      headers: { ...headers, connection: 'close', ...init.headers },
    })
    await response.arrayBuffer()
    return response.status
  }
  return Promise.all(Array.from({ length: times }, one))
}

const post = (body: object, more: Record<string, string> = {}) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: more,
})

const countResponses = (scrape: Scrape, route: string, status: string) =>
  sumOf(scrape, 'http_request_duration_seconds_count', { route, status })

describe.each(everyModel)('a service on %s with WORKERS=%s', (engine, workers) => {
  test('exports exact counts of the requests of all its processes', async () => {
    const service = await startMeasured(engine, { WORKERS: workers })
    const { scrape, place } = service
    const manifest = join(place.folder, 'manifest.json')
    await writeFile(manifest, JSON.stringify({ named: 'query Trusted { merchant { name } }' }))
    expect((await cli(place, 'documents', 'add', manifest)).code).toBe(0)
    const before = await scrape()

    const key = randomUUID()
    const pay = post({ ...payoutBody, amount: '0.01' })
    await ask(service, 7, '/api/customers')
    await ask(service, 3, `/api/customers/${randomUUID()}`)
    await ask(service, 2, '/api/wallets?currency=nothing', { headers: { 'x-api-key': 'wrong' } })
    expect(new Set(await ask(service, 5, '/api/payouts/banks', pay))).toEqual(new Set([200]))
    // One payout for any number of retries.
    for (let time = 0; time < 3; time++) {
      await ask(service, 1, '/api/payouts/banks', { ...pay, headers: { 'idempotency-key': key } })
    }
    await ask(service, 4, '/graphql', post({ query: 'query Callers { merchant { name } }' }))
    await ask(service, 6, '/graphql', post({ documentId: 'named' }))

    const counted = async () => {
      const metrics = await scrape()
      const grown = (name: string, labels: Record<string, string> = {}) =>
        sumOf(metrics, name, labels) - sumOf(before, name, labels)
      return {
        customers: countResponses(metrics, 'GET /api/customers', '200'),
        missing: countResponses(metrics, 'GET /api/customers/:customerId', '404'),
        strangers: countResponses(metrics, 'GET /api/wallets', '401'),
        notFound: sumOf(metrics, 'refusals_total', { code: 'RESOURCE_NOT_FOUND' }),
        paying: countResponses(metrics, 'POST /api/payouts/banks', '200'),
        payouts: grown('payouts_created_total'),
        nameless: sumOf(metrics, 'graphql_operations_total', { operation: 'query', name: '' }),
        named: sumOf(metrics, 'graphql_operations_total', { operation: 'query', name: 'Trusted' }),
        isCallersName: metrics.text.includes('Callers'),
        silent: sumOf(metrics, 'processes', { state: 'silent' }),
      }
    }
    await expect.poll(counted, patience).toEqual({
      ...{ customers: 7, missing: 3, strangers: 2, notFound: 3, paying: 8, payouts: 6, nameless: 4, named: 6 },
      ...{ isCallersName: false, silent: 0 },
    })
    const last = await scrape()
    const processes = workers === '1' ? 1 : engine === 'sqlite' ? 4 : 2
    expect(sumOf(last, 'processes', { state: 'answered' })).toBe(processes)
    expect(last.type).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8')
    expect(sumOf(last, 'commit_seconds_count')).toBe(sumOf(last, 'group_commit_operations_count'))
    expect(sumOf(last, 'group_commit_operations_sum')).toBeGreaterThanOrEqual(6)
  })

  test('exports CPU time, memory and event loop lag, and the CPU time of each process once', async () => {
    const service = await startMeasured(engine, { WORKERS: workers })
    const own = service.child.pid as number
    const pids = workers === '1' ? [own] : processesOf(own).flatMap(({ pid }) => (pid === own ? [] : [pid]))
    const used = async () => (await Promise.all(pids.map(cpuSeconds))).reduce((sum, each) => sum + each, 0)
    const counted = async () => (await service.scrape()).series.get('process_cpu_seconds_total') as number
    const beforeFirst = await used()
    const first = await counted()
    const afterFirst = await used()
    await ask(service, 50, '/api/customers')
    const beforeLast = await used()
    const last = await counted()
    const afterLast = await used()

    expect(last - first).toBeGreaterThan(beforeLast - afterFirst - 0.1)
    expect(last - first).toBeLessThan(afterLast - beforeFirst + 0.1)
    const { series } = await service.scrape()
    expect(series.get('process_resident_memory_bytes')).toBeGreaterThan(pids.length * 30_000_000)
    expect(series.get('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0)
  })

  test('exports the outcomes of rail calls and webhook attempts, and the database gauges', async () => {
    const service = await startMeasured(engine, { WORKERS: workers })
    // One payout is settled by hand, the sandbox's bank pays one, and one stays without a report.
    for (const account_number of [payoutBody.account_number, '9999999900', '9999999930']) {
      await ask(service, 5, '/api/payouts/banks', post({ ...payoutBody, account_number, amount: '0.01' }))
    }

    const calls = async (outcome: string) => {
      const scrape = await service.scrape()
      return sumOf(scrape, 'rail_calls_total', { rail: 'sandbox', call: 'submit', outcome })
    }
    await expect.poll(() => calls('COMPLETED'), patience).toBe(5)
    await expect.poll(() => calls('NO_ANSWER'), patience).toBe(5)
    await expect.poll(async () => sumOf(await service.scrape(), 'rail_unknown', { rail: 'sandbox' }), patience).toBe(5)
    const scrape = await service.scrape()
    expect(sumOf(scrape, 'payouts_settled_total', { status: 'COMPLETED' })).toBe(5)
    expect(sumOf(scrape, 'events_published_total')).toBeGreaterThanOrEqual(20)
    expect(sumOf(scrape, 'payouts_processing')).toBeGreaterThanOrEqual(10)
    expect(sumOf(scrape, 'oldest_processing_seconds')).toBeGreaterThan(0)
    expect(sumOf(scrape, 'rate_age_seconds', { pair: 'USDC/NGN' })).toBeGreaterThan(0)
    if (engine === 'postgres') return
    // Without SECRETS_KEY the demo has no endpoint.
    await expect
      .poll(async () => sumOf(await service.scrape(), 'webhook_attempts_total', { outcome: 'delivered' }), patience)
      .toBeGreaterThanOrEqual(5)
    const before = await service.scrape()
    expect(sumOf(before, 'webhook_delay_seconds_count')).toBeLessThanOrEqual(sumOf(before, 'webhook_attempts_total'))
  })
})

describe('the metrics of a killed or stuck process', () => {
  test('stay in the totals, so no counter decreases', async () => {
    const service = await startMeasured('sqlite', { WORKERS: '2' })
    const { scrape, child } = service
    const roles = () => processesOf(child.pid as number)
    const customers = async () => countResponses(await scrape(), 'GET /api/customers', '200')
    await ask(service, 40, '/api/customers')
    await ask(service, 3, '/api/payouts/banks', post({ ...payoutBody, amount: '0.01' }))
    await expect.poll(customers, patience).toBe(40)
    const { events, created } = await countsOf(scrape)

    for (const role of ['reader', 'writer', 'sender']) {
      const { pid } = roles().find((each) => each.role === role) as { pid: number }
      process.kill(pid, 'SIGKILL')
      await expect.poll(() => !isAlive(pid) && roles().length, patience).toBe(4)
    }
    expect(await customers()).toBe(40)
    const after = await countsOf(scrape)
    expect(after.created).toBe(created)
    expect(after.events).toBeGreaterThanOrEqual(events)
    await expect.poll(async () => sumOf(await scrape(), 'processes', { state: 'answered' }), patience).toBe(4)
    await ask(service, 10, '/api/customers')
    await expect.poll(customers, patience).toBe(50)

    // The supervisor kills a stuck process; until then it counts as silent.
    const { pid } = roles().find(({ role }) => role === 'reader') as { pid: number }
    process.kill(pid, 'SIGSTOP')
    const stuck = await scrape()
    expect(sumOf(stuck, 'processes', { state: 'silent' })).toBe(1)
    expect(countResponses(stuck, 'GET /api/customers', '200')).toBe(50)
    process.kill(pid, 'SIGKILL')
    await expect.poll(() => !isAlive(pid) && roles().length, patience).toBe(4)
    expect(await customers()).toBe(50)
  })
})

async function countsOf(scrape: Measured['scrape']) {
  const metrics = await scrape()
  return { events: sumOf(metrics, 'events_published_total'), created: sumOf(metrics, 'payouts_created_total') }
}

/** Returns the CPU time of a process with all threads, from Linux, in hundredths of a second. */
async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / 100
}

describe('the metrics port', () => {
  test('responds in OpenMetrics if Accept asks for it and otherwise in Prometheus text, with the same metrics', async () => {
    const { metricsPort, scrape } = await startMeasured('sqlite')
    const as = async (accept: string) => {
      const response = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { headers: { accept } })
      return { type: response.headers.get('content-type'), text: await response.text() }
    }
    const plain = 'text/plain; version=0.0.4; charset=utf-8'
    const open = 'application/openmetrics-text; version=1.0.0; charset=utf-8'
    for (const accept of [
      '*/*',
      'text/plain',
      'text/html',
      'application/openmetrics-text;q=0',
      'text/plain,application/openmetrics-text;q=0.5',
    ])
      expect([accept, (await as(accept)).type]).toEqual([accept, plain])
    for (const accept of [
      'application/openmetrics-text',
      'text/plain;q=0.3,application/openmetrics-text;version=1.0.0;q=0.5',
    ])
      expect([accept, (await as(accept)).type]).toEqual([accept, open])

    const { text } = await as('text/plain')
    expect(text).not.toContain('# EOF')
    const inText = new Set(text.split('\n').flatMap((line) => /^[a-z]\w*(\{.*\})?(?= )/.exec(line)?.[0] ?? []))
    const inOpenMetrics = [...(await scrape()).series.keys()]
    const own = (names: Iterable<string>) => [...names].filter((name) => name.startsWith('payout_gateway_')).toSorted()
    expect(own(inText)).toEqual(own(inOpenMetrics))
    expect(text).toContain('\npayout_gateway_payouts_created_total 0\n')
    expect(inOpenMetrics.filter((name) => name.includes('_total_total'))).toEqual([])
  })

  test('serves only GET /metrics; a service does not start if its metrics port is in use', async () => {
    const service = await startMeasured('sqlite')
    const port = service.metricsPort
    const at = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method })

    expect(service.greeting).toContain(`Metrics  http://127.0.0.1:${port}/metrics`)
    expect((await at('/')).status).toBe(404)
    expect((await at('/api/customers')).status).toBe(404)
    expect((await at('/metrics', 'POST')).status).toBe(405)
    expect((await fetch(`${service.address}/metrics`, { headers })).status).toBe(404)
    await expect(startService(service.place)).rejects.toThrow(
      `port ${port} (EADDRINUSE): another program uses it. Set METRICS_PORT`,
    )
    service.child.kill('SIGTERM')
    expect(await service.ended).toMatchObject({ code: 0 })
    await expect(at('/metrics')).rejects.toThrow()
  })
})
