import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { generateSharedSecret } from '../../../src/modules/webhooks/transport/standard-webhooks.ts'
import { startReceiver } from '../../modules/webhooks/transport/support/receiver.ts'
import type { Engine } from '../../support/app.ts'
import { payoutBody } from '../../support/app.ts'
import { cli } from '../../support/process.ts'
import { everyModel } from '../metrics/support/scrape.ts'
import { treeBelow } from './support/collector.ts'
import { spanLike, startTraced } from './support/traced.ts'

const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' }
const traceparent = `00-${caller.traceId}-${caller.spanId}-01`

const [server, client] = [2, 3]

const addCustomer = `mutation AddCustomer($input: CreateCustomerInput!) {
  createCustomer(input: $input) { __typename ... on CreateCustomerPayload { customer { uuid } } }
}`
const customer = {
  ...{ customerType: 'INDIVIDUAL', email: 'a@example.com', phone: '+2348012345678', firstName: 'Ada', lastName: 'Obi' },
  ...{ addressLine1: '1 Test Street', city: 'Lagos', state: 'Lagos', country: 'Nigeria' },
}

/** Starts a service with a bank, a webhook receiver, and a trusted document with the id `named`. */
async function startWhole(engine: Engine, workers: string) {
  const receiver = await startReceiver()
  const bank = await startReceiver((response, { body }) =>
    response.end(JSON.stringify({ id: JSON.parse(body).id, state: 'COMPLETED' })),
  )
  const environment = {
    WORKERS: workers,
    RAILS: `bank:http://127.0.0.1:${bank.port}`,
    RAIL_SECRET_BANK: generateSharedSecret(),
    ...(engine === 'postgres' && { SECRETS_KEY: Buffer.alloc(32, 7).toString('base64') }),
  }
  const service = await startTraced(engine, environment, async (place) => {
    const manifest = join(place.folder, 'manifest.json')
    await writeFile(manifest, JSON.stringify({ named: 'query Trusted { merchant { name } }' }))
    expect((await cli(place, 'documents', 'add', manifest)).code).toBe(0)
    expect((await cli(place, 'rail', 'route', 'bank')).code).toBe(0)
    expect((await cli(place, 'webhook', 'create', receiver.url)).stdout).toContain('whsec_')
  })
  return { ...service, bank, receiver }
}

type Whole = Awaited<ReturnType<typeof startWhole>>

/** A REST payout is a span with its operation and its commit, in the caller's trace. */
async function payInTrace({ ask, spans }: Whole, engine: Engine, workers: string) {
  const paid = await ask('/api/payouts/banks', { ...payoutBody, amount: '0.01' }, { traceparent, tracestate: 'a=b' })
  expect(paid.status).toBe(200)

  const request = await spanLike(spans, { name: 'POST /api/payouts/banks' })
  const operation = await spanLike(spans, { name: 'createPayout' })
  const commit = await spanLike(spans, { name: 'commit', parentSpanId: operation.spanId })
  expect(request).toMatchObject({
    traceId: caller.traceId,
    parentSpanId: caller.spanId,
    traceState: 'a=b',
    kind: server,
  })
  expect(treeBelow(spans(), caller.spanId)).toEqual({ [request.name]: { createPayout: { commit: {} } } })
  expect(request.attributes).toEqual({
    'http.request.method': 'POST',
    'http.route': '/api/payouts/banks',
    'http.response.status_code': 200,
    'payout_gateway.merchant.id': expect.any(String),
  })
  expect(operation.attributes).toEqual({
    'payout_gateway.merchant.id': request.attributes['payout_gateway.merchant.id'],
    'payout_gateway.object.id': paid.body.data.id,
    'payout_gateway.payout.reference_id': paid.body.data.reference_id,
  })
  expect(operation.events).toEqual(['begun'])
  expect(commit.attributes).toMatchObject({
    'db.system.name': engine === 'sqlite' ? 'sqlite' : 'postgresql',
    'db.operation.name': 'COMMIT',
  })
  // One uses the monotonic clock, the other whole milliseconds of the wall clock.
  const tick = 5_000_000n
  expect(commit.startedAt + tick >= operation.startedAt && commit.endedAt <= operation.endedAt + tick).toBe(true)
  const role = workers === '1' ? 'service' : 'reader'
  expect(request.process).toMatchObject({ 'service.name': 'payout-gateway', 'payout_gateway.role': role })
  expect(operation.process['payout_gateway.role']).toBe(engine === 'sqlite' && workers === '2' ? 'writer' : role)
  return paid.body.data
}

