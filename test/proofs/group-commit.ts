import { strict as assert } from 'node:assert'
import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from '../bench/statistics.ts'
import { payFor } from './payout-load.ts'
import type { ServerReport } from './payout-server.ts'

// Proves that the group commit pays off: `node test/proofs/group-commit.ts`. It asserts ratios, never absolute times.
//
// 1. With 64 clients there is at most one commit, and so about one sync, per ten payouts.
// 2. With one client it is no slower than one transaction per request.

const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-proof-'))
const print = (line: string) => process.stdout.write(`${line}\n`)

try {
  await proveSharedCommits()
  await proveCostAlone()
} finally {
  rmSync(folder, { recursive: true })
}

async function proveSharedCommits(): Promise<void> {
  const isTraced = spawnSync('strace', ['--version']).status === 0
  const tracePath = join(folder, 'trace')
  const server = await startServer('grouped', 'shared', isTraced ? tracePath : null)
  await payFor(server.address, { clients: 64, forMs: 1_000 })

  const before = await server.report()
  const syncsBefore = syncsIn(tracePath)
  const payouts = await payFor(server.address, { clients: 64, forMs: 4_000 })
  const commits = (await server.report()).commits - before.commits
  const syncs = syncsIn(tracePath) - syncsBefore
  await server.end()

  print(`64 clients: ${payouts} payouts in ${commits} commits: ${(commits / payouts).toFixed(4)} per payout`)
  print(
    isTraced
      ? `  ${syncs} syncs: ${(syncs / payouts).toFixed(4)} per payout`
      : '  syncs: not counted, because strace is not installed',
  )
  assert.ok(commits / payouts <= 0.1, 'more than one commit per ten payouts')
  // Each commit syncs the WAL once; an occasional checkpoint syncs the WAL and the file once more.
  if (isTraced) assert.ok(syncs >= commits && syncs / payouts <= 0.12, 'too few or too many syncs per commit')
}

async function proveCostAlone(): Promise<void> {
  const kinds = ['grouped', 'alone'] as const
  const servers = { grouped: await startServer('grouped', 'grouped'), alone: await startServer('alone', 'alone') }
  const rates = { grouped: [] as number[], alone: [] as number[] }
  const costs = { grouped: [] as number[], alone: [] as number[] }
  const window = 800

  for (let round = -1; round < 12; round++) {
    // The order alternates between rounds, so that other load on the machine affects both alike.
    for (const kind of round % 2 === 0 ? kinds : kinds.toReversed()) {
      const { address, report } = servers[kind]
      const before = await report()
      const payouts = await payFor(address, { clients: 1, forMs: window })
      const cpuMs = (await report()).cpuMs - before.cpuMs
      if (round < 0) continue
      rates[kind].push(payouts / (window / 1000))
      costs[kind].push((cpuMs * 1000) / payouts)
    }
  }
  await Promise.all(kinds.map((kind) => servers[kind].end()))

  const rate = median(rates.grouped) / median(rates.alone)
  const cost = median(costs.alone) / median(costs.grouped)
  print('1 client, medians of 12 alternating rounds:')
  for (const kind of kinds) {
    print(`  ${kind}: ${median(rates[kind]).toFixed(0)} payouts/s, ${median(costs[kind]).toFixed(0)} µs of CPU each`)
  }
  print(`  grouped relative to alone: throughput ${rate.toFixed(3)}, payouts for the same CPU ${cost.toFixed(3)}`)
  assert.ok(rate >= 0.9 || cost >= 0.9, 'the group commit costs more than a tenth with one client')
}

type Server = {
  readonly address: ServerReport
  readonly report: () => Promise<ServerReport>
  readonly end: () => Promise<void>
}

/** Starts a server on a new database, under strace if its syncs are to be written to `tracePath`. */
async function startServer(kind: 'grouped' | 'alone', name: string, tracePath: string | null = null): Promise<Server> {
  const command = [
    process.execPath,
    join(import.meta.dirname, 'payout-server.ts'),
    kind,
    join(folder, `${name}.sqlite`),
  ]
  const trace = ['strace', '-f', '--seccomp-bpf', '-e', 'trace=fsync,fdatasync', '-o', String(tracePath)]
  const [program = '', ...words] = tracePath === null ? command : [...trace, ...command]
  const child = spawn(program, words, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const endEarly = (code: unknown) => {
    throw new Error(`the server exited early with ${code}`)
  }
  child.once('exit', endEarly)
  return {
    address: await nextReport(child),
    report: () => {
      child.send('report')
      return nextReport(child)
    },
    end: async () => {
      child.off('exit', endEarly)
      const ended = once(child, 'exit')
      child.disconnect()
      await ended
    },
  }
}

async function nextReport(child: ChildProcess): Promise<ServerReport> {
  const [report] = await once(child, 'message')
  return report as ServerReport
}

/** Number of traced syncs so far. */
function syncsIn(tracePath: string): number {
  if (!existsSync(tracePath)) return 0
  return readFileSync(tracePath, 'utf8').match(/\bf(data)?sync\(/g)?.length ?? 0
}
