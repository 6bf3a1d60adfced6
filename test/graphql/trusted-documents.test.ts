import { createHash } from 'node:crypto'
import Sqlite from 'better-sqlite3'
import { getIntrospectionQuery } from 'graphql'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { createTrustedDocumentCache } from '../../src/graphql/documents/document-caches.ts'
import { createDocumentResolver } from '../../src/graphql/documents/resolve-document.ts'
import { addDocuments, removeDocument } from '../../src/modules/trusted-documents/manage-documents.ts'
import { sandboxSchema } from '../../src/server/graphql/schema.ts'
import { createServer } from '../../src/server/host.ts'
import { screens } from '../bench/screens.ts'
import type { App, Engine } from '../support/app.ts'
import { everyEngine, everyExecutionPath, payoutBody, startApp } from '../support/app.ts'
import { listen, patienceMs } from './support/listen.ts'

const newer = 'application/graphql-response+json'
const who = '{ merchant { name } }'
const named = 'query Named($first: Int) { customers(first: $first) { totalCount } } query Other { merchant { name } }'
const opening = 'mutation { createWallet(input: { currency: "NGN", description: "x" }) { __typename } }'
const ticking = 'subscription { eventPublished(after: "0", types: []) { sequence } }'
const responseOfWho = { merchant: { name: 'Test merchant' } }

const trust = (app: App, documents: Readonly<Record<string, string>>) =>
  addDocuments(app.service, { manifest: JSON.stringify(documents), validate: () => [] })

function post(app: App, body: object, { accept = 'application/json', key }: { accept?: string; key?: string } = {}) {
  return app.rest('POST', '/graphql', { body, headers: { accept }, ...(key !== undefined && { key }) })
}

function get(app: App, parameters: Record<string, string>, accept = 'application/json') {
  return app.rest('GET', `/graphql?${new URLSearchParams(parameters)}`, { headers: { accept } })
}

const codeOf = ({ body }: { body: { errors?: [{ extensions: { code: string } }] } }) => body.errors?.[0].extensions.code

