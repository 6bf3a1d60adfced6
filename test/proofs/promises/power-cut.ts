import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Change } from '../changed-source.ts'
import { checkpointsOften } from '../changes.ts'
import type { Acknowledged, PayoutLog } from '../clients.ts'
import { acknowledgedBy, newPayoutLog, startPaying } from '../clients.ts'
import type { StartLean } from '../lean.ts'
import { buildLean } from '../lean.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import { makeDatabase } from '../server.ts'
import { diskWith } from '../shim/disk.ts'
import type { ShimEnvironment, ShimRecord } from '../shim/shim.ts'
import { buildShim, readRecords } from '../shim/shim.ts'
import { compare, faultsOfBooks } from '../stored.ts'

const cuts = { ci: 90, quick: 300, long: 1_000 }
const cutsEach = 30
const payoutsEach = 200

export const proof: Proof = {
  promise: 'no acknowledged payout is lost in a power cut, whichever unsynced writes the disk has kept',
  control: 'synchronous=FULL',
  seconds: { ci: 120, quick: 300, long: 1_000 },
  run,
}

const file = 'src/database/sqlite/sqlite-connection.ts'

/** SQLite's default: the WAL is synced only before a checkpoint. */
const syncsSeldom: readonly Change[] = [
  {
    file,
    from: "enableWal(raw)\n    raw.pragma('synchronous = FULL')",
    to: "enableWal(raw)\n    raw.pragma('synchronous = NORMAL')",
  },
  { file, from: '!== 2)', to: '!== 1)' },
]

/** A server's file operations and its responses, from start to end. */
type Recording = {
  readonly before: Buffer
  readonly records: readonly ShimRecord[]
  /** What the clients know, which must not exceed what the records hold. */
  readonly log: PayoutLog
}

type Seen = { cuts: number; torn: number; acknowledged: number; checkpoints: number }

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  const shim = buildShim(folder)
  const path = join(folder, 'payouts.sqlite')
  const { apiKey } = await makeDatabase(path)
  const changes = isControl ? syncsSeldom : []
  const starts = [
    await buildLean(join(folder, 'as-it-is'), changes),
    await buildLean(join(folder, 'checkpointing'), [...changes, checkpointsOften]),
  ]
  const seen: Seen = { cuts: 0, acknowledged: 0, torn: 0, checkpoints: 0 }
  const faults: string[] = []
  for (let round = 0; seen.cuts < cuts[length] && faults.length === 0; round++) {
    const place = join(folder, String(round))
    mkdirSync(place)
    copyFileSync(path, join(place, 'payouts.sqlite'))
    const recording = await record(starts[round % starts.length] as StartLean, {
      path: join(place, 'payouts.sqlite'),
      apiKey,
      shim,
      clients: 1 + Math.floor(random() * 16),
    })
    faults.push(...(await cutOften(recording, { folder: place, random, seen })))
    rmSync(place, { recursive: true })
  }
  const figure =
    `${seen.cuts} cuts, ${seen.torn} of them with torn writes, after ${seen.acknowledged} acknowledged payouts ` +
    `and ${seen.checkpoints} checkpoint syncs`
  if (faults.length > 0) return { isHeld: false, figure: `${figure}; ${faults.slice(0, 3).join('; ')}` }
  return { isHeld: seen.checkpoints > 0 && seen.torn > 0, figure: `${figure}, 0 lost` }
}

/** Runs a server through a few hundred payouts and keeps the shim's records. */
async function record(
  start: StartLean,
  { path, apiKey, shim, clients }: { path: string; apiKey: string; shim: ShimEnvironment; clients: number },
): Promise<Recording> {
  const before = readFileSync(path)
  const shimLog = `${path}.log`
  const server = await start(`sqlite:${path}`, shim({ database: path, log: shimLog }))
  const log = newPayoutLog('cut')
  const paying = startPaying({ port: server.port, apiKey }, { clients, log })
  while (log.acknowledged.size < payoutsEach) await Promise.race([delay(10), paying.over])
  await paying.stop()
  await server.kill()
  return { before, records: readRecords(shimLog), log }
}

/** Cuts the power right after some of the responses and checks the remaining files each time. */
async function cutOften(
  { before, records, log }: Recording,
  { folder, random, seen }: { folder: string; random: () => number; seen: Seen },
): Promise<string[]> {
  const acknowledgements = records.filter(isAcknowledgement)
  const cutAfter = new Set(
    Array.from({ length: cutsEach }, () => acknowledgements[Math.floor(random() * acknowledgements.length)]),
  )
  const disk = diskWith(before)
  const acknowledged = new Map<string, Acknowledged>()
  for (const record of records) {
    disk.apply(record)
    if (record.operation === 'sync' && record.file === 'main') seen.checkpoints++
    if (!isAcknowledgement(record)) continue
    const acknowledgement = acknowledgedBy(record.bytes.toString().split('\r\n\r\n')[1] ?? '')
    acknowledged.set(acknowledgement.narration, acknowledgement)
    if (!cutAfter.has(record)) continue

    // Half of the cases are the worst one: no unsynced byte survives. In the others a part survives, not in the order
    // written.
    const chance = seen.cuts % 2 === 0 ? 0 : random()
    const path = join(folder, `cut-${seen.cuts}.sqlite`)
    disk.cutTo(path, chance, random)
    const faults = [...(await faultsOfBooks(path)), ...compare(path, { sent: log.sent, acknowledged }).faults]
    if (faults.length > 0) return faults
    seen.cuts++
    if (chance > 0) seen.torn++
  }
  seen.acknowledged += acknowledged.size
  const isWhole = [...log.acknowledged.keys()].every((narration) => acknowledged.has(narration))
  return isWhole ? [] : ['the shim did not record a response that a client received']
}

/** A payout's response on its way to a client, which the shim records as one write. */
function isAcknowledgement({ operation, bytes }: ShimRecord): boolean {
  const isAnswer = operation === 'send' && bytes.subarray(0, 12).toString() === 'HTTP/1.1 200'
  return isAnswer && bytes.includes('"transaction_id"')
}
