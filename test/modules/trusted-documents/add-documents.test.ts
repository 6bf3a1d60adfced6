import { describe, expect, test } from 'vitest'
import type { DomainError } from '../../../src/core/errors.ts'
import { stubId } from '../../../src/database/stub-database.ts'
import { documentErrors } from '../../../src/graphql/documents/validate-document.ts'
import { addDocuments } from '../../../src/modules/trusted-documents/add-documents.ts'
import { listDocuments } from '../../../src/modules/trusted-documents/list-documents.ts'
import { removeDocument } from '../../../src/modules/trusted-documents/remove-document.ts'
import { maxTrustedCharacters } from '../../../src/modules/trusted-documents/trusted-document.ts'
import { sandboxSchema } from '../../../src/server/graphql/schema.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'

const merchantQuery = '{ merchant { name } }'
const walletsQuery = 'query Wallets { wallets { totalCount } }'
const findErrors = (text: string) => documentErrors(sandboxSchema, text)

const add = (app: App, manifest: unknown) =>
  addDocuments(app.service, {
    manifest: typeof manifest === 'string' ? manifest : JSON.stringify(manifest),
    faultsIn: findErrors,
  })
const ids = async (app: App) => (await listDocuments(app.service)).map(({ id }) => id)

/** The validation messages of a rejected promise, or its error code. */
async function messagesOf(promise: Promise<unknown>): Promise<readonly string[]> {
  const error = await promise.then(
    () => null,
    (error: DomainError) => error,
  )
  return error?.details.fields?.map(({ field, message }) => `${field} ${message}`) ?? [String(error?.code)]
}

const apollo = (operations: readonly object[]) => ({
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations,
})