describe.each(everyExecutionPath)('trusted documents on %s, fast path: %s', (engine, hasFastPath) => {
  test('a trusted document runs by its id, with variables and an operation name', async () => {
    const app = await startApp(engine, { hasFastPath })
    const sha256 = createHash('sha256').update(named).digest('hex')
    await trust(app, { who, named, [sha256]: named })
    expect((await post(app, { documentId: 'who' })).body.data).toEqual(responseOfWho)
    // Some clients send an empty `query` parameter.
    for (const query of [null, '']) expect((await post(app, { query, documentId: 'who' })).status).toBe(200)
    const body = { operationName: 'Named', variables: { first: 1 } }
    for (const documentId of ['named', sha256, `sha256:${sha256}`]) {
      expect((await post(app, { documentId, ...body })).body.data).toEqual({ customers: { totalCount: 0 } })
      expect((await post(app, { documentId, operationName: 'Other' })).body.data).toEqual(responseOfWho)
    }
    expect(codeOf(await post(app, { documentId: 'named' }))).toBe('INVALID_DOCUMENT')
    expect(codeOf(await post(app, { documentId: 'named', ...body, variables: { first: 'x' } }))).toBe('INVALID_INPUT')
    // Apollo Client sends the ids of its manifest in this form.
    const extensions = { persistedQuery: { version: 1, sha256Hash: 'who' } }
    expect((await post(app, { extensions })).body.data).toEqual(responseOfWho)
    expect((await post(app, { query: who, extensions })).body.data).toEqual(responseOfWho)
  })

  test('a trusted mutation is accepted by POST only, and only responses to GET may be cached, with Cache-Control: private', async () => {
    const app = await startApp(engine, { hasFastPath })
    await trust(app, { who, opening, failing: '{ customers(after: "junk") { totalCount } }' })
    expect((await post(app, { documentId: 'opening' })).body.data.createWallet.__typename).toBe('CreateWalletPayload')
    for (const accept of ['application/json', newer]) {
      const refused = await get(app, { documentId: 'opening' }, accept)
      expect([refused.status, refused.headers.allow, codeOf(refused)]).toEqual([405, 'POST', 'METHOD_NOT_ALLOWED'])
      const answered = await get(app, { documentId: 'who', variables: '{}' }, accept)
      expect([answered.status, answered.body.data]).toEqual([200, responseOfWho])
      expect(answered.headers['cache-control']).toBe('private')
      expect(answered.headers.vary).toBe('accept, authorization, origin, x-api-key')
    }
    for (const other of [
      await post(app, { documentId: 'who' }),
      await get(app, { query: who }),
      await get(app, { documentId: 'failing' }),
      await get(app, { documentId: 'opening' }),
      await get(app, { documentId: 'none' }),
    ]) {
      expect(other.headers['cache-control']).toBe('no-store')
    }
    const head = await app.rest('HEAD', '/graphql?documentId=who')
    expect([head.status, head.text]).toEqual([200, ''])
  })

  test('an unknown document id gets PERSISTED_DOCUMENT_NOT_FOUND in both media types', async () => {
    const app = await startApp(engine, { hasFastPath })
    await trust(app, { who })
    for (const documentId of ['other', 'WHO', 'sha256:who2', '__proto__', 'constructor']) {
      for (const [accept, status] of [
        ['application/json', 200],
        [newer, 400],
      ] as const) {
        for (const response of [await post(app, { documentId }, { accept }), await get(app, { documentId }, accept)]) {
          expect([response.status, codeOf(response)]).toEqual([status, 'PERSISTED_DOCUMENT_NOT_FOUND'])
          expect(response.body).not.toHaveProperty('data')
        }
      }
    }
  })

  test.each<readonly [string, object, string]>([
    ['a text alongside the id', { documentId: 'who', query: who }, 'query'],
    ['an id of the wrong type', { documentId: 1 }, 'documentId'],
    ['an empty id', { documentId: '' }, 'documentId'],
    ['an id that is too long', { documentId: 'x'.repeat(208) }, 'documentId'],
    ['no hash', { extensions: { persistedQuery: { version: 1 } } }, 'extensions.persistedQuery.sha256Hash'],
    ['an unknown version', { extensions: { persistedQuery: { version: 2 } } }, 'extensions.persistedQuery'],
    ['a persistedQuery that is not an object', { extensions: { persistedQuery: 'x' } }, 'extensions.persistedQuery'],
  ])('a request with %s is rejected, and the error has the name of the parameter', async (_, body, field) => {
    const app = await startApp(engine, { hasFastPath })
    await trust(app, { who })
    for (const accept of ['application/json', newer]) {
      const response = await post(app, body, { accept })
      expect([response.status, codeOf(response), response.body.errors[0].extensions.fields[0].field]).toEqual([
        400,
        'INVALID_INPUT',
        field,
      ])
    }
  })

  test('a trusted document can be used immediately after it is added, and cannot be used after it is removed', async () => {
    const app = await startApp(engine, { hasFastPath })
    expect(codeOf(await post(app, { documentId: 'who' }))).toBe('PERSISTED_DOCUMENT_NOT_FOUND')
    await trust(app, { who })
    expect((await post(app, { documentId: 'who' })).body.data).toEqual(responseOfWho)
    await trust(app, { again: who })
    expect((await post(app, { documentId: 'again' })).body.data).toEqual(responseOfWho)
    await removeDocument(app.service, { id: 'who' })
    const codeNow = async () => codeOf(await post(app, { documentId: 'who' }))
    if (engine === 'sqlite') expect(await codeNow()).toBe('PERSISTED_DOCUMENT_NOT_FOUND')
    // On a server, another process first has to notify this one.
    await expect.poll(codeNow, { timeout: patienceMs }).toBe('PERSISTED_DOCUMENT_NOT_FOUND')
    // Another id still refers to the same text.
    expect((await post(app, { documentId: 'again' })).body.data).toEqual(responseOfWho)
    await trust(app, { who })
    expect((await post(app, { documentId: 'who' })).body.data).toEqual(responseOfWho)
  })

  test('a trusted subscription can be started by POST and by GET', async () => {
    const app = await startApp(engine, { hasFastPath })
    await trust(app, { ticking })
    await app.wallet()
    for (const method of ['POST', 'GET'] as const) {
      const stream = await listen(app, { documentId: 'ticking' }, { method })
      expect(stream.answered.headers.get('cache-control')).not.toBe('private')
      expect(await stream.next()).toEqual({
        data: { eventPublished: { sequence: 1 } },
        extensions: expect.any(Object),
      })
      stream.end()
    }
    const unknown = await listen(app, { documentId: 'none' })
    expect(await unknown.next()).toMatchObject({ errors: [{ extensions: { code: 'PERSISTED_DOCUMENT_NOT_FOUND' } }] })
  })

  test('a trusted document that is invalid in a later schema fails, and the other documents still run', async () => {
    const lines: string[] = []
    const app = await startApp(engine, { hasFastPath, onLog: (line) => lines.push(line) })
    await trust(app, { gone: '{ fieldOfThePast }', who })
    expect(codeOf(await post(app, { documentId: 'gone' }))).toBe('INVALID_DOCUMENT')
    expect((await post(app, { documentId: 'who' })).body.data).toEqual(responseOfWho)
    expect(lines.some((line) => line.includes('"document_id":"gone"') && line.includes('"level":"warn"'))).toBe(true)
  })
})

