import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '../../src/app/logger.ts'
import { openDatabase } from '../../src/app/open-database.ts'
import { addDocuments } from '../../src/modules/trusted-documents/manage-documents.ts'
import { createService } from '../../src/operations/context.ts'
import { createServer } from '../../src/server/host.ts'
import type { BenchDatabase } from './data.ts'
import { createBenchDatabase } from './data.ts'
import { screens } from './screens.ts'
import { median } from './statistics.ts'

// The cost of a document's first request after a start, relative to its tenth: of a trusted document, known at the
// start, and of an untrusted one as the control. Every round is a separate process, which other documents have warmed
// up.
//
// `node test/bench/first-requests.ts [rounds]`

const requestsOfEach = 10
const warming = 100

type Round = { readonly databasePath: string; readonly data: BenchDatabase }

async function measure({ databasePath, data }: Round): Promise<number[][]> {
  const db = await openDatabase({ url: `sqlite:${databasePath}`, onFatal: () => {} })
  const service = createService({ db, mode: 'sandbox' })
  const logger = createLogger('info', { write: () => {} })
  const server = createServer({ service, logger, rateLimit: null })
  await server.ready()
  const ask = async (named: object): Promise<number> => {
    const variables = { id: data.walletId, customerId: data.customerId }
    const headers = { 'x-api-key': data.apiKey }
    const begun = performance.now()
    const response = await server.inject({ method: 'POST', url: '/graphql', headers, payload: { ...named, variables } })
    const tookMs = performance.now() - begun
    if (!response.body.startsWith('{"data":')) throw new Error(response.body)
    return tookMs
  }
  for (let turn = 0; turn < warming; turn++) for (const query of Object.values(screens('other'))) await ask({ query })
  const times: number[][] = []
  const queries = Object.entries(screens('trusted'))
  for (const [documentId, query] of queries) {
    const named = process.argv[2] === 'trusted' ? { documentId } : { query }
    const took: number[] = []
    for (let place = 0; place < requestsOfEach; place++) took.push(await ask(named))
    times.push(took)
  }
  await server.close()
  await db.close()
  return times
}

async function inOwnProcess(kind: 'trusted' | 'unknown', round: Round): Promise<number[][]> {
  const child = fork(import.meta.filename, [kind])
  child.send(round)
  const [times] = (await once(child, 'message')) as [number[][]]
  await once(child, 'exit')
  return times
}

async function compare(rounds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-'))
  const data = await createBenchDatabase(folder, 'first', {
    customers: 200,
    methods: 200,
    wallets: 400,
    payouts: 2_000,
  })
  const withDocuments = join(folder, 'trusted.sqlite')
  copyFileSync(data.path, withDocuments)
  const db = await openDatabase({ url: `sqlite:${withDocuments}`, onFatal: () => {} })
  const service = createService({ db, mode: 'sandbox' })
  await addDocuments(service, { manifest: JSON.stringify(screens('trusted')), validate: () => [] })
  await db.close()
  const seen = { trusted: [] as number[][], unknown: [] as number[][] }
  for (let round = 0; round < rounds; round++) {
    seen.trusted.push(...(await inOwnProcess('trusted', { databasePath: withDocuments, data })))
    seen.unknown.push(...(await inOwnProcess('unknown', { databasePath: data.path, data })))
  }
  for (const [kind, times] of Object.entries(seen)) {
    const at = (place: number) => median(times.map((took) => took[place] as number))
    const [first, second, tenth] = [at(0), at(1), at(requestsOfEach - 1)]
    const ratios = times.map((took) => (took[0] as number) / (took[requestsOfEach - 1] as number))
    process.stdout.write(
      `${kind}: first ${first.toFixed(3)} ms, second ${second.toFixed(3)} ms, tenth ${tenth.toFixed(3)} ms; ` +
        `first / tenth ${(first / tenth).toFixed(2)}, median of each document's own ${median(ratios).toFixed(2)}\n`,
    )
  }
  rmSync(folder, { recursive: true })
}

if (process.send) {
  process.once('message', async (round: Round) => {
    const times = await measure(round)
    process.send?.(times, undefined, undefined, () => process.exit(0))
  })
} else await compare(Number(process.argv[2] ?? 5))
