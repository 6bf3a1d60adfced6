import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { unavailable } from '../../src/core/errors.ts'
import type { Query } from '../../src/database/query.ts'
import type { ApiKey } from '../../src/modules/merchants/api-key.ts'
import { formatApiKey, newApiKey, parseApiKey } from '../../src/modules/merchants/api-key.ts'
import { createKey, revokeKey, rotateKey } from '../../src/modules/merchants/manage-keys.ts'
import { setRate } from '../../src/modules/pricing/rates.ts'
import { createService } from '../../src/operations/context.ts'
import { createServer } from '../../src/server/host.ts'
import type { App } from '../support/app.ts'
import { everyEngine, startApp } from '../support/app.ts'
import { endpoints } from './endpoints.ts'

describe.each(everyEngine)('API keys on %s', (engine) => {
  test.each(endpoints)(
    'ruling 4: $name returns identical bytes for every kind of wrong API key',
    async ({ method, path, body }) => {
      const app = await startApp(engine)
      const refused: { status: number; text: string; headers: object }[] = []
      for (const key of await wrongKeys(app)) {
        const headers = { 'x-request-id': 'same' }
        const {
          status,
          text,
          headers: answered,
        } = await app.rest(method, path, { ...(body && { body }), headers, key })
        const { date: _, ...relevant } = answered
        refused.push({ status, text, headers: relevant })
      }
      const [first] = refused
      expect(first).toMatchObject({ status: 401, headers: { 'www-authenticate': expect.stringMatching(/^Bearer /) } })
      expect(first?.text).toContain('"INVALID_TOKEN","message":"A valid API key is required in the x-api-key header."')
      for (const each of refused) expect(each).toEqual(first)
    },
  )

  test.each(endpoints)('ruling 4: $name returns MISSING_TOKEN without an API key', async ({ method, path, body }) => {
    const app = await startApp(engine)
    for (const headers of [{}, { authorization: 'Basic dXNlcjpwYXNz' }]) {
      const response = await app.rest(method, path, { ...(body && { body }), headers, key: null })
      expect([response.status, response.body.error]).toEqual([
        401,
        { code: 'MISSING_TOKEN', message: 'An API key is required in the x-api-key header.' },
      ])
      expect(response.headers['www-authenticate']).toMatch(/^Bearer /)
    }
  })

  test.each([
    ['an empty key', { 'x-api-key': '' }],
    ['an empty bearer token', { authorization: 'Bearer' }],
    ['two words', { authorization: 'Bearer a b' }],
    ['two different keys', { 'x-api-key': 'a', authorization: 'Bearer b' }],
  ])('ruling 4: INVALID_TOKEN is returned for %s', async (_, headers) => {
    const app = await startApp(engine)
    const { status, body } = await app.rest('GET', '/api/customers', { headers, key: null })
    expect([status, body.error.code]).toEqual([401, 'INVALID_TOKEN'])
  })

  test('ruling 6: wrong API keys above the rate limit of an address get 429; valid keys do not', async () => {
    let nowMs = Date.UTC(2030, 0, 1)
    const app = await startApp(engine, { rateLimit: 3, clock: () => nowMs })
    const ask = (key: string | null, path = '/api/customers') => app.rest('GET', path, { key })
    const keys = [null, 'nonsense', `${app.merchant.apiKey}x`]
    for (const key of keys) expect((await ask(key)).status).toBe(401)
    for (const key of keys) {
      const { status, headers, text } = await ask(key, '/graphql?query={merchant{id}}')
      expect([status, headers['retry-after'], headers['www-authenticate']]).toEqual([429, '1', undefined])
      expect(headers['ratelimit-policy']).toBe('"refused";q=3;w=1')
      expect(text).toContain('"RATE_LIMITED"')
    }
    expect((await ask(app.merchant.apiKey)).status).toBe(200)
    nowMs += 1_000
    expect((await ask(null)).status).toBe(401)
    // Without a limit, wrong keys have none either.
    const free = await startApp(engine)
    for (let i = 0; i < 200; i++) expect((await free.rest('GET', '/api/customers', { key: null })).status).toBe(401)
  })

  test('ruling 6: requests that fail because the database is unavailable do not count as wrong API keys', async () => {
    const app = await startApp(engine)
    const execute = (): never => {
      throw unavailable()
    }
    const { server } = serverOf(app, { db: { ...app.db, execute } }, 2)
    const ask = async (headers: Record<string, string>) =>
      (await server.inject({ method: 'GET', url: '/api/customers', headers })).statusCode
    for (let i = 0; i < 4; i++) expect(await ask({ 'x-api-key': 'nonsense' })).toBe(503)
    expect(await ask({})).toBe(401)
  })

  test('a wrong API key is not logged as an internal error if the caller has already disconnected', async () => {
    const lines: string[] = []
    const app = await startApp(engine, { rateLimit: 3, onLog: (line) => lines.push(line) })
    // Before any code reads the address.
    const closed: Promise<unknown>[] = []
    app.server.server.prependListener('request', ({ socket }, response) => {
      socket.destroy()
      closed.push(once(response, 'close'))
    })
    const url = await app.server.listen({ port: 0, host: '127.0.0.1' })
    for (const key of ['nonsense', formatApiKey(newApiKey('sandbox'))]) {
      await expect(fetch(`${url}/api/customers`, { headers: { 'x-api-key': key } })).rejects.toThrow()
    }
    // A later request is answered after the work for these has finished.
    await Promise.all(closed)
    await app.rest('GET', '/api/customers', { key: formatApiKey(newApiKey('sandbox')) })
    expect(lines.filter((line) => line.includes('"level":"error"'))).toEqual([])
  })

  test('ruling 4: the check of any wrong API key executes the same queries as the check of a key with a wrong secret', async () => {
    const app = await startApp(engine)
    let isThere: boolean[] = []
    const execute = <Result>(query: Query, params: object) => {
      const rowsFound = app.db.execute<Result>(query, params)
      const note = (rows: readonly Result[]) => isThere.push(rows.length > 0)
      if (rowsFound instanceof Promise) rowsFound.then(note)
      else note(rowsFound)
      return rowsFound
    }
    const { server } = serverOf(app, { db: { ...app.db, execute } })
    const ask = async (key: string) => {
      isThere = []
      const response = await server.inject({ method: 'GET', url: '/api/customers', headers: { 'x-api-key': key } })
      return response.statusCode
    }
    expect(await ask(app.merchant.apiKey)).toBe(200)
    for (const key of [...(await wrongKeys(app)), 'a.b.c', 'eyJhbGciOiJIUzI1NiJ9.e30.c2ln']) {
      expect([key, await ask(key), isThere.sort()]).toEqual([key, 401, [false, true]])
    }
  })

  test('ruling 4: the API key is checked before the body is read', async () => {
    const app = await startApp(engine)
    const bodies = [
      { payload: '{', headers: { 'content-type': 'application/json' } },
      { payload: 'x', headers: { 'content-type': 'text/plain' } },
      { payload: ' '.repeat(300_000), headers: { 'content-type': 'application/json' } },
      { body: {}, headers: { 'idempotency-key': 'x'.repeat(300) } },
    ]
    for (const sent of bodies) {
      expect((await app.rest('POST', '/api/wallets', { ...sent, key: null })).status).toBe(401)
    }
  })

  test('ruling 4: an API key is rejected from the next request after it is revoked', async () => {
    const app = await startApp(engine)
    const { id, apiKey } = await createKey(app.service, app.merchant.id)
    const ask = async (key: string) => (await app.rest('GET', '/api/customers', { key })).status
    expect(await ask(apiKey)).toBe(200)
    await revokeKey(app.service, id)
    expect(await ask(apiKey)).toBe(401)
    expect(await ask(app.merchant.apiKey)).toBe(200)
    const { apiKey: newer } = await rotateKey(app.service, app.merchant.id)
    const { apiKey: newest } = await rotateKey(app.service, app.merchant.id)
    expect([await ask(app.merchant.apiKey), await ask(newer), await ask(newest)]).toEqual([401, 200, 200])
  })

  test('ruling 4: an API key is rejected from the next request after another process revokes it', async () => {
    const app = await startApp(engine)
    const db = await openDatabase({ url: app.url, onFatal: () => {} })
    const other = createService({ db, mode: 'sandbox' })
    const ask = async (key: string) => (await app.rest('GET', '/api/customers', { key })).status
    for (let i = 0; i < 5; i++) {
      const { id, apiKey } = await createKey(other, app.merchant.id)
      expect([await ask(apiKey), await ask(apiKey), await ask(apiKey)]).toEqual([200, 200, 200])
      await revokeKey(other, id)
      expect([await ask(apiKey), await ask(app.merchant.apiKey)]).toEqual([401, 200])
    }
    await db.close()
  })

  test('the lookup of an API key is cached on SQLite until keys change or another process writes', async () => {
    const app = await startApp(engine)
    let count = 0
    const execute: typeof app.db.execute = (query, params) => {
      count++
      return app.db.execute(query, params)
    }
    const { server } = serverOf(app, { db: { ...app.db, execute } })
    const ask = async () => {
      count = 0
      const headers = { 'x-api-key': app.merchant.apiKey }
      const { statusCode } = await server.inject({ method: 'GET', url: '/api/payout/methods?limit=0', headers })
      // A request that is rejected before it reads any row, with a valid key.
      expect(statusCode).toBe(400)
      return count
    }
    await ask()
    // The service records the first use of a key in a commit.
    await app.db.write(async () => {})
    await ask()
    // PostgreSQL would need a query to detect changes of other processes.
    const lookUps = (onSqlite: number[]) => (engine === 'sqlite' ? onSqlite : onSqlite.map(() => 1))
    expect([await ask(), await ask()]).toEqual(lookUps([0, 0]))
    await createKey(app.service, app.merchant.id)
    expect([await ask(), await ask()]).toEqual(lookUps([1, 0]))
    await app.customer()
    expect([await ask(), await ask()]).toEqual(lookUps([0, 0]))
    const db = await openDatabase({ url: app.url, onFatal: () => {} })
    const other = createService({ db, mode: 'sandbox' })
    await setRate(other, { fromCode: 'USDC', toCode: 'NGN', rate: '1501' })
    expect([await ask(), await ask()]).toEqual(lookUps([1, 0]))
    await db.close()
  })

  test('ruling 4: live mode rejects sandbox API keys, and the sandbox rejects live API keys', async () => {
    const app = await startApp(engine)
    const statusFor = async (mode: 'sandbox' | 'live', key: string) => {
      const { server } = serverOf(app, { mode })
      const response = await server.inject({ url: '/api/customers', headers: { 'x-api-key': key } })
      return response.statusCode
    }
    const { apiKey: live } = await createKey({ ...app.service, mode: 'live' }, app.merchant.id)
    const renamed = formatApiKey({ ...(parseApiKey(app.merchant.apiKey) as ApiKey), mode: 'live' })
    expect(await statusFor('sandbox', app.merchant.apiKey)).toBe(200)
    expect(await statusFor('live', live)).toBe(200)
    expect(await statusFor('live', app.merchant.apiKey)).toBe(401)
    expect(await statusFor('live', renamed)).toBe(401)
    expect(await statusFor('sandbox', live)).toBe(401)
  })

  test.each(['Bearer KEY', 'bearer KEY', 'BEARER KEY', 'Bearer   KEY', 'Bearer KEY '])(
    'ruling 12: "Authorization: %s" is equivalent to x-api-key',
    async (form) => {
      const app = await startApp(engine)
      const headers = { authorization: form.replace('KEY', app.merchant.apiKey) }
      expect((await app.rest('GET', '/api/customers', { headers, key: null })).status).toBe(200)
    },
  )

  test('an API key may have spaces around it in x-api-key', async () => {
    const app = await startApp(engine)
    const headers = { authorization: `Bearer ${app.merchant.apiKey}` }
    expect((await app.rest('GET', '/api/customers', { headers, key: ` ${app.merchant.apiKey} ` })).status).toBe(200)
  })

  test('ruling 12: an Authorization header with another scheme than Bearer is ignored if x-api-key is present', async () => {
    const app = await startApp(engine)
    for (const authorization of ['Basic dXNlcjpwYXNz', 'Bearerish token', 'Proxy Bearer token']) {
      const headers = { authorization }
      expect((await app.rest('GET', '/api/customers', { headers })).status).toBe(200)
      const { status, body } = await app.rest('GET', '/api/customers', { headers, key: null })
      expect([status, body.error.code]).toEqual([401, 'MISSING_TOKEN'])
    }
  })

  test('ruling 12: x-api-key and Authorization are accepted together only if they have the same API key', async () => {
    const app = await startApp(engine)
    const { apiKey: second } = await createKey(app.service, app.merchant.id)
    const statusFor = async (key: string, authorization: string) =>
      (await app.rest('GET', '/api/customers', { key, headers: { authorization } })).status
    expect(await statusFor(second, `Bearer ${second}`)).toBe(200)
    expect(await statusFor(app.merchant.apiKey, `Bearer ${second}`)).toBe(401)
    expect(await statusFor(app.merchant.apiKey, 'Bearer wrong')).toBe(401)
    expect(await statusFor('wrong', `Bearer ${second}`)).toBe(401)
    expect(await statusFor('', `Bearer ${second}`)).toBe(401)
  })

  test.each(['Bearer', 'Bearer ', 'Basic KEY', 'KEY', 'Bearer KEY KEY', 'Bearer  , KEY'])(
    'ruling 12: a request with "Authorization: %s" is rejected',
    async (form) => {
      const app = await startApp(engine)
      const headers = { authorization: form.replaceAll('KEY', app.merchant.apiKey) }
      expect((await app.rest('GET', '/api/customers', { headers, key: null })).status).toBe(401)
    },
  )
})

/** Keys that are malformed, unknown, of a wrong secret or checksum, revoked, and of the other mode. */
async function wrongKeys(app: App): Promise<string[]> {
  const { id, apiKey: revoked } = await createKey(app.service, app.merchant.id)
  await revokeKey(app.service, id)
  const { apiKey: live } = await createKey({ ...app.service, mode: 'live' }, app.merchant.id)
  const own = parseApiKey(app.merchant.apiKey) as ApiKey
  const guessed = formatApiKey({ ...own, secret: '0'.repeat(48) })
  const badChecksum = `${app.merchant.apiKey.slice(0, -1)}x`
  const [malformed, unknown] = ['letmein', formatApiKey(newApiKey('sandbox'))]
  return ['', malformed, unknown, guessed, badChecksum, app.merchant.apiKey.toUpperCase(), revoked, live]
}

function serverOf(app: App, changes: Partial<App['service']>, rateLimit: number | null = null) {
  const logger = createLogger('silent', { write: () => {} })
  return { server: createServer({ service: { ...app.service, ...changes }, logger, rateLimit }) }
}