describe.each(everyExecutionPath)('DOCUMENTS=trusted on %s, fast path: %s', (engine, hasFastPath) => {
  test('live mode runs trusted documents by id or by text, and rejects any other document without parsing it', async () => {
    const app = await startApp(engine, { hasFastPath, mode: 'live', documents: 'trusted' })
    await trust(app, { who, ticking })
    expect((await post(app, { documentId: 'who' })).body.data).toEqual(responseOfWho)
    await expect
      .poll(async () => (await post(app, { query: who })).body.data, { timeout: patienceMs })
      .toEqual(responseOfWho)
    expect((await get(app, { documentId: 'who' })).body.data).toEqual(responseOfWho)
    expect((await get(app, { query: who })).body.data).toEqual(responseOfWho)
    // Documents that fail to parse or are too long are not parsed either.
    const others = [`${who} `, '{ merchant { id } }', opening, '{', 'x'.repeat(20_000), getIntrospectionQuery()]
    for (const query of others) {
      for (const [accept, status] of [
        ['application/json', 200],
        [newer, 400],
      ] as const) {
        const response = await post(app, { query }, { accept })
        expect([response.status, codeOf(response)]).toEqual([status, 'DOCUMENT_NOT_TRUSTED'])
        expect(response.body).not.toHaveProperty('data')
      }
      if (query.length < 10_000) expect(codeOf(await get(app, { query }))).toBe('DOCUMENT_NOT_TRUSTED')
    }
    expect(codeOf(await post(app, { documentId: 'other' }))).toBe('PERSISTED_DOCUMENT_NOT_FOUND')
    const stream = await listen(app, 'subscription { payoutsChanged { id } }')
    expect(await stream.next()).toMatchObject({ errors: [{ extensions: { code: 'DOCUMENT_NOT_TRUSTED' } }] })
  })

  test('live mode accepts a persisted query only if it is a trusted document', async () => {
    const app = await startApp(engine, { hasFastPath, mode: 'live', documents: 'trusted' })
    await trust(app, { who })
    expect((await post(app, { documentId: 'who' })).body.data).toEqual(responseOfWho)
    const hashed = (text: string) => ({
      persistedQuery: { version: 1, sha256Hash: createHash('sha256').update(text).digest('hex') },
    })
    for (const body of [{ extensions: hashed(named) }, { query: named, extensions: hashed(named) }]) {
      const { body: response } = await post(app, body)
      expect(response.errors).toMatchObject([
        { message: 'PersistedQueryNotSupported', extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } },
      ])
    }
    expect((await post(app, { query: who, extensions: hashed(who) })).body.data).toEqual(responseOfWho)
    expect((await post(app, { extensions: { persistedQuery: { version: 1, sha256Hash: 'who' } } })).body.data).toEqual(
      responseOfWho,
    )
  })

  test('the sandbox also accepts introspection, because GraphiQL needs it, but no other document', async () => {
    const app = await startApp(engine, { hasFastPath, documents: 'trusted' })
    const introspection = await post(app, { query: getIntrospectionQuery() })
    expect(introspection.body.data.__schema.queryType.name).toBe('Query')
    for (const query of [
      who,
      opening,
      `{ __typename merchant { name } }`,
      '{ ...F } fragment F on Query { __typename }',
    ]) {
      expect(codeOf(await post(app, { query }))).toBe('DOCUMENT_NOT_TRUSTED')
    }
    expect(codeOf(await post(app, { query: '{' }))).toBe('INVALID_DOCUMENT')
  })
})

