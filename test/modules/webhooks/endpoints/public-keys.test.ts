import { expect, test } from 'vitest'
import { everyEngine, startApp } from '../../../support/app.ts'
import { modeOn } from './webhook-apis.ts'

test.each(everyEngine)(
  'the public keys endpoint needs no credential and does not reveal the owners of keys, on %s',
  async (engine) => {
    const app = await startApp(engine, { mode: modeOn(engine) })
    const url = 'https://example.com/webhooks'
    await app.rest('POST', '/api/webhooks', { body: { url } })
    const first = await app.rest('POST', '/api/webhooks', { body: { url, asymmetric: true } })
    const other = await app.otherMerchant()
    const second = await app.rest('POST', '/api/webhooks', { body: { url, asymmetric: true }, key: other.apiKey })
    const rotated = await app.rest('POST', `/api/webhooks/${first.body.data.id}/rotate`, { body: {} })
    const response = await app.rest('POST', `/api/webhooks/${second.body.data.id}/rotate`, {
      body: { overlap_hours: 0 },
      key: other.apiKey,
    })

    const { status, headers, body } = await app.rest('GET', '/.well-known/webhook-keys', { key: null })
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=60'])
    const keys = [first.body.data, rotated.body.data, response.body.data].map(({ public_key }) => public_key)
    expect(new Set(keys).size).toBe(3)
    expect(body).toEqual({ keys: keys.toSorted() })
    expect((await app.rest('POST', '/.well-known/webhook-keys', { body: {} })).status).toBe(405)
  },
)
