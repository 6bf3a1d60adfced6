import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Change } from '../changed-source.ts'
import type { PayoutLog } from '../clients.ts'
import { mergedLog, newPayoutLog, startPaying } from '../clients.ts'
import { buildLean } from '../lean.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import { makeDatabase, startMain } from '../server.ts'
import { compare, faultsOfBooks } from '../stored.ts'

const kills = { ci: 40, quick: 200, long: 2_000 }

/** One server in this many is the whole service; the others are lean servers, which only pay. */
const wholeEvery = 25
const booksEvery = 25

export const proof: Proof = {
  promise: 'no acknowledged payout is lost when the process is killed',
  control: 'waiting for the commit before responding',
  seconds: { ci: 120, quick: 400, long: 4_000 },
  run,
}

const answersEarly: Change = {
  file: 'src/database/sqlite/sqlite-writer.ts',
  from: '    if (!batch.isOver) commitBatch(batch)\n  }',
  to: `    for (const { outcome, resolve } of batch.writes) if (outcome && 'result' in outcome) resolve(outcome.result)
    setTimeout(commitBatch, 50, batch)
  }`,
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  const path = join(folder, 'payouts.sqlite')
  const { url, apiKey } = await makeDatabase(path)
  const changes = isControl ? [answersEarly] : []
  const startLean = await buildLean(folder, changes)
  const start = (kill: number) => (kill % wholeEvery === 0 ? startMain({ url, changes }) : startLean(url))

  const logs: PayoutLog[] = []
  const faults: string[] = []
  let latest = 0n
  let unacknowledged = 0
  while (faults.length === 0) {
    const server = await start(logs.length)
    // Checks the database that the last kill left as a service finds it: opened, and without requests.
    const look = compare(path, logs.at(-1) ?? newPayoutLog(''), latest)
    faults.push(...look.faults)
    latest = look.latest
    unacknowledged += look.unacknowledged
    const isLast = logs.length === kills[length]
    if (logs.length % booksEvery === 0 || isLast) faults.push(...(await faultsOfBooks(path)))
    if (isLast) faults.push(...compare(path, mergedLog(logs)).faults)
    if (faults.length > 0 || isLast) {
      await server.kill()
      break
    }
    const log = newPayoutLog(`kill ${logs.length}`)
    logs.push(log)
    const clients = startPaying({ port: server.port, apiKey }, { clients: 1 + Math.floor(random() * 16), log })
    // Most kills hit a server at work, some before its first response.
    if (random() < 0.9) await clients.begun
    await delay(random() * 60)
    const { signal, errors } = await server.kill()
    await clients.over
    if (signal !== 'SIGKILL') faults.push(`the server exited before its kill: ${errors}`)
    if (log.others.size > 0) faults.push(`some payouts got another status than 200: ${[...log.others]}`)
  }
  const { acknowledged } = mergedLog(logs)
  const figure = `${logs.length} kills, ${acknowledged.size} acknowledged, ${unacknowledged} stored without a response`
  if (faults.length > 0) return { isHeld: false, figure: `${figure}; ${faults.slice(0, 3).join('; ')}` }
  // Few responses before the kills would prove nothing.
  return { isHeld: acknowledged.size > 3 * logs.length, figure: `${figure}, 0 lost` }
}