describe('the start of the service with trusted documents', () => {
  test('prepares the SQL statements of trusted documents, so that their first requests prepare no statement', async () => {
    const ask = await askAfterStart('sqlite')
    const prepare = vi.spyOn(Sqlite.prototype, 'prepare')
    onTestFinished(() => prepare.mockRestore())
    // The first request of all looks up the key.
    await ask('warm')
    for (const documentId of Object.keys(screens('trusted'))) {
      prepare.mockClear()
      expect((await ask(documentId)).errors).toBeUndefined()
      expect([documentId, prepare.mock.calls.map(([sql]) => sql)]).toEqual([documentId, []])
    }
    await ask('other')
    expect(prepare).toHaveBeenCalled()
  })

  test.each(everyEngine)(
    'plans trusted documents on %s with stub rows, and no response contains a stub row',
    async (engine) => {
      const ask = await askAfterStart(engine)
      for (const documentId of Object.keys(screens('trusted'))) {
        const { data } = await ask(documentId)
        expect(JSON.stringify(data)).toContain('USD')
        expect(JSON.stringify(data)).not.toMatch(/text [12]|00000000-0000-7000/)
      }
    },
  )
})

/** Requests documents that were trusted before a service started; `other` is the text of one that was not. */
async function askAfterStart(engine: Engine) {
  const app = await startApp(engine)
  const customerIds = [await app.customer(), await app.customer()]
  const [id] = await Promise.all(customerIds.map((customerId) => app.wallet({ balance: '10', customerId })))
  await app.wallet({ balance: '10' })
  for (const customer_id of customerIds) {
    const { status } = await app.rest('POST', '/api/payouts/banks', {
      body: { ...payoutBody, amount: '1', customer_id },
    })
    expect(status).toBeLessThan(300)
  }
  await trust(app, { ...screens('trusted'), warm: who })
  const db = await openDatabase({ url: app.url, onFatal: () => {} })
  const logger = createLogger('silent', { write: () => {} })
  const server = createServer({ service: { ...app.service, db }, logger, rateLimit: null })
  onTestFinished(async () => {
    await server.close()
    await db.close()
  })
  await server.ready()
  return async (documentId: string) => {
    const parameters = documentId === 'other' ? { query: screens('other')['other-1'] } : { documentId }
    const response = await server.inject({
      method: 'POST',
      url: '/graphql',
      headers: { 'x-api-key': app.merchant.apiKey },
      payload: { ...parameters, variables: { id, customerId: customerIds[0] } },
    })
    return JSON.parse(response.body)
  }
}

test('a trusted document stays prepared and planned, however many other documents callers send', async () => {
  const pinned = createTrustedDocumentCache(sandboxSchema)
  const nothing = { refreshIfChanged: () => undefined, refresh: () => undefined }
  const find = createDocumentResolver(sandboxSchema, { policy: 'any', trusted: { ...pinned, ...nothing } })
  pinned.add('who', who)
  pinned.byId('who')?.planAhead()
  const before = await find({ query: null, identifier: { kind: 'documentId', value: 'who' } }, 'a')
  if ('errors' in before) throw before.errors[0]
  const planOf = () => before.operations[0]?.planFor({ sources: {}, coerced: {} })
  const plan = planOf()
  expect(plan).not.toBeNull()
  for (let other = 0; other < 1_500; other++) {
    const fresh = await find({ query: `{ merchant { name a${other}: uuid } }` }, 'b')
    if ('errors' in fresh) throw fresh.errors[0]
    fresh.operations[0]?.planFor({ sources: {}, coerced: {} })
  }
  expect(await find({ query: null, identifier: { kind: 'documentId', value: 'who' } }, 'a')).toBe(before)
  expect(await find({ query: who }, 'a')).toBe(before)
  expect(planOf()).toBe(plan)
})

test('a document text with several ids stays trusted until its last id is removed', () => {
  const pinned = createTrustedDocumentCache(sandboxSchema)
  for (const id of ['a', 'b', 'a']) pinned.add(id, who)
  expect(pinned.byId('a')).toBe(pinned.byId('b'))
  pinned.remove('a')
  expect([pinned.byId('a'), pinned.byText(who)?.text]).toEqual([undefined, who])
  pinned.remove('a')
  pinned.remove('b')
  expect([pinned.byId('b'), pinned.byText(who)]).toEqual([undefined, undefined])
  pinned.add('b', who)
  expect(pinned.byText(who)?.document()).toHaveProperty('operations')
})
