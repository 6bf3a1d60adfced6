import { writeFile } from 'node:fs/promises'
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

  test('that are invalid in the live schema are rejected, with an error for each', async () => {
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
