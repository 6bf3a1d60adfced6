import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { TestInstallation } from '../support/process.ts'
import { cli, cliProcess, createLiveInstallation, jsonOf, startService } from '../support/process.ts'

const who = '{ merchant { name } }'
const unknownField = '{ nothing }'

async function manifestOf(place: TestInstallation, documents: object): Promise<string> {
  const file = join(place.folder, 'persisted-documents.json')
  await writeFile(file, JSON.stringify(documents))
  return file
}

describe('trusted documents', () => {
  // Each API process must notice documents that a command adds.
  test.each(['1', '2'])('can be added, listed and removed while a service with WORKERS=%s runs', async (WORKERS) => {
    const place = await createLiveInstallation({ DOCUMENTS: 'trusted', WORKERS })
    const { apiKey } = (await cli(place, 'merchant', 'create', 'Acme', '--json')).json() as { apiKey: string }
    const { address } = await startService(place)
    const ask = async (body: object) => {
      const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
      // A new connection each time, so every process gets requests.
      const init = { method: 'POST', headers: { ...headers, connection: 'close' }, body: JSON.stringify(body) }
      const { data, errors } = await jsonOf(await fetch(`${address}/graphql`, init))
      return data?.merchant.name ?? errors[0].extensions.code
    }
    const askMany = async (body: object) => [...new Set(await Promise.all(Array.from({ length: 8 }, () => ask(body))))]
    expect(await askMany({ query: who })).toEqual(['DOCUMENT_NOT_TRUSTED'])

    const added = await cliProcess(place, 'documents', 'add', await manifestOf(place, { who }), '--json')
    expect([added.code, added.json()]).toEqual([0, { added: 1, known: 0 }])
    for (const body of [{ documentId: 'who' }, { query: who }]) expect(await askMany(body)).toEqual(['Acme'])
    const listed = (await cli(place, 'documents', 'list', '--json')).json()
    expect(listed).toEqual([{ id: 'who', name: null, characters: who.length, addedAt: expect.any(String) }])

    expect((await cli(place, 'documents', 'remove', 'who')).code).toBe(0)
    expect(await askMany({ documentId: 'who' })).toEqual(['PERSISTED_DOCUMENT_NOT_FOUND'])
    expect(await askMany({ query: who })).toEqual(['DOCUMENT_NOT_TRUSTED'])
  })

  test('are checked against the schema of this version, or against the schema in a file', async () => {
    const place = await createLiveInstallation()
    const pays = 'mutation Pay($input: CreatePayoutInput!) { createPayout(input: $input) { __typename } }'
    const manifest = await manifestOf(place, { who, events: '{ events(first: 100) { nodes { id } } }', pays })
    expect((await cli(place, 'documents', 'add', manifest)).code).toBe(0)
    const check = async (...args: string[]) => {
      const { code, json, stderr } = await cli(place, 'documents', 'check', ...args, '--json')
      return { code, result: json(), stderr }
    }
    expect(await check()).toEqual({ code: 0, result: [], stderr: '' })

    const current = await readFile(join(import.meta.dirname, '../../schema.graphql'), 'utf8')
    const file = join(place.folder, 'later.graphql')
    await writeFile(file, current)
    expect(await check('--schema', file)).toEqual({ code: 0, result: [], stderr: '' })

    await writeFile(
      file,
      current.replace('  merchant: Merchant\n', '  seller: Merchant\n').replaceAll('CreatePayoutInput', 'PayInput'),
    )
    expect(await check('--schema', file)).toEqual({
      code: 1,
      result: [
        { id: 'pays', name: null, error: expect.stringContaining('Unknown type "CreatePayoutInput"') },
        { id: 'who', name: null, error: expect.stringContaining('Cannot query field "merchant" on type "Query"') },
      ],
      stderr: '',
    })

    await writeFile(file, 'type Query {')
    const message = expect.stringMatching(/^--schema must be a file with a GraphQL schema: Syntax Error/)
    expect(await check('--schema', file)).toMatchObject({
      code: 1,
      result: { error: { code: 'INVALID_INPUT', message } },
    })
    const missing = await check('--schema', join(place.folder, 'none.graphql'))
    expect(missing).toMatchObject({ code: 1, result: { error: { message: expect.stringContaining('none.graphql') } } })
  })

  test('are rejected with all their errors; live mode also rejects documents that use a sandbox-only operation', async () => {
    const place = await createLiveInstallation()
    const simulation = 'mutation { simulateDeposit(input: { walletId: "x", amount: "1" }) { __typename } }'
    const refused = await cli(place, 'documents', 'add', await manifestOf(place, { who, unknownField, simulation }))
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('unknownField is invalid: Cannot query field "nothing" on type "Query"')
    expect(refused.stderr).toContain('simulation is invalid: Cannot query field "simulateDeposit" on type "Mutation"')
    expect((await cli(place, 'documents', 'list', '--json')).json()).toEqual([])
    const unknown = await cli(place, 'documents', 'remove', 'who')
    expect([unknown.code, unknown.stderr]).toEqual([1, 'Trusted document not found.\n'])
    const noFile = await cli(place, 'documents', 'add', join(place.folder, 'none.json'))
    expect([noFile.code, noFile.stderr]).toEqual([1, expect.stringContaining('none.json')])
  })
})