describe.each(everyEngine)('addDocuments on %s', (engine) => {
  test('accepts the manifests of relay-compiler, the client preset and Apollo', async () => {
    const app = await startApp(engine)
    expect(await add(app, { b2f0: merchantQuery, a1e9: walletsQuery })).toEqual({ added: 2, known: 0 })
    const operation = { id: 'c3', name: 'Wallets', type: 'query', body: walletsQuery }
    expect(await add(app, apollo([operation]))).toEqual({ added: 1, known: 0 })
    const documents = (await listDocuments(app.service)).map(({ id, name, text }) => [id, name, text])
    expect(documents).toEqual([
      ['a1e9', null, walletsQuery],
      ['b2f0', null, merchantQuery],
      ['c3', 'Wallets', walletsQuery],
    ])
  })

  test('adds the new documents of a changed manifest, and nothing of an unchanged one', async () => {
    const app = await startApp(engine)
    await add(app, { a: merchantQuery })
    expect(await add(app, { a: merchantQuery, b: walletsQuery })).toEqual({ added: 1, known: 1 })
    expect(await add(app, `\uFEFF${JSON.stringify({ a: merchantQuery, b: walletsQuery })}`)).toEqual({
      added: 0,
      known: 2,
    })
  })

  test('rejects another text under a used id, and accepts a removed document again', async () => {
    const app = await startApp(engine)
    await add(app, { a: merchantQuery })
    expect(await messagesOf(add(app, { z: walletsQuery, a: walletsQuery }))).toEqual([
      'a is the id of another text already',
    ])
    expect(await removeDocument(app.service, { id: 'a' })).toEqual({ removed: 'a' })
    expect(await messagesOf(add(app, { a: walletsQuery }))).toEqual(['a is the id of another text already'])
    expect(await ids(app)).toEqual([])
    expect(await add(app, { a: merchantQuery })).toEqual({ added: 1, known: 0 })
    expect(await ids(app)).toEqual(['a'])
    for (const id of ['none', 'A'])
      expect(await messagesOf(removeDocument(app.service, { id }))).toEqual(['RESOURCE_NOT_FOUND'])
  })

  test('reports every error of every document and adds none', async () => {
    const app = await startApp(engine)
    const deep = '{ a '.repeat(13) + '}'.repeat(13)
    const costly = '{ customers(first: 100) { nodes { wallets(first: 100) { nodes { id } } } } }'
    const twoPayouts =
      'mutation { a: createPayout(input: $x) { __typename } b: createPayout(input: $x) { __typename } }'
    const operations = [
      { id: '1', name: 'Fine', body: merchantQuery },
      { id: '2', name: 'Unclosed', body: '{ merchant' },
      { id: '3', name: 'Unknown', body: '{ nothing somethingElse }' },
      { id: '4', name: 'Costly', body: costly },
      { id: '5', name: 'Empty', body: ' ' },
      { id: '6', name: 'Fragment', body: 'fragment F on Query { merchant { name } }' },
      { id: '7', name: 'Deep', body: deep },
      { id: '8', name: 'Long', body: `{ merchant { name } } #${'x'.repeat(10_000)}` },
      { id: '9', name: 'Money', body: twoPayouts },
    ]
    const messages = await messagesOf(add(app, apollo(operations)))
    expect(messages.map((message) => message.replace(/^(\w+ \(\d\)).*/, '$1'))).toEqual([
      'Unclosed (2)',
      'Unknown (3)',
      'Unknown (3)',
      'Costly (4)',
      'Empty (5)',
      'Fragment (6)',
      'Deep (7)',
      'Long (8)',
      ...messages.slice(8).map(() => 'Money (9)'),
    ])
    expect(messages).toContain('Costly (4) is refused: its operation costs 11111 at least, and may cost 10000')
    expect(await ids(app)).toEqual([])
  })

  test('accepts a document whose cost depends on variables, which is checked at the request', async () => {
    const app = await startApp(engine)
    const sized =
      'query ($n: Int!, $ids: [ID!]!) { nodes(ids: $ids) { id } customers(first: $n) { nodes { wallets(first: 100) { nodes { id currency } } } } }'
    expect(await add(app, { sized })).toEqual({ added: 1, known: 0 })
    const send = async (n: number) =>
      (await app.rest('POST', '/graphql', { body: { documentId: 'sized', variables: { n, ids: [stubId(1)] } } })).body
    expect((await send(1)).errors).toBeUndefined()
    expect((await send(100)).errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX')
  })

  test.each<readonly [what: string, manifest: unknown, fault: string]>([
    ['malformed JSON', '{', 'MALFORMED_JSON'],
    ['a list', [], 'manifest must be a JSON object'],
    ['no documents', {}, 'manifest has no documents'],
    ['a duplicate id', '{"a":"{ __typename }","a":"{ merchant { name } }"}', 'a must be given once'],
    ['a document that is no text', { a: 1 }, 'a must have the text of a document'],
    [
      'an id with a space',
      { 'a b': merchantQuery },
      'the id "a b" must be 1 to 200 characters of ASCII without spaces',
    ],
    ['an empty id', { '': merchantQuery }, 'the id "" must be 1 to 200 characters of ASCII without spaces'],
    [
      'another format',
      { format: 'other', version: 1, operations: [] },
      'manifest must have the format apollo-persisted-query-manifest in version 1',
    ],
    [
      'another version',
      { ...apollo([]), version: 2 },
      'manifest must have the format apollo-persisted-query-manifest in version 1',
    ],
    ['no operations', { ...apollo([]), operations: {} }, 'manifest must have a list of operations'],
    [
      'a duplicate operation',
      apollo([
        { id: 'a', body: merchantQuery },
        { id: 'a', body: walletsQuery },
      ]),
      'a must be given once',
    ],
    [
      'an operation without an id',
      apollo([{ body: merchantQuery }]),
      'the id null must be 1 to 200 characters of ASCII without spaces',
    ],
  ])('rejects a manifest with %s', async (_, manifest, expectedMessage) => {
    const app = await startApp(engine)
    expect(await messagesOf(add(app, manifest))).toEqual([expectedMessage])
    expect(await ids(app)).toEqual([])
  })

  test('enforces the total size of all documents', async () => {
    const app = await startApp(engine)
    const long = (id: number) => `query Q${id} { merchant { name } } #`.padEnd(10_000, 'x')
    const maxDocuments = maxTrustedCharacters / 10_000
    const manifest = Object.fromEntries(Array.from({ length: maxDocuments }, (_, id) => [`id${id}`, long(id)]))
    expect(await add(app, manifest)).toEqual({ added: maxDocuments, known: 0 })
    expect(await messagesOf(add(app, { more: merchantQuery }))).toEqual([
      `manifest has too much: all documents together may have ${maxTrustedCharacters} characters, and would have ${maxTrustedCharacters + merchantQuery.length}`,
    ])
    await removeDocument(app.service, { id: 'id0' })
    expect(await add(app, { more: merchantQuery })).toEqual({ added: 1, known: 0 })
  })

  test('adds each document once for eight concurrent calls', async () => {
    const app = await startApp(engine)
    const manifests = Array.from({ length: 8 }, (_, index) => ({
      shared: merchantQuery,
      [`own${index}`]: walletsQuery,
    }))
    const outcomes = await Promise.all(manifests.map((manifest) => add(app, manifest)))
    expect(outcomes.reduce((sum, { added }) => sum + added, 0)).toBe(9)
    const revisions = (await listDocuments(app.service))
      .map(({ revision }) => revision)
      .sort((one, other) => one - other)
    expect(revisions).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })
})
