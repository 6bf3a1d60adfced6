import { describe, expect, test } from 'vitest'
import { latestSequenceNumber } from '../../../../src/lists/sequence.ts'
import { activeSecrets } from '../../../../src/modules/webhooks/endpoints/endpoint-secrets.ts'
import { lockWebhookEndpointById } from '../../../../src/modules/webhooks/endpoints/repository.ts'
import { createContext } from '../../../../src/operations/context.ts'
import { everyApi } from '../../../support/api-clients.ts'
import type { App, Setup } from '../../../support/app.ts'
import { everyEngineAndWorkers, startApp } from '../../../support/app.ts'
import { readStoredRows } from '../../../support/stored.ts'
import { ask, changes, listedUrls, modeOn, showEndpoint } from './webhook-apis.ts'

const url = 'https://example.com/webhooks'
const absentId = '019b7679-7400-7000-8000-000000000000'
const apisAndEngines = everyApi.flatMap((apiName) => everyEngineAndWorkers.map((engine) => [apiName, engine] as const))
const secretForm = /^whsec_[A-Za-z0-9+/]{43}=$/

const start = Date.parse('2026-03-02T09:30:00.000Z')
const hour = 60 * 60 * 1000

/** Starts a service with a fake clock. */
async function startClocked(engine: Setup) {
  let nowMs = start
  const app = await startApp(engine, { mode: modeOn(engine), clock: () => nowMs })
  return { app, pass: (ms: number) => (nowMs += ms) }
}

/** Returns the current signing keys of an endpoint, as the dispatcher reads them. */
async function signing(app: App, id: string): Promise<string[]> {
  const key = { merchantId: app.merchant.id, id }
  const row = await app.db.write(async (tx) => lockWebhookEndpointById(tx, key), { merchantId: key.merchantId })
  if (!row) throw new Error('no such endpoint')
  return activeSecrets(app.service, row)
}

async function latestEvent(app: App): Promise<number> {
  return (await latestSequenceNumber(app.db, { merchantId: app.merchant.id, name: 'events' }))?.latest ?? 0
}

