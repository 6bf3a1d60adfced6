import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../../src/app/open-database.ts'
import type { Database } from '../../../src/database/database.ts'
import { sandboxRailName } from '../../../src/modules/rail-orders/sandbox-accounts.ts'
import { duePolls, dueSubmissions, openRailOrderCounts } from '../../../src/modules/rails/repository.ts'
import { median } from '../../bench/statistics.ts'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import { processesOf } from '../../support/processes.ts'
import { processorTimeOf } from '../../support/processor-time.ts'
import { dueTime } from '../../support/times.ts'
import type { Change } from '../changed-source.ts'
import { payFor } from '../payout-load.ts'
import { newPostgresDatabase } from '../postgres-database.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import type { Server } from '../server.ts'
import { fillDatabase, startMain } from '../server.ts'

/** Rounds of each kind, and their duration. */
const sizes = {
  ci: { rounds: 5, forMs: 400 },
  quick: { rounds: 11, forMs: 400 },
  long: { rounds: 61, forMs: 1_000 },
}

const clients = 64

/** Minimum throughput, relative to payouts without a rail. */
const leastShare = 0.8

/** Accounts at a bank that nothing simulates, and at the sandbox bank, which pays immediately. */
const accounts = { without: '0690000031', with: '9999999900' } as const
type Kind = keyof typeof accounts

export const proof: Proof = {
  promise: `payouts are accepted at least ${leastShare} times as fast with a rail that pays them as without a rail`,
  control: 'the limit of concurrent calls',
  seconds: { ci: 180, quick: 420, long: 1_800 },
  run,
  isAlone: true,
}

const unlimited: Change = {
  file: 'src/modules/rails/adapters/sandbox-rail.ts',
  from: 'maxConcurrentCalls: 2',
  to: 'maxConcurrentCalls: 10_000',
}

/** A configuration of the service. */
type Way = { readonly name: string; readonly url: string; readonly workers: number }

async function run({ length, isControl, folder }: Run): Promise<Outcome> {
  const postgres = await startPostgresServer(nonDurableSettings)
  const ways: Way[] = [
    { name: 'one process', url: `sqlite:${join(folder, 'one.sqlite')}`, workers: 1 },
    { name: 'WORKERS=2', url: `sqlite:${join(folder, 'two.sqlite')}`, workers: 2 },
    { name: 'PostgreSQL', url: await newPostgresDatabase(postgres, 'rails_load'), workers: 1 },
  ]
  const figures: string[] = []
  let isHeld = true
  try {
    for (const way of ways) {
      const seen = await loadOver(way, { ...sizes[length], isControl })
      figures.push(`${way.name}: ${seen.figure}`)
      isHeld &&= seen.isHeld
    }
  } finally {
    await postgres.remove()
  }
  return { isHeld, figure: figures.join('; ') }
}

type Loading = { readonly rounds: number; readonly forMs: number; readonly isControl: boolean }

async function loadOver({ url, workers }: Way, { rounds, forMs, isControl }: Loading): Promise<Outcome> {
  const { apiKey } = await fillDatabase(url)
  const db = await openDatabase({ url, isReadOnly: true, onFatal: () => {} })
  const server = await startMain({
    url,
    environment: { WORKERS: String(workers), RATE_LIMIT: 'off' },
    changes: isControl ? [unlimited] : [],
  })
  const kinds = Object.keys(accounts) as Kind[]
  const seen: Record<Kind, Round[]> = { without: [], with: [] }
  try {
    // A freshly started server gets faster for a while.
    for (let round = -1; round < rounds; round++) {
      // The order alternates between rounds, so that other load on the machine affects both kinds alike.
      for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
        const loaded = await loadOnce(server, { apiKey, accountNumber: accounts[kind], forMs, db })
        if (round >= 0) seen[kind].push(loaded)
      }
    }
  } finally {
    await server.kill('SIGTERM')
    await db.close()
  }
  return judge(seen, forMs)
}

/** Payouts accepted in a round, those unpaid at its end, its duration, and the CPU time for all of it. */
type Round = {
  readonly accepted: number
  readonly left: number
  readonly drainMs: number
  readonly cpuMs: number
}

type Once = {
  readonly apiKey: string
  readonly accountNumber: string
  readonly forMs: number
  readonly db: Database
}

async function loadOnce({ child, port }: Server, { apiKey, accountNumber, forMs, db }: Once): Promise<Round> {
  const pids = [child.pid as number, ...processesOf(child.pid as number).map(({ pid }) => pid)]
  const cpuMs = () => pids.reduce((sum, pid) => sum + processorTimeOf(pid), 0)
  const before = cpuMs()
  const accepted = await payFor({ port, apiKey }, { clients, forMs, accountNumber })
  const endedAt = performance.now()
  const left = (await openRailOrderCounts(db, {})).reduce((sum, { rowCount }) => sum + Number(rowCount), 0)
  // No work of this round remains in the next.
  while (await isAnyOpen(db)) await delay(20)
  return { accepted, left, drainMs: performance.now() - endedAt, cpuMs: cpuMs() - before }
}

async function isAnyOpen(db: Database): Promise<boolean> {
  const any = { rail: sandboxRailName, now: dueTime(Number.MAX_SAFE_INTEGER), limit: 1 }
  return [...(await dueSubmissions(db, any)), ...(await duePolls(db, any))].length > 0
}

function judge(seen: Record<Kind, readonly Round[]>, forMs: number): Outcome {
  const rate = (kind: Kind) => (median(seen[kind].map(({ accepted }) => accepted)) * 1_000) / forMs
  const cpu = (kind: Kind) => median(seen[kind].map(({ cpuMs, accepted }) => cpuMs / accepted)).toFixed(2)
  // Compares both kinds within each round, because other load on the machine affects both.
  const share = median(seen.with.map(({ accepted }, round) => accepted / (seen.without[round]?.accepted ?? 0)))
  const paidWithin = median(seen.with.map(({ accepted, left }) => (accepted - left) / accepted))
  const drained = median(seen.with.map(({ left, drainMs }) => (left * 1_000) / drainMs))
  const figure =
    `${rate('with').toFixed(0)} payouts/s with a rail, ${rate('without').toFixed(0)} without: ${share.toFixed(2)}, ` +
    `${cpu('with')} ms of CPU per paid payout, ${cpu('without')} without a rail, ` +
    `${(100 * paidWithin).toFixed(0)} % paid meanwhile and the others at ${drained.toFixed(0)}/s`
  return { isHeld: share >= leastShare, figure }
}
