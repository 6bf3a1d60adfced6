import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Snapshot } from './auditor.ts'
import type { Change } from './changed-source.ts'
import { startMain } from './server.ts'
import { startLoad } from './wallet-load.ts'
import { makeWallets } from './wallets.ts'

/** Results of audits under load; `states` counts distinct snapshots. */
export type Watched = { snapshots: number; states: number; operations: number; readonly faults: string[] }

export type Watching = {
  readonly url: string
  readonly forMs: number
  readonly random: () => number
  readonly changes: readonly Change[]
}

/** Audits of books that hardly change prove nothing. */
export const fewestStates = 4

/** Runs clients against a server for a while, and another process that audits the books all the time. */
export async function watchBooks({ url, forMs, random, changes }: Watching): Promise<Watched> {
  const { apiKey, wallets } = await makeWallets(url, { count: 6, balance: '1000', fee: '1.5' })
  const server = await startMain({ url, changes })
  const auditor = startAuditor(url)
  // From here on every audit sees a server at work.
  await auditor.begun
  const load = startLoad({ port: server.port, apiKey }, { wallets, clients: 16, random })
  const startedAt = performance.now()
  const hasFor = (ms: number) => performance.now() - startedAt >= ms
  // Audits are slow on a busy machine: continues until a minimum has run.
  while (!hasFor(forMs) || (auditor.states() < fewestStates && !hasFor(20 * forMs))) await delay(100)
  const snapshots = await auditor.stop()
  await load.stop()
  await server.kill()
  const { paid, deposits, settled, faults } = load.done
  return {
    snapshots: snapshots.length,
    states: statesIn(snapshots),
    operations: paid.length + deposits + settled,
    faults: [...faults, ...snapshots.flatMap(({ faults }) => faults.map((fault) => `not so: ${fault}`))],
  }
}

function startAuditor(url: string) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'auditor.ts'), url], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const snapshots: Snapshot[] = []
  const begun = Promise.withResolvers<void>()
  child.on('message', (snapshot) => {
    snapshots.push(snapshot as Snapshot)
    begun.resolve()
  })
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()))
  ended.then(() => begun.reject(new Error('the auditor exited early')))
  const stop = async () => {
    if (child.exitCode !== null) throw new Error('the auditor exited early')
    child.disconnect()
    await ended
    return snapshots
  }
  return { begun: begun.promise, states: () => statesIn(snapshots), stop }
}

function statesIn(snapshots: readonly Snapshot[]): number {
  return new Set(snapshots.map(({ transfers }) => transfers)).size
}
