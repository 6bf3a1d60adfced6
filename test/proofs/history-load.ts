import { setTimeout as delay } from 'node:timers/promises'
import { openDatabase } from '../../src/app/open-database.ts'
import { auditChain } from '../../src/modules/audit/audit.ts'
import { findWrongBalanceChanges } from '../../src/modules/audit/find-wrong-balance-changes.ts'
import { findWrongStatistics } from '../../src/modules/audit/find-wrong-statistics.ts'
import { readCoverage } from '../../src/modules/payout-statistics/read-statistics.ts'
import { createService } from '../../src/operations/context.ts'
import { processesOf } from '../support/processes.ts'
import { newPayoutLog, startPaying } from './clients.ts'
import { startMain } from './server.ts'

/** What a checker of the hash chain saw while services sealed it and were killed. */
export type Watched = {
  readonly audits: number
  readonly kills: number
  readonly payouts: number
  readonly seals: number
  readonly faults: readonly string[]
}

/**
 * Runs services that pay, seal and are killed for a number of rounds, and compares history with its seals and its
 * payout statistics throughout; they must always match.
 *
 * @param services number of services that share the database, each with `workers` processes
 */
export async function watchHistory(
  { url, apiKey }: { url: string; apiKey: string },
  { rounds, random, services, workers }: { rounds: number; random: () => number; services: number; workers: number },
): Promise<Watched> {
  const fail = (error: Error) => {
    throw error
  }
  const db = await openDatabase({ url, mustExist: true, isReadOnly: true, onFatal: fail })
  const service = createService({ db, mode: 'sandbox' })
  const faults: string[] = []
  const log = newPayoutLog('history')
  let [audits, kills, seals, unsealed, isOver] = [0, 0, 0, 1, false]
  const look = async () => {
    const { findings, chain } = await auditChain(service)
    audits++
    ;[seals, unsealed] = [chain.seals, chain.unsealed]
    faults.push(...findings.flatMap(({ examples }) => examples))
    // Seals add their events to the statistics, so a kill must not leave one without the other.
    for (const findWrong of [findWrongStatistics, findWrongBalanceChanges])
      faults.push(...(await db.snapshot(findWrong)).map(({ id }) => `wrong statistics: ${id}`))
  }
  const looking = (async () => {
    while (!isOver && faults.length === 0) {
      await look()
      await delay(100)
    }
  })()
  const start = () => startMain({ url, environment: { WORKERS: String(workers) } })
  const servers = []
  for (let number = 0; number < services; number++) servers.push(await start())
  for (let round = 0; round < rounds && faults.length === 0; round++) {
    const place = Math.floor(random() * servers.length)
    const server = servers[place] as Awaited<ReturnType<typeof start>>
    const paying = startPaying({ port: server.port, apiKey }, { clients: 8, log })
    await paying.begun
    // Hits the moment in which a seal, or an event that the seal covers, is being written.
    await delay(1_000 + random() * 1_500)
    const [victim] = processesOf(server.child.pid as number).toSorted(() => random() - 0.5)
    kills++
    if (victim !== undefined && random() < 0.5) {
      process.kill(victim.pid, 'SIGKILL')
      await paying.stop()
      continue
    }
    await server.kill()
    await paying.over
    servers[place] = await start()
  }
  // A surviving service seals the rest, although the process that sealed before is dead.
  for (const until = performance.now() + 60_000; unsealed > 0 && performance.now() < until; ) await delay(200)
  isOver = true
  await looking
  await look()
  if (unsealed > 0) faults.push(`${unsealed} events were not sealed within a minute`)
  const { uncountedEvents } = await readCoverage(service)
  if (uncountedEvents > 0) faults.push(`${uncountedEvents} sealed events are not in the statistics`)
  for (const server of servers) await server.kill('SIGTERM')
  await db.close()
  return { audits, kills, payouts: log.acknowledged.size, seals, faults }
}
