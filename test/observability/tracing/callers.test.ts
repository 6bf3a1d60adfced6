import { expect, test } from 'vitest'
import { askAt, spanLike, startTraced } from './support/traced.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'
const sampled = `00-${traceId}-${spanId}-01`

/** Invalid traceparent headers. */
const hostile: readonly Record<string, string>[] = [
  { traceparent: 'sampled' },
  { traceparent: `00-${'0'.repeat(32)}-${spanId}-01` },
  { traceparent: `00-${traceId}-${'0'.repeat(16)}-01` },
  { traceparent: `ff-${traceId}-${spanId}-01` },
  { traceparent: `00-${traceId.toUpperCase()}-${spanId}-01` },
  { traceparent: `${sampled}-more` },
  { traceparent: `${sampled}, ${sampled}` },
  { traceparent: 'a'.repeat(12_000) },
  { traceparent: `00-${"'".repeat(32)}-${spanId}-01` },
  { tracestate: 'a=b' },
]

test('a request with an invalid traceparent starts a new trace', async () => {
  const { ask, spans } = await startTraced('sqlite')
  for (const headers of hostile) expect((await ask('/api/wallets', undefined, headers)).status).toBe(200)
  const tooLong = { traceparent: sampled, tracestate: `a=${'b'.repeat(600)}` }
  await ask('/api/customers', undefined, tooLong)

  const requests = () => spans().filter(({ name }) => name === 'GET /api/wallets')
  await expect.poll(requests).toHaveLength(hostile.length)
  expect(requests().filter((span) => span.parentSpanId !== undefined || span.traceId === traceId)).toEqual([])
  expect(requests().filter((span) => span.traceState !== undefined)).toEqual([])
  // The traceparent is valid without the oversized tracestate.
  const customers = await spanLike(spans, { name: 'GET /api/customers' })
  expect(customers).toMatchObject({ traceId, parentSpanId: spanId })
  expect(customers.traceState).toBeUndefined()
})

test('the traceparent of a request without a valid API key is ignored', async () => {
  const stranger = { 'x-api-key': 'wrong', traceparent: sampled }
  const all = await startTraced('sqlite')
  expect((await all.ask('/api/wallets', undefined, stranger)).status).toBe(401)
  const refused = await spanLike(all.spans, { name: 'GET /api/wallets' })
  expect(refused.traceId).not.toBe(traceId)
  expect(refused.parentSpanId).toBeUndefined()
  expect(refused.attributes).toMatchObject({ 'http.response.status_code': 401, 'error.type': 'INVALID_TOKEN' })

  // Its traces contain no paths, ids or texts of callers.
  await all.ask('/api/wallets/01980c60-1f2e-7d3c-8b4a-5a6978879605?secret=1')
  await all.ask('/somewhere/secret')
  await all.ask('/readyz')
  const missing = await spanLike(all.spans, { name: 'GET /api/wallets/:wallet_id' })
  expect(missing.attributes).toMatchObject({ 'error.type': 'RESOURCE_NOT_FOUND' })
  expect(missing.isError).toBe(false)

  const none = await startTraced('sqlite', { OTEL_TRACES_SAMPLER: 'parentbased_always_off' })
  await none.ask('/api/wallets', undefined, stranger)
  await none.ask('/api/wallets')
  await none.ask('/api/wallets', undefined, { traceparent: `00-${traceId}-${spanId}-00` })
  // A caller with a key can force recording.
  await none.ask('/api/customers', undefined, { traceparent: sampled })
  await spanLike(none.spans, { name: 'GET /api/customers', traceId, parentSpanId: spanId })
  expect(none.spans()).toHaveLength(1)

  all.child.kill('SIGTERM')
  await all.ended
  expect(all.spans().map(({ name }) => name)).toEqual(['GET /api/wallets', 'GET /api/wallets/:wallet_id'])
  expect(JSON.stringify(all.received)).not.toContain('secret')
})

test('the ratio sampler records some of the new traces, and all spans of each recorded trace', async () => {
  const { ask, spans, child, ended, address } = await startTraced('sqlite', {
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.25',
    OTEL_SERVICE_NAME: 'payouts-of-ours',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=staging',
    OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20token',
  })
  const refuse = () => ask('/api/payouts/banks', {})
  for (let times = 0; times < 20; times++) expect(await Promise.all([refuse(), refuse(), refuse()])).toHaveLength(3)
  await askAt(address)('/api/customers')
  child.kill('SIGTERM')
  await ended

  const all = spans()
  const requests = all.filter(({ name }) => name.startsWith('POST'))
  expect(requests.length).toBeGreaterThan(0)
  expect(requests.length).toBeLessThan(60)
  const whole = new Set(requests.map((span) => span.traceId))
  expect(all.filter((span) => !whole.has(span.traceId) && span.name !== 'GET /api/customers')).toEqual([])
  expect(all[0]?.process).toMatchObject({
    'service.name': 'payouts-of-ours',
    'deployment.environment.name': 'staging',
    'service.version': expect.any(String),
  })
})
