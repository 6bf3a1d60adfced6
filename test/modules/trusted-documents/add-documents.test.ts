import { describe, expect, test } from 'vitest'
import type { DomainError } from '../../../src/core/errors.ts'
import { stubId } from '../../../src/database/stub-database.ts'
import { documentErrors } from '../../../src/graphql/documents/prepare-document.ts'
import { addDocuments, listDocuments, removeDocument } from '../../../src/modules/trusted-documents/manage-documents.ts'
import { maxTrustedCharacters } from '../../../src/modules/trusted-documents/trusted-document.ts'
import { sandboxSchema } from '../../../src/server/graphql/schema.ts'
import type { App } from '../../support/app.ts'
import { everyEngine, startApp } from '../../support/app.ts'

const who = '{ merchant { name } }'
const wallets = 'query Wallets { wallets { totalCount } }'
const validate = (text: string) => documentErrors(sandboxSchema, text)

const add = (app: App, manifest: unknown) =>
  addDocuments(app.service, {
    manifest: typeof manifest === 'string' ? manifest : JSON.stringify(manifest),
    validate,
  })
const ids = async (app: App) => (await listDocuments(app.service)).map(({ id }) => id)

/** The fields and messages of the error, or its code if it has no fields. */
async function faultsOf(adding: Promise<unknown>): Promise<readonly string[]> {
  const refusal = await adding.then(
    () => null,
    (error: DomainError) => error,
  )
  return refusal?.details.fields?.map(({ field, message }) => `${field} ${message}`) ?? [String(refusal?.code)]
}

const apollo = (operations: readonly object[]) => ({
  format: 'apollo-persisted-query-manifest',
  version: 1,
  operations,
})