/** A GraphQL request is the same; the span has the name of a trusted document. */
async function askGraphql({ ask, spans }: Whole) {
  const response = await ask('/graphql', { query: addCustomer, variables: { input: customer } })
  await ask('/graphql', { documentId: 'named' })

  const operation = await spanLike(spans, { name: 'createCustomer' })
  const request = await spanLike(spans, { name: 'POST /graphql', spanId: operation.parentSpanId as string })
  const { uuid } = response.body.data.createCustomer.customer
  expect(operation.attributes).toMatchObject({ 'payout_gateway.object.id': uuid })
  expect(request.parentSpanId).toBeUndefined()
  expect(request.attributes['graphql.operation.type']).toBe('mutation')
  // The caller chose this operation's name.
  expect(request.attributes).not.toHaveProperty('graphql.operation.name')
  await expect.poll(() => treeBelow(spans(), request.spanId)).toEqual({ createCustomer: { commit: {} } })
  const trusted = { 'graphql.operation.type': 'query', 'graphql.operation.name': 'Trusted' }
  await spanLike(spans, { attributes: expect.objectContaining(trusted) })
}

/** Calls to the bank and webhooks are separate traces that link to the payout's. */
async function followPayout(
  { spans, bank, receiver }: Whole,
  { id, reference_id }: { id: string; reference_id: string },
) {
  const call = await spanLike(spans, { name: 'rail submit' })
  expect(call).toMatchObject({ kind: client, isError: false })
  expect(call.attributes).toEqual({
    'payout_gateway.rail': 'bank',
    'payout_gateway.rail.call': 'submit',
    'payout_gateway.rail.outcome': 'COMPLETED',
    'payout_gateway.payout.reference_id': reference_id,
  })
  const [asked] = bank.received
  expect(asked?.headers.traceparent).toBe(`00-${call.traceId}-${call.spanId}-01`)
  expect(asked?.headers['webhook-signature']).toMatch(/^v1,/)

  const completed = '"payout.completed"'
  const posted = () => receiver.received.find((each) => each.body.includes(completed))
  await expect.poll(posted).toBeDefined()
  const [, , spanId = ''] = String(posted()?.headers.traceparent).split('-')
  const attempt = await spanLike(spans, { spanId })
  expect(posted()?.headers.traceparent).toBe(`00-${attempt.traceId}-${attempt.spanId}-01`)
  expect(attempt).toMatchObject({ name: 'webhook attempt', kind: client, isError: false })
  expect(attempt.attributes).toEqual({
    'http.request.method': 'POST',
    'http.response.status_code': 200,
    'payout_gateway.event.id': posted()?.headers['webhook-id'],
    'payout_gateway.event.type': 'payout.completed',
    'payout_gateway.object.id': id,
  })
  expect(new Set([caller.traceId, call.traceId, attempt.traceId]).size).toBe(3)
  expect(attempt.parentSpanId ?? call.parentSpanId).toBeUndefined()
}

test.each(everyModel)(
  'a service on %s with %s records spans for requests, operations, bank calls and webhooks',
  async (engine, workers) => {
    const service = await startWhole(engine, workers)

    const payout = await payInTrace(service, engine, workers)
    await askGraphql(service)
    await followPayout(service, payout)

    service.child.kill('SIGTERM')
    const lines = (await service.ended).stdout
      .split('\n')
      .filter((line) => line.includes('"route":"/api/payouts/banks"'))
    expect(lines.map((line) => JSON.parse(line).trace_id)).toEqual([caller.traceId])
  },
)
