/**
 * The cost of seals per payout: `npm run bench:seals`, with `-- --rounds <n> --only <sqlite or postgres>`.
 *
 * The service with and without seals, each on a separate database, pays in alternation; the figure is CPU time per
 * payout, with that of the PostgreSQL server, from the first payout until everything is sealed. By 64 clients of one
 * merchant, and of 64.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { inspectDatabase } from '../../src/app/open-database.ts'
import { unsealedMerchants } from '../../src/modules/hash-chain/repository.ts'
import { allMerchants } from '../../src/modules/merchants/repository.ts'
import { newPayoutLog, startPaying } from '../proofs/clients.ts'
import { newPostgresDatabase } from '../proofs/postgres-database.ts'
import { startPostgresServer } from '../support/postgres-server.ts'
import { processesUnder, processorTimeWithEnded, statusOf } from '../support/processor-time.ts'
import { richMerchants } from './data.ts'
import { service } from './measures.ts'
import type { Server } from './servers.ts'
import { startServer } from './servers.ts'

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' }, only: { type: 'string' } } })
const rounds = Number(values.rounds)
const clients = 64
const payMs = 4_000
/** The sealer's maximum delay. */
const restMs = 11_000

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))

type Side = {
  readonly url: string
  readonly isSealed: boolean
  readonly server: Server
  readonly apiKeys: readonly string[]
  readonly costs: number[]
}

const withoutSeals = ['--import', join(import.meta.dirname, 'without-seals.ts')]

async function side(name: string, url: string, words: string[]) {
  const merchants = await richMerchants(url, clients)
  const server = await startServer(service(url, { name, words }), folder)
  return { url, isSealed: words.length === 0, server, apiKeys: merchants.map(({ apiKey }) => apiKey), costs: [] }
}

/** CPU time of the server and of PostgreSQL, whose processes end with their connections. */
function cpuMsOf(server: Server): number {
  const own = processesUnder(process.pid).filter((pid) => statusOf(pid)?.name.startsWith('postgres'))
  return server.cpuMs() + own.reduce((sum, pid) => sum + processorTimeWithEnded(pid), 0)
}

/** CPU microseconds per payout in a window. */
async function costOf({ url, isSealed, server, apiKeys }: Side, isSpread: boolean): Promise<number> {
  const before = cpuMsOf(server)
  const log = newPayoutLog('cost')
  const payers = isSpread ? apiKeys : apiKeys.slice(0, 1)
  const paying = payers.map((apiKey) =>
    startPaying({ port: server.port, apiKey }, { clients: clients / payers.length, log }),
  )
  await wait(payMs)
  await Promise.all(paying.map(({ stop }) => stop()))
  // As long for both, because background work continues in both.
  await wait(restMs)
  if (isSealed) await sealedAll(url)
  return ((cpuMsOf(server) - before) * 1_000) / log.acknowledged.size
}

/** Asserts that everything is sealed, or the cost would miss some seals. */
async function sealedAll(url: string): Promise<void> {
  const { db, close } = await inspectDatabase(url)
  try {
    for (;;) {
      const merchantIds = (await allMerchants(db, {})).map(({ id }) => id)
      if ((await unsealedMerchants(db, { merchantIds })).length === 0) return
      await wait(250)
    }
  } finally {
    await close()
  }
}

async function compare(engine: string, urls: readonly [string, string]): Promise<void> {
  const sealed = await side('sealed', urls[0], [])
  const bare = await side('without seals', urls[1], withoutSeals)
  for (const isSpread of [false, true]) {
    const sides: Side[] = [sealed, bare].map((each) => ({ ...each, costs: [] }))
    // The first round is warm-up for both.
    for (let round = 0; round <= rounds; round++) {
      for (const each of round % 2 === 0 ? sides : sides.toReversed()) {
        const cost = await costOf(each, isSpread)
        if (round > 0) each.costs.push(cost)
      }
    }
    const [own, other] = sides.map(({ costs }) => median(costs)) as [number, number]
    const ratios = (sides[0] as Side).costs.map((cost, round) => cost / ((sides[1] as Side).costs[round] as number))
    process.stdout.write(
      `${engine}, ${isSpread ? `${clients} merchants` : 'one merchant'}: ${own.toFixed(0)} µs with seals, ${other.toFixed(0)} µs without: ` +
        `median ratio ${median(ratios).toFixed(3)} of ${rounds} (${ratios.map((ratio) => ratio.toFixed(3)).join(' ')})\n`,
    )
  }
  await Promise.all([sealed, bare].map(({ server }) => server.end()))
}

function median(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[Math.floor(figures.length / 2)] as number
}

if (values.only !== 'postgres')
  await compare('SQLite', [`sqlite:${join(folder, 'sealed')}`, `sqlite:${join(folder, 'bare')}`])
const postgres = values.only === 'sqlite' ? null : await startPostgresServer([])
try {
  if (postgres !== null) {
    const [sealed, bare] = [await newPostgresDatabase(postgres, 'sealed'), await newPostgresDatabase(postgres, 'bare')]
    await compare('PostgreSQL', [sealed, bare])
  }
} finally {
  await postgres?.remove()
}
