import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { createPersistedQueryCache } from '../../src/graphql/documents/document-caches.ts'
import type { App } from '../support/app.ts'
import { everyExecutionPath, startApp } from '../support/app.ts'
import { listen } from './support/listen.ts'

const newer = 'application/graphql-response+json'
const who = '{ merchant { name } }'
const responseOfWho = { merchant: { name: 'Test merchant' } }
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex')
const hashed = (text: string) => ({ persistedQuery: { version: 1, sha256Hash: hashOf(text) } })

function post(app: App, body: object, { accept = 'application/json', key }: { accept?: string; key?: string } = {}) {
  return app.rest('POST', '/graphql', { body, headers: { accept }, ...(key !== undefined && { key }) })
}

function get(app: App, text: string, query?: string) {
  const parameters = { extensions: JSON.stringify(hashed(text)), ...(query !== undefined && { query }) }
  return app.rest('GET', `/graphql?${new URLSearchParams(parameters)}`)
}

const notFound = [{ message: 'PersistedQueryNotFound', extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } }]

describe.each(everyExecutionPath)('automatic persisted queries on %s, fast path: %s', (engine, hasFastPath) => {
  test('a persisted query runs by its hash after its text was sent, over POST and GET', async () => {
    const app = await startApp(engine, { hasFastPath })
    for (const [accept, status] of [
      ['application/json', 200],
      [newer, 400],
    ] as const) {
      const unknown = await post(app, { extensions: hashed(who) }, { accept })
      expect([unknown.status, unknown.body.errors]).toMatchObject([status, notFound])
      expect(unknown.body).not.toHaveProperty('data')
    }
    expect((await get(app, who)).body.errors).toMatchObject(notFound)
    expect((await post(app, { query: who, extensions: hashed(who) })).body.data).toEqual(responseOfWho)
    expect((await post(app, { extensions: hashed(who) })).body.data).toEqual(responseOfWho)
    expect((await get(app, who)).body.data).toEqual(responseOfWho)

    const other = 'query ($n: Int) { customers(first: $n) { totalCount } }'
    expect((await get(app, other, other)).body.data).toEqual({ customers: { totalCount: 0 } })
    const { body } = await post(app, { extensions: hashed(other), variables: { n: 1 } })
    expect(body.data).toEqual({ customers: { totalCount: 0 } })
  })

  test('a persisted query can be used only by the merchant that sent the text', async () => {
    const app = await startApp(engine, { hasFastPath })
    const { apiKey } = await app.otherMerchant()
    await post(app, { query: who, extensions: hashed(who) })
    expect((await post(app, { extensions: hashed(who) }, { key: apiKey })).body.errors).toMatchObject(notFound)
    expect((await post(app, { extensions: hashed(who) })).body.data).toEqual(responseOfWho)
  })

  test('a persisted query is rejected and not stored if the hash does not match its text', async () => {
    const app = await startApp(engine, { hasFastPath })
    const other = `${who} `
    const refused = await post(app, { query: other, extensions: hashed(who) })
    expect(refused.body.errors).toMatchObject([{ extensions: { code: 'INVALID_INPUT' } }])
    expect(refused.body).not.toHaveProperty('data')
    for (const text of [who, other]) {
      expect((await post(app, { extensions: hashed(text) })).body.errors).toMatchObject(notFound)
    }
  })

  test('a persisted query that fails validation is rejected and not stored', async () => {
    const app = await startApp(engine, { hasFastPath })
    for (const [query, code] of [
      ['{ nothing }', 'INVALID_DOCUMENT'],
      ['{', 'INVALID_DOCUMENT'],
      ['{ merchant { name } } #'.padEnd(10_001, 'x'), 'QUERY_TOO_COMPLEX'],
    ] as const) {
      const refused = await post(app, { query, extensions: hashed(query) })
      expect(refused.body.errors).toMatchObject([{ extensions: { code } }])
      expect((await post(app, { extensions: hashed(query) })).body.errors).toMatchObject(notFound)
    }
  })

  test('a persisted mutation is rejected over GET', async () => {
    const app = await startApp(engine, { hasFastPath })
    const opening = 'mutation { createWallet(input: { currency: "NGN", description: "x" }) { __typename } }'
    expect((await post(app, { query: opening, extensions: hashed(opening) })).body.data.createWallet).toBeDefined()
    const refused = await get(app, opening)
    expect([refused.status, refused.headers.allow]).toEqual([405, 'POST'])
  })

  test('a persisted subscription can be started by its hash', async () => {
    const app = await startApp(engine, { hasFastPath })
    const ticking = 'subscription { eventPublished(after: "0", types: []) { sequence } }'
    await app.wallet()
    const first = await listen(app, { query: ticking, extensions: JSON.stringify(hashed(ticking)) }, { method: 'GET' })
    expect(await first.next()).toMatchObject({ data: { eventPublished: { sequence: 1 } } })
    const second = await listen(app, { extensions: JSON.stringify(hashed(ticking)) }, { method: 'GET' })
    expect(await second.next()).toMatchObject({ data: { eventPublished: { sequence: 1 } } })
  })
})

describe('the cache of persisted queries', () => {
  const bounds = { ofMerchant: 100, ofAll: 250 }
  const text = (length: number) => 'x'.repeat(length)

  test('a merchant at its limit evicts its own least recently used query, and no query of another merchant', () => {
    const cache = createPersistedQueryCache(bounds)
    cache.set('quiet', 'own', text(40))
    cache.set('loud', 'first', text(40))
    cache.set('loud', 'second', text(40))
    expect(cache.get('loud', 'first')).toBeDefined()
    for (let count = 0; count < 1_000; count++) {
      cache.set('loud', `more ${count}`, text(40))
      cache.get('loud', 'first')
    }
    expect(cache.get('loud', 'second')).toBeUndefined()
    expect(cache.get('loud', 'first')).toBeDefined()
    expect(cache.get('loud', 'more 999')).toBeDefined()
    expect(cache.get('loud', 'more 998')).toBeUndefined()
    expect(cache.get('quiet', 'own')).toBeDefined()
  })

  test('a full cache evicts the least recently used query of all merchants', () => {
    const cache = createPersistedQueryCache(bounds)
    for (const merchant of ['a', 'b', 'c']) cache.set(merchant, 'own', text(80))
    expect(cache.get('a', 'own')).toBeDefined()
    cache.set('d', 'own', text(80))
    expect(['a', 'b', 'c', 'd'].map((merchant) => cache.get(merchant, 'own') !== undefined)).toEqual([
      true,
      false,
      true,
      true,
    ])
  })

  test('a persisted query that is sent several times is stored once', () => {
    const cache = createPersistedQueryCache(bounds)
    cache.set('a', 'other', text(50))
    for (let count = 0; count < 10; count++) cache.set('a', 'own', text(50))
    expect(cache.get('a', 'other')).toBeDefined()
  })
})