describe.each(apisAndEngines)('webhook endpoints through %s on %s', (apiName, engine) => {
  test('are registered with a signing secret that is shown once, and get only events after the registration', async () => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    await app.customer()
    const types = ['payout.failed', 'payout.completed', 'payout.failed']
    const { endpoint, secret } = await ask(apiName, app, 'createWebhookEndpoint', {
      ...{ url: ` ${url} `, types, format: 'thin', description: 'Our books' },
    })

    expect(secret).toMatch(secretForm)
    expect(await signing(app, endpoint.id)).toEqual([secret])
    const { createdAt, updatedAt, id, ...rest } = endpoint
    expect(rest).toEqual({
      ...{ url, types: ['payout.completed', 'payout.failed'], format: 'thin', description: 'Our books' },
      ...{ status: 'enabled', disabledReason: null, publicKey: null, sentUpTo: 1, failures: 0, failingSince: null },
    })
    expect(await showEndpoint(apiName, app, id)).toEqual(endpoint)
    expect(JSON.stringify(await readStoredRows(app))).not.toContain(secret)
  })

  test('get all events in the standard format by default', async () => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    const { endpoint } = await ask(apiName, app, 'createWebhookEndpoint', { url, types: [] })
    expect(endpoint).toMatchObject({ types: [], format: 'standard', description: null, sentUpTo: 0 })
  })

  test('get webhooks that are also signed with the endpoint’s own key pair if requested', async () => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    const { endpoint, secret } = await ask(apiName, app, 'createWebhookEndpoint', { url, asymmetric: true })
    expect(endpoint.publicKey).toMatch(/^whpk_[A-Za-z0-9+/]{43}=$/)
    expect(await signing(app, endpoint.id)).toEqual([secret, expect.stringMatching(/^whsk_/)])
  })

  test('return the same secret in a replay of their creation, and the secret is stored only in encrypted form (ruling 71)', async () => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    const key = { idempotencyKey: 'one' }
    const first = await ask(apiName, app, 'createWebhookEndpoint', { url }, key)
    expect(await ask(apiName, app, 'createWebhookEndpoint', { url }, key)).toEqual(first)
    const other = await ask(apiName, app, 'createWebhookEndpoint', { url: `${url}/2` }, key)
    expect(other.code).toBe('IDEMPOTENCY_KEY_REUSED')
    expect(JSON.stringify(await readStoredRows(app))).not.toContain(first.secret)
    expect(await listedUrls(apiName, app)).toEqual([url])
  })

  test('are listed newest first', async () => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    for (const each of ['a', 'b', 'c']) await ask(apiName, app, 'createWebhookEndpoint', { url: `${url}/${each}` })
    expect(await listedUrls(apiName, app)).toEqual([`${url}/c`, `${url}/b`, `${url}/a`])
  })

  test.each([
    ['url', { url: '' }],
    ['url', { url: 'example.com' }],
    ['url', { url: 'https://10.0.0.1/' }],
    ['url', { url: `https://example.com/${'x'.repeat(2_100)}` }],
    ['description', { url, description: 'x'.repeat(256) }],
  ])('are rejected for an invalid %s: %o', async (field, input) => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    const before = await readStoredRows(app)
    expect(await ask(apiName, app, 'createWebhookEndpoint', input)).toMatchObject({
      code: 'INVALID_INPUT',
      fields: [field],
    })
    expect(await readStoredRows(app)).toEqual(before)
  })

  test('require https in live mode', async () => {
    const app = await startApp(engine, { mode: 'live' })
    const http = { url: 'http://example.com/webhooks' }
    const { code, message } = await ask(apiName, app, 'createWebhookEndpoint', http)
    expect([code, message]).toEqual(['INVALID_INPUT', 'url must begin with https://.'])
    expect((await ask(apiName, app, 'createWebhookEndpoint', { url })).code).toBeNull()
  })

  test('are limited to 50 per merchant (ruling 70)', async () => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    const created = []
    for (let i = 0; i < 50; i++) created.push((await ask('rest', app, 'createWebhookEndpoint', { url })).endpoint.id)
    const before = await readStoredRows(app)
    expect(await ask(apiName, app, 'createWebhookEndpoint', { url })).toMatchObject({ code: 'WEBHOOK_LIMIT_REACHED' })
    expect(await readStoredRows(app)).toEqual(before)
    const { apiKey } = await app.otherMerchant()
    expect((await ask(apiName, app, 'createWebhookEndpoint', { url }, { key: apiKey })).code).toBeNull()
    await ask(apiName, app, 'deleteWebhookEndpoint', { webhookId: created[7] })
    expect((await ask(apiName, app, 'createWebhookEndpoint', { url })).code).toBeNull()
  })

  test('are updated only in the given fields', async () => {
    const { app, pass } = await startClocked(engine)
    const details = { url, types: ['customer.created'], format: 'thin', description: 'x' }
    const { endpoint } = await ask(apiName, app, 'createWebhookEndpoint', details)
    const webhookId = endpoint.id
    pass(1_000)
    const change = async (input: object) =>
      (await ask(apiName, app, 'updateWebhookEndpoint', { webhookId, ...input })).endpoint
    const updatedAt = '2026-03-02T09:30:01.000Z'
    expect(await change({})).toEqual(endpoint)
    expect(await change({ url: `${url}/2` })).toEqual({ ...endpoint, url: `${url}/2`, updatedAt })
    // Later although in the same millisecond: the dispatcher compares these times.
    expect(await change({ types: [], format: null, description: '' })).toEqual({
      ...{ ...endpoint, url: `${url}/2`, updatedAt: '2026-03-02T09:30:01.001Z' },
      ...{ types: [], format: 'standard', description: null },
    })
    expect(await ask(apiName, app, 'updateWebhookEndpoint', { webhookId, url: 'ftp://x' })).toMatchObject({
      fields: ['url'],
    })
  })

  test('are not found after their deletion', async () => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    const { endpoint } = await ask(apiName, app, 'createWebhookEndpoint', { url })
    expect((await ask(apiName, app, 'deleteWebhookEndpoint', { webhookId: endpoint.id })).code).toBeNull()
    expect(await showEndpoint(apiName, app, endpoint.id)).toBeNull()
    expect((await ask(apiName, app, 'deleteWebhookEndpoint', { webhookId: endpoint.id })).code).toBe(
      'RESOURCE_NOT_FOUND',
    )
  })

  test('get webhooks with signatures by the new and the old secret after a rotation, for a day or for the requested time', async () => {
    const { app, pass } = await startClocked(engine)
    const { endpoint, secret: first } = await ask(apiName, app, 'createWebhookEndpoint', { url, asymmetric: true })
    const webhookId = endpoint.id
    const rotate = async (input: object) => ask(apiName, app, 'rotateWebhookSecret', { webhookId, ...input })
    const shared = async () => (await signing(app, webhookId)).filter((each) => each.startsWith('whsec_'))
    const keyCount = async () => (await signing(app, webhookId)).filter((each) => each.startsWith('whsk_')).length

    const { secret: second, endpoint: rotated } = await rotate({})
    expect(second).toMatch(secretForm)
    expect(rotated.publicKey).not.toBe(endpoint.publicKey)
    expect([await shared(), await keyCount()]).toEqual([[second, first], 2])
    pass(24 * hour - 1)
    expect([await shared(), await keyCount()]).toEqual([[second, first], 2])
    pass(1)
    expect([await shared(), await keyCount()]).toEqual([[second], 1])

    const { secret: third } = await rotate({ overlapHours: 168 })
    const { secret: fourth } = await rotate({ overlapHours: 1 })
    expect(await shared()).toEqual([fourth, third, second])
    pass(hour)
    // An old secret keeps its expiry if that is before the expiry that the rotation would set.
    expect(await shared()).toEqual([fourth])
    const { secret: fifth } = await rotate({ overlapHours: 0 })
    expect([await shared(), await keyCount()]).toEqual([[fifth], 1])
    for (const overlapHours of [-1, 169]) expect((await rotate({ overlapHours })).fields).toEqual(['overlapHours'])
    for (let i = 0; i < 7; i++) await rotate({})
    expect((await shared()).length).toBe(5)
  })

  test('can be tested with a test event that does not reveal the secret', async () => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    const { endpoint, secret } = await ask(apiName, app, 'createWebhookEndpoint', { url, types: ['payout.failed'] })
    expect((await ask(apiName, app, 'testWebhookEndpoint', { webhookId: endpoint.id })).endpoint).toEqual(endpoint)
    const { body, text } = await app.rest('GET', '/api/events')
    expect(body.data).toMatchObject([{ type: 'webhook.test', object: { id: endpoint.id, version: 1 }, data: { url } }])
    expect(text).not.toMatch(/secret|sealed/)
    expect(text).not.toContain(secret)
  })

  test('are disabled on request, and resume from their cursor, from the latest event, or after a sequence number', async () => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    const { endpoint } = await ask(apiName, app, 'createWebhookEndpoint', { url })
    const webhookId = endpoint.id
    const enable = (input: object = {}) => ask(apiName, app, 'enableWebhookEndpoint', { webhookId, ...input })
    const disabled = { status: 'disabled', disabledReason: 'by_request' }
    expect((await ask(apiName, app, 'disableWebhookEndpoint', { webhookId })).endpoint).toMatchObject(disabled)
    expect(await latestEvent(app)).toBe(0)
    for (const name of ['testWebhookEndpoint', 'replayWebhookEvents'] as const) {
      const input = { webhookId, ...(name === 'replayWebhookEvents' && { after: 0 }) }
      expect((await ask(apiName, app, name, input)).code).toBe('WEBHOOK_DISABLED')
    }
    for (let i = 0; i < 3; i++) await app.customer()

    expect((await enable()).endpoint).toMatchObject({ status: 'enabled', disabledReason: null, sentUpTo: 0 })
    expect((await enable({ from: 'now' })).endpoint).toMatchObject({ status: 'enabled', sentUpTo: 3 })
    expect((await enable({ after: 1 })).endpoint).toMatchObject({ sentUpTo: 1 })
    expect((await enable({ from: 'resume' })).endpoint).toMatchObject({ sentUpTo: 1 })
    expect(await enable({ after: 4 })).toMatchObject({ code: 'INVALID_INPUT', fields: ['after'] })
    expect(await enable({ after: 1, from: 'now' })).toMatchObject({ code: 'INVALID_INPUT', fields: ['after'] })
    expect(await showEndpoint(apiName, app, webhookId)).toMatchObject({ sentUpTo: 1 })
  })

  test('are not found by another merchant', async () => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    const { endpoint } = await ask(apiName, app, 'createWebhookEndpoint', { url })
    const { apiKey: key } = await app.otherMerchant()
    const before = await readStoredRows(app)
    expect([await listedUrls(apiName, app, { key }), await showEndpoint(apiName, app, endpoint.id, { key })]).toEqual([
      [],
      null,
    ])
    for (const name of changes.filter((each) => each !== 'createWebhookEndpoint')) {
      const more = name === 'replayWebhookEvents' ? { after: 0 } : {}
      for (const webhookId of [absentId, endpoint.id]) {
        const { code } = await ask(apiName, app, name, { webhookId, ...more }, { key })
        expect([name, code]).toEqual([name, 'RESOURCE_NOT_FOUND'])
      }
    }
    // The only change is the last use of the keys.
    const { api_keys: _, ...rest } = await readStoredRows(app)
    expect(rest).toEqual(Object.fromEntries(Object.entries(before).filter(([table]) => table !== 'api_keys')))
    expect(createContext(app.service, app.merchant.id).merchantId).toBe(app.merchant.id)
  })
})

test('an unknown event type is rejected with the list of known types', async () => {
  const app = await startApp('sqlite')
  const { message } = await ask('rest', app, 'createWebhookEndpoint', {
    url,
    types: ['payout.completed', 'payout.done'],
  })
  expect(message).toMatch(/^types must be some of payout\.initiated, payout\.completed, .*, webhook\.test\.$/)
})
