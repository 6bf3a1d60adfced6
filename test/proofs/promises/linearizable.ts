import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { parseAmount } from '../../../src/core/money/amount.ts'
import { nonDurableSettings, startPostgresServer } from '../../support/postgres-server.ts'
import { processesOf } from '../../support/processes.ts'
import type { Change } from '../changed-source.ts'
import { faultOfHistory } from '../linearizability.ts'
import type { Length, Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Server } from '../server.ts'
import { startMain } from '../server.ts'
import type { RecordingClients } from '../wallet-history.ts'
import { startRecording } from '../wallet-history.ts'
import { makeWallets } from '../wallets.ts'

export const proof: Proof = {
  promise: 'a wallet is linearizable, whichever process responds and whichever is killed, on both engines',
  control: 'ending a read transaction after a newer commit',
  seconds: { ci: 120, quick: 120, long: 2_400 },
  run,
}

const histories = { ci: 3, quick: 3, long: 20 }
const operations = { ci: 1_000, quick: 1_000, long: 5_000 }
const clients = 16
const opening = '200'

/** The processes that respond. */
const setups = ['one process', 'WORKERS=2', 'PostgreSQL'] as const
type Setup = (typeof setups)[number]

/** Kills in each history; killing one process of several needs no restart of the service. */
const killsIn: Record<Setup, Record<Length, number>> = {
  'one process': { ci: 1, quick: 1, long: 2 },
  'WORKERS=2': { ci: 2, quick: 2, long: 6 },
  PostgreSQL: { ci: 1, quick: 1, long: 2 },
}

/** A process that forwards writes keeps an old read transaction, whatever was committed since. */
const readsOn: readonly Change[] = [
  {
    file: 'src/database/sqlite/sqlite-reader.ts',
    from: 'setImmediate(refresh)',
    to: 'setTimeout(refresh, 30)',
  },
  {
    file: 'src/app/serve.ts',
    from: 'connectToWriter(writerPath, started.db.refresh)',
    to: 'connectToWriter(writerPath, () => {})',
  },
]

type Seen = { unknown: number; refused: number; readonly faults: string[]; readonly disorders: string[] }

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  const postgres = isControl ? null : await startPostgresServer(nonDurableSettings)
  const seen: Seen = { unknown: 0, refused: 0, faults: [], disorders: [] }
  const count = isControl ? 1 : histories[length]
  try {
    for (let i = 0; i < count; i++) {
      const setup = isControl ? 'WORKERS=2' : (setups[i % setups.length] as Setup)
      const url = setup === 'PostgreSQL' ? postgres?.url('postgres') : `sqlite:${join(folder, `${i}.sqlite`)}`
      const kills = isControl ? 0 : killsIn[setup][length]
      await watch(setup, { url: String(url), seen, random, operations: operations[length], kills, isControl })
    }
  } finally {
    await postgres?.remove()
  }
  const { unknown, refused, faults, disorders } = seen
  const figure =
    `${count} histories of ${operations[length].toLocaleString('en')} operations by ${clients} clients, ` +
    `${unknown} of them with an unknown outcome, ${refused} payouts rejected: ${disorders.length} wallets without a linearization` +
    [...faults, ...disorders]
      .slice(0, 3)
      .map((fault) => `; ${fault}`)
      .join('')
  if (isControl) return { isHeld: disorders.length === 0, figure }
  // Without unknown outcomes the kills interrupted no client.
  return { isHeld: faults.length === 0 && disorders.length === 0 && unknown > 0 && refused > 0, figure }
}

type Watching = {
  readonly url: string
  readonly seen: Seen
  readonly random: () => number
  readonly operations: number
  readonly kills: number
  readonly isControl: boolean
}

/** Runs clients while processes are killed, and searches for a linearization of their responses. */
async function watch(setup: Setup, { url, seen, random, operations, kills, isControl }: Watching): Promise<void> {
  const { apiKey, wallets } = await makeWallets(url, { count: 4, balance: opening })
  const environment = { WORKERS: setup === 'WORKERS=2' ? '2' : '1' }
  const start = () => startMain({ url, environment, changes: isControl ? readsOn : [] })
  let server = start()
  const where = async () => ({ port: (await server).port, apiKey })
  const recording = startRecording({ where, wallets, clients, operations, random })
  for (let kill = 1; kill <= kills; kill++) {
    await until(recording, (operations * kill) / (kills + 1))
    const running = await server
    if (setup === 'WORKERS=2') await killOne(running, kill % 2 === 1 ? 'writer' : 'reader')
    else server = running.kill().then(start)
  }
  await recording.over
  await (await server).kill()

  const { recorded } = recording
  seen.unknown += recorded.count.unknown
  seen.refused += recorded.count.refused
  seen.faults.push(...recorded.faults.map((fault) => `${setup}: ${fault}`))
  for (const history of recorded.histories.values()) {
    const fault = faultOfHistory(parseAmount(opening) as bigint, history)
    if (fault !== null) seen.disorders.push(`${setup}: ${fault}`)
  }
}

/** Waits until a number of operations was requested. */
async function until({ recorded, over }: RecordingClients, asked: number): Promise<void> {
  while (recorded.count.requested < asked) await Promise.race([delay(5), over])
}

/** Kills one process of a service with WORKERS when one exists; another replaces it. */
async function killOne({ child }: Server, role: 'writer' | 'reader'): Promise<void> {
  for (;;) {
    const own = processesOf(child.pid as number).find((each) => each.role === role)
    if (own !== undefined) return void process.kill(own.pid, 'SIGKILL')
    await delay(50)
  }
}
