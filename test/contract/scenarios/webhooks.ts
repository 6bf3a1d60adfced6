import { timestamp } from '../../../src/core/ids-and-clock.ts'
import { noSecrets } from '../../../src/core/secrets/secrets.ts'
import { recordAttempts } from '../../../src/modules/webhooks/dispatcher/record-attempts.ts'
import type { App } from '../../support/app.ts'
import { dueTime } from '../../support/times.ts'
import type { Sent, Transcript } from '../transcript.ts'
import { absentId, otherMerchant, recordCommonRefusals } from './refusals.ts'

const url = 'https://example.com/webhooks'
const named = (id: string) => `/api/webhooks/${id}`

async function newEndpoint(app: App, body: object = {}): Promise<string> {
  const { body: answered } = await app.rest('POST', '/api/webhooks', { body: { url, ...body } })
  return answered.data.id
}

/** Additions to the contract. */
export async function createWebhookEndpoint(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const request = 'POST /api/webhooks'
  const say = (title: string, body: object, sent: Sent = {}) => {
    transcript.tick()
    return transcript.exchange(app, title, request, { body, ...sent })
  }
  const headers = { 'idempotency-key': 'endpoint-1' }
  await say('201: for all types', { url })
  const types = ['payout.completed', 'payout.failed']
  await say('201: with all there is to say', { url, types, format: 'thin', description: 'Books', asymmetric: true })
  await say('201: with an idempotency key', { url }, { headers })
  await say('201: the same again, replayed', { url }, { headers })
  await say('422: the key with another body', { url, format: 'thin' }, { headers })
  await say('400: without a URL', {})
  await say('400: all that can be wrong', {
    url: 'ftp://user:pw@10.0.0.1/#a',
    types: ['payout.paid'],
    format: 'xml',
    asymmetric: 'yes',
  })
  await say('400: an address that is not public', { url: 'http://169.254.169.254/latest' })
  for (let i = 0; i < 47; i++) await newEndpoint(app)
  await say('422: one more than there may be', { url })
  const keyless = await transcript.start({ secrets: noSecrets })
  await transcript.exchange(keyless, '501: a service without a key for secrets', request, { body: { url } })
  await recordCommonRefusals(transcript, app, { request, body: { url } })
}

export async function listWebhookEndpoints(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const say = (title: string, query: string, sent: Sent = {}) =>
    transcript.exchange(app, title, `GET /api/webhooks${query}`, sent)
  await say('200: none yet', '')
  for (const description of ['first', 'second', 'third']) {
    transcript.tick()
    await newEndpoint(app, { description })
  }
  await say('200: newest first', '')
  await say('200: the second page', '?page=2&limit=2')
  await say('400: page and limit out of range', '?page=0&limit=101')
  await say('200: another merchant has none of these', '', { key: await otherMerchant(transcript, app) })
  await recordCommonRefusals(transcript, app, { request: 'GET /api/webhooks' })
}

type Case = readonly [title: string, body: object]

type About = {
  readonly method: string
  readonly end?: string
  readonly cases: readonly Case[]
  readonly body?: object
  /** What is refused of one that is disabled. */
  readonly last?: string
}

/** A conversation about one endpoint; `body` is what is sent to one that is not there, too. */
async function about(transcript: Transcript, { method, end = '', cases, body, last }: About): Promise<void> {
  const app = await transcript.start()
  const id = await newEndpoint(app)
  const say = (title: string, of: string, sent: Sent = {}) => {
    transcript.tick()
    return transcript.exchange(app, title, `${method} ${named(of)}${end}`, { ...(body && { body }), ...sent })
  }
  if (method === 'POST') {
    const headers = { 'idempotency-key': 'once' }
    await say('200: with an idempotency key', id, { headers })
    await say('200: the same again, replayed', id, { headers })
    await say('422: the key with another endpoint', absentId, { headers })
  }
  for (const [title, given] of cases) await say(title, id, { body: given })
  if (last !== undefined) {
    await app.rest('POST', `${named(id)}/disable`, { body: {} })
    await say(last, id)
  }
  await say('404: no such endpoint', absentId)
  await say('404: a malformed id', 'mine')
  const other = await newEndpoint(app)
  await say("404: another merchant's endpoint", other, { key: await otherMerchant(transcript, app) })
  await recordCommonRefusals(transcript, app, { request: `${method} ${named(absentId)}${end}`, ...(body && { body }) })
}

export async function getWebhookEndpoint(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const id = await newEndpoint(app, { asymmetric: true, types: ['webhook.test'] })
  const say = (title: string, of: string, sent: Sent = {}) => transcript.exchange(app, title, `GET ${named(of)}`, sent)
  await say('200: as it is, without its secret', id)
  await app.rest('POST', `${named(id)}/disable`, { body: {} })
  await say('200: disabled', id)
  await say('404: no such endpoint', absentId)
  await say("404: another merchant's endpoint", id, { key: await otherMerchant(transcript, app) })
  await recordCommonRefusals(transcript, app, { request: `GET ${named(id)}` })
}