describe.each(everyEngine)('addDocuments on %s', (engine) => {
  test('accepts manifests of relay-compiler and the client preset, and Apollo manifests with operation names', async () => {
    const app = await startApp(engine)
    expect(await add(app, { b2f0: who, a1e9: wallets })).toEqual({ added: 2, known: 0 })
    const operation = { id: 'c3', name: 'Wallets', type: 'query', body: wallets }
    expect(await add(app, apollo([operation]))).toEqual({ added: 1, known: 0 })
    const listed = (await listDocuments(app.service)).map(({ id, name, text }) => [id, name, text])
    expect(listed).toEqual([
      ['a1e9', null, wallets],
      ['b2f0', null, who],
      ['c3', 'Wallets', wallets],
    ])
  })

  test('adds only the documents of a manifest that are not stored yet', async () => {
    const app = await startApp(engine)
    await add(app, { a: who })
    expect(await add(app, { a: who, b: wallets })).toEqual({ added: 1, known: 1 })
    expect(await add(app, `\uFEFF${JSON.stringify({ a: who, b: wallets })}`)).toEqual({ added: 0, known: 2 })
  })

  test('never accepts a different text for a used id, even after a removal, but accepts the same text again', async () => {
    const app = await startApp(engine)
    await add(app, { a: who })
    expect(await faultsOf(add(app, { z: wallets, a: wallets }))).toEqual([
      'a is already used as the id of another text',
    ])
    expect(await removeDocument(app.service, { id: 'a' })).toEqual({ removed: 'a' })
    expect(await faultsOf(add(app, { a: wallets }))).toEqual(['a is already used as the id of another text'])
    expect(await ids(app)).toEqual([])
    expect(await add(app, { a: who })).toEqual({ added: 1, known: 0 })
    expect(await ids(app)).toEqual(['a'])
    for (const id of ['none', 'A'])
      expect(await faultsOf(removeDocument(app.service, { id }))).toEqual(['RESOURCE_NOT_FOUND'])
  })

  test('reports every error of every document, and adds no document of that manifest', async () => {
    const app = await startApp(engine)
    const deep = '{ a '.repeat(13) + '}'.repeat(13)
    const costly = '{ customers(first: 100) { nodes { wallets(first: 100) { nodes { id } } } } }'
    const twice = 'mutation { a: createPayout(input: $x) { __typename } b: createPayout(input: $x) { __typename } }'
    const operations = [
      { id: '1', name: 'Fine', body: who },
      { id: '2', name: 'Unclosed', body: '{ merchant' },
      { id: '3', name: 'Unknown', body: '{ nothing somethingElse }' },
      { id: '4', name: 'Costly', body: costly },
      { id: '5', name: 'Empty', body: ' ' },
      { id: '6', name: 'Fragment', body: 'fragment F on Query { merchant { name } }' },
      { id: '7', name: 'Deep', body: deep },
      { id: '8', name: 'Long', body: `{ merchant { name } } #${'x'.repeat(10_000)}` },
      { id: '9', name: 'Money', body: twice },
    ]
    const faults = await faultsOf(add(app, apollo(operations)))
    expect(faults.map((fault) => fault.replace(/^(\w+ \(\d\)).*/, '$1'))).toEqual([
      'Unclosed (2)',
      'Unknown (3)',
      'Unknown (3)',
      'Costly (4)',
      'Empty (5)',
      'Fragment (6)',
      'Deep (7)',
      'Long (8)',
      ...faults.slice(8).map(() => 'Money (9)'),
    ])
    expect(faults).toContain(
      'Costly (4) exceeds the cost limit: its operation costs at least 11111, the limit is 10000',
    )
    expect(await ids(app)).toEqual([])
  })

  test('accepts a document that is too costly only with some variables, and rejects a request with such variables', async () => {
    const app = await startApp(engine)
    const sized =
      'query ($n: Int!, $ids: [ID!]!) { nodes(ids: $ids) { id } customers(first: $n) { nodes { wallets(first: 100) { nodes { id currency } } } } }'
    expect(await add(app, { sized })).toEqual({ added: 1, known: 0 })
    const ask = async (n: number) =>
      (await app.rest('POST', '/graphql', { body: { documentId: 'sized', variables: { n, ids: [stubId(1)] } } })).body
    expect((await ask(1)).errors).toBeUndefined()
    expect((await ask(100)).errors[0].extensions.code).toBe('QUERY_TOO_COMPLEX')
  })

  test.each<readonly [what: string, manifest: unknown, fault: string]>([
    ['no valid JSON', '{', 'MALFORMED_JSON'],
    ['a list', [], 'manifest must be a JSON object'],
    ['no documents', {}, 'manifest has no documents'],
    ['an id twice', '{"a":"{ __typename }","a":"{ merchant { name } }"}', 'a must be given once'],
    ['no text', { a: 1 }, 'a must have the text of a document'],
    ['an id with a space', { 'a b': who }, 'the id "a b" must be 1 to 200 characters of ASCII without spaces'],
    ['an empty id', { '': who }, 'the id "" must be 1 to 200 characters of ASCII without spaces'],
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
      'an operation twice',
      apollo([
        { id: 'a', body: who },
        { id: 'a', body: wallets },
      ]),
      'a must be given once',
    ],
    [
      'an operation without an id',
      apollo([{ body: who }]),
      'the id null must be 1 to 200 characters of ASCII without spaces',
    ],
  ])('rejects an invalid manifest: %s', async (_, manifest, fault) => {
    const app = await startApp(engine)
    expect(await faultsOf(add(app, manifest))).toEqual([fault])
    expect(await ids(app)).toEqual([])
  })

  test('limits the total size of all trusted documents, and a removal makes room for another document', async () => {
    const app = await startApp(engine)
    const long = (id: number) => `query Q${id} { merchant { name } } #`.padEnd(10_000, 'x')
    const most = maxTrustedCharacters / 10_000
    const manifest = Object.fromEntries(Array.from({ length: most }, (_, id) => [`id${id}`, long(id)]))
    expect(await add(app, manifest)).toEqual({ added: most, known: 0 })
    expect(await faultsOf(add(app, { more: who }))).toEqual([
      `manifest is too large: all trusted documents together may have ${maxTrustedCharacters} characters, and would have ${maxTrustedCharacters + who.length}`,
    ])
    await removeDocument(app.service, { id: 'id0' })
    expect(await add(app, { more: who })).toEqual({ added: 1, known: 0 })
  })

  test('stores each document once for eight concurrent calls', async () => {
    const app = await startApp(engine)
    const manifests = Array.from({ length: 8 }, (_, place) => ({ shared: who, [`own${place}`]: wallets }))
    const outcomes = await Promise.all(manifests.map((manifest) => add(app, manifest)))
    expect(outcomes.reduce((sum, { added }) => sum + added, 0)).toBe(9)
    const revisions = (await listDocuments(app.service))
      .map(({ revision }) => revision)
      .sort((one, other) => one - other)
    expect(revisions).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  })
})
