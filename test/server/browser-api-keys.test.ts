import { describe, expect, test } from 'vitest'
import { formatApiKey, newApiKey } from '../../src/modules/merchants/api-key.ts'
import { everyEngine, everyExecutionPath, startApp } from '../support/app.ts'
import { readStoredRows } from '../support/stored.ts'

const origin = 'https://app.example.com'
const mutation = 'mutation { createWallet(input: { currency: "NGN", description: "x" }) { __typename } }'
const requests = [
  ['POST', '/api/wallets', { currency: 'NGN', description: 'Naira' }],
  ['GET', '/api/customers', undefined],
  ['POST', '/graphql', { query: mutation }],
  ['GET', '/graphql?query={merchant{id}}', undefined],
] as const

/** Each way to send a key, and whether the key is valid. */
const credentials = (apiKey: string): readonly Record<string, string>[] => [
  { 'x-api-key': apiKey },
  { authorization: `Bearer ${apiKey}` },
  { authorization: `bearer   ${apiKey}` },
  { 'x-api-key': formatApiKey(newApiKey('live')) },
  { 'x-api-key': formatApiKey(newApiKey('sandbox')) },
  { 'x-api-key': 'nonsense' },
  { 'x-api-key': apiKey, authorization: 'Bearer a.b.c' },
]

describe.each(everyExecutionPath)('an API key in a browser page on %s, fast path: %s', (engine, hasFastPath) => {
  test.each(requests)(
    'live mode rejects valid and invalid API keys with the error API_KEY_IN_BROWSER: %s %s',
    async (method, path, body) => {
      const app = await startApp(engine, { mode: 'live', hasFastPath, corsOrigins: [origin] })
      const before = await readStoredRows(app)
      for (const each of credentials(app.merchant.apiKey)) {
        for (const from of [origin, 'https://evil.example', 'null']) {
          const response = await app.rest(method, path, { body, key: null, headers: { ...each, origin: from } })
          expect([response.status, codeIn(response.body)]).toEqual([403, 'API_KEY_IN_BROWSER'])
          expect(response.text).toContain('POST /api/client-tokens')
          expect(response.headers['access-control-allow-origin']).toBe(from === origin ? origin : undefined)
        }
      }
      expect(await readStoredRows(app)).toEqual(before)
      const { status } = await app.rest(method, path, { body })
      expect(status).toBe(path === '/api/wallets' ? 201 : 200)
    },
  )
})

describe.each(everyEngine)('credentials in a browser page on %s', (engine) => {
  test('a credential that is not an API key gets the same error code as outside a browser page', async () => {
    const app = await startApp(engine, { mode: 'live', corsOrigins: [origin] })
    for (const [method, path, body] of requests) {
      const ask = (headers: Record<string, string>) =>
        app.rest(method, path, { body, key: null, headers: { ...headers, origin } })
      for (const headers of [{ authorization: 'Bearer a.b.c' }, { authorization: 'Bearer' }]) {
        const { status, body } = await ask(headers)
        expect([status, codeIn(body)]).toEqual([401, 'INVALID_TOKEN'])
      }
      for (const headers of [{}, { authorization: 'Basic pgw_live_x' }]) {
        const { status, body } = await ask(headers)
        expect([status, codeIn(body)]).toEqual([401, 'MISSING_TOKEN'])
      }
    }
  })

  test('an API key that is rejected because a page sent it does not count towards the limit of failed keys', async () => {
    const app = await startApp(engine, { mode: 'live', rateLimit: 1, clock: () => Date.UTC(2030, 0, 1) })
    for (let i = 0; i < 5; i++) {
      for (const key of [app.merchant.apiKey, 'nonsense']) {
        const { status, headers } = await app.rest('GET', '/api/customers', { key, headers: { origin } })
        expect([status, headers.ratelimit]).toEqual([403, undefined])
      }
    }
    expect((await app.rest('GET', '/api/customers', { key: 'nonsense' })).status).toBe(401)
    expect((await app.rest('GET', '/api/customers')).status).toBe(200)
  })

  test('the sandbox accepts an API key from a page, because GraphiQL sends it', async () => {
    const app = await startApp(engine)
    for (const [method, path, body] of requests) {
      const { status } = await app.rest(method, path, { body, headers: { origin } })
      expect(status).toBe(path === '/api/wallets' ? 201 : 200)
    }
  })
})

// biome-ignore lint/suspicious/noExplicitAny: each API has its own envelope.
function codeIn(body: any): string | undefined {
  return body.error?.code ?? body.errors?.[0]?.extensions.code
}