export const updateWebhookEndpoint = (transcript: Transcript) =>
  about(transcript, {
    method: 'PUT',
    body: { description: 'Other books' },
    cases: [
      ['200: one field', { description: 'Other books' }],
      ['200: all fields', { url: `${url}/2`, types: ['payout.failed'], format: 'stablestack', description: null }],
      ['200: nothing', {}],
      ['400: all that can be wrong', { url: 'http://10.0.0.1', types: ['x'], format: 'xml' }],
    ],
  })

export const deleteWebhookEndpoint = (transcript: Transcript) =>
  about(transcript, { method: 'DELETE', body: {}, cases: [['200: gone', {}]] })

export const rotateWebhookSecret = (transcript: Transcript) =>
  about(transcript, {
    method: 'POST',
    end: '/rotate',
    body: {},
    cases: [
      ['200: for a day', {}],
      ['200: at once', { overlap_hours: 0 }],
      ['400: for longer than may be', { overlap_hours: 169 }],
    ],
  })

export const testWebhookEndpoint = (transcript: Transcript) =>
  about(transcript, {
    method: 'POST',
    end: '/test',
    body: {},
    cases: [['200: an event is on its way', {}]],
    last: '409: a disabled endpoint',
  })

export const enableWebhookEndpoint = (transcript: Transcript) =>
  about(transcript, {
    method: 'POST',
    end: '/enable',
    body: {},
    cases: [
      ['200: from where it was', {}],
      ['200: from now on', { from: 'now' }],
      ['200: from the first', { after: 0 }],
      ['400: both', { from: 'now', after: 0 }],
      ['400: after what was never there', { after: 99 }],
    ],
  })

export const disableWebhookEndpoint = (transcript: Transcript) =>
  about(transcript, {
    method: 'POST',
    end: '/disable',
    body: {},
    cases: [
      ['200: nothing is sent any more', {}],
      ['200: again', {}],
    ],
  })

export async function replayWebhookEvents(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const id = await newEndpoint(app)
  await app.customer()
  const { body } = await app.rest('GET', '/api/events')
  const end = `POST ${named(id)}/replay`
  const say = (title: string, given: object, sent: Sent = {}) => {
    transcript.tick()
    return transcript.exchange(app, title, end, { body: given, ...sent })
  }
  await say('200: one event', { event_id: body.data[0].id })
  await say('200: all after a sequence', { after: 0 })
  await say('200: all since a time', { since: '2029-12-31T00:00:00.000Z' })
  await say('400: none of these', {})
  await say('400: two of these', { after: 0, since: '2029-12-31T00:00:00.000Z' })
  await say('400: after what was never there', { after: 99 })
  const headers = { 'idempotency-key': 'once' }
  await say('200: with an idempotency key', { after: 0 }, { headers })
  await say('422: the key with another body', { after: 1 }, { headers })
  await say('404: no such event', { event_id: 'evt_00000000-0000-7000-8000-000000000001' })
  await say("404: another merchant's endpoint", { after: 0 }, { key: await otherMerchant(transcript, app) })
  await app.rest('POST', `${named(id)}/disable`, { body: {} })
  await say('409: a disabled endpoint', { after: 0 })
  await recordCommonRefusals(transcript, app, { request: end, body: { after: 0 } })
}

export async function listWebhookDeliveries(transcript: Transcript): Promise<void> {
  const app = await transcript.start()
  const id = await newEndpoint(app)
  const end = `GET ${named(id)}/deliveries`
  const say = (title: string, query: string, sent: Sent = {}) => transcript.exchange(app, title, `${end}${query}`, sent)
  await say('200: none yet', '')
  const customerId = await app.customer()
  await app.customer()
  const nowMs = app.service.now()
  const attempt = {
    objectId: customerId,
    happenedAt: timestamp(nowMs),
    attemptedAt: timestamp(nowMs),
    durationMs: 12,
    storedAttempts: null,
    attemptsInSchedule: 1,
  }
  await recordAttempts(app.context(), {
    endpointId: id,
    attempted: [
      { ...attempt, sequence: 1, status: 200, answer: 'ok', error: null, outcome: 'delivered', nextAttemptAt: null },
      {
        ...{ ...attempt, sequence: 2, status: null, answer: null, error: 'timeout: No whole answer came.' },
        ...{ outcome: 'pending', nextAttemptAt: dueTime(nowMs + 5_000) },
      },
    ],
    waiting: [],
    cursor: { from: 0, to: 2 },
    isGone: false,
  })
  await say('200: the newest event first', '')
  await say('200: one of two', '?limit=1')
  await say('200: those before', '?before=2')
  await say('200: in one status', '?status=pending')
  await say('400: all that can be wrong', '?status=lost&limit=101&before=x')
  await say("404: another merchant's endpoint", '', { key: await otherMerchant(transcript, app) })
  await recordCommonRefusals(transcript, app, { request: end })
}
