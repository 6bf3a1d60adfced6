import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { createMerchant } from '../../src/modules/merchants/create-merchant.ts'
import { addDocuments } from '../../src/modules/trusted-documents/manage-documents.ts'
import { createService } from '../../src/operations/context.ts'
import { createServer } from '../../src/server/host.ts'
import { cpuMs } from '../support/cpu.ts'
import { screens } from './screens.ts'
import { median } from './statistics.ts'

// The cost of an untrusted document, where only trusted ones run, relative to a trusted one: CPU time of a request,
// with 1,000 of each in alternation. No document text repeats.
//
// `node test/bench/refused-documents.ts [turns]`

const requests = 1_000
const trusted = 'query Who { merchant { name } wallets(first: 1) { nodes { id currency } } }'

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
const db = await openDatabase({ url: `sqlite:${join(folder, 'live.sqlite')}`, onFatal: () => {} })
const service = createService({ db, mode: 'live' })
const { apiKey } = await createMerchant(service, { name: 'Bench' })
await addDocuments(service, { manifest: JSON.stringify({ trusted }), validate: () => [] })
const logger = createLogger('info', { write: () => {} })
const server = createServer({ service, logger, rateLimit: null, documents: 'trusted' })
await server.ready()

async function ask(payload: string, expected: string): Promise<void> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const response = await server.inject({ method: 'POST', url: '/graphql', headers, payload })
  if (!response.body.includes(expected)) throw new Error(response.body)
}

let number = 0
const real = Object.values(screens('other'))
const other = () => `${real[number++ % real.length]} #${number}`
const kinds: Readonly<Record<string, () => [body: object, expected: string]>> = {
  'a trusted small query': () => [{ documentId: 'trusted' }, '"Bench"'],
  'another document of a screen': () => [{ query: other() }, 'DOCUMENT_NOT_TRUSTED'],
  'another of 10,000 characters': () => [{ query: other().padEnd(10_000, 'x') }, 'DOCUMENT_NOT_TRUSTED'],
  'an id that is not known': () => [{ documentId: `other ${number++}` }, 'PERSISTED_DOCUMENT_NOT_FOUND'],
}

const turns = Number(process.argv[2] ?? 15)
const seen = Object.keys(kinds).map(() => [] as number[])
for (let turn = -3; turn < turns; turn++) {
  for (const [place, make] of Object.values(kinds).entries()) {
    // The caller's own work is not counted.
    const bodies = Array.from({ length: requests }, make).map(
      ([body, expected]) => [JSON.stringify(body), expected] as const,
    )
    const took = await cpuMs(async () => {
      for (const [body, expected] of bodies) await ask(body, expected)
    })
    if (turn >= 0) seen[place]?.push((took / requests) * 1_000)
  }
}
const [own = 1] = seen.map(median)
for (const [place, name] of Object.keys(kinds).entries()) {
  const took = median(seen[place] ?? [])
  process.stdout.write(`${name}: ${took.toFixed(0)} µs of processor time, ${(took / own).toFixed(2)} of the first\n`)
}
await server.close()
await db.close()
rmSync(folder, { recursive: true })
