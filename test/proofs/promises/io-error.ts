import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { believesCommits, checkpointsOften } from '../changes.ts'
import type { PayoutLog } from '../clients.ts'
import { newPayoutLog, startPaying } from '../clients.ts'
import type { StartLean } from '../lean.ts'
import { buildLean } from '../lean.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import type { Ended, Server } from '../server.ts'
import { makeDatabase, StartFailed } from '../server.ts'
import { diskWith } from '../shim/disk.ts'
import type { Failure, ShimEnvironment } from '../shim/shim.ts'
import { buildShim, readRecords } from '../shim/shim.ts'
import { compare, faultsOfBooks } from '../stored.ts'

/** Number of first writes and syncs among which some fail, each in a separate server. */
const failures = { ci: { of: 300, some: 30 }, quick: { of: 300, some: 60 }, long: { of: 1_000, some: 1_000 } }

/** One in ten of the writes is cut short instead, which is no failure. */
const shortOfTen = 2
const booksEvery = 15
const clients = 4
const lanes = 2

export const proof: Proof = {
  promise: 'after an I/O error no payout is acknowledged that is not stored',
  control: 'exiting the process when a commit fails',
  seconds: { ci: 120, quick: 400, long: 4_000 },
  run,
}

/** The paths that each server gets a copy of. */
type Bench = {
  readonly folder: string
  readonly path: string
  readonly apiKey: string
  readonly shim: ShimEnvironment
  readonly starts: readonly StartLean[]
}

type Seen = {
  errors: number
  shorts: number
  ended: number
  unavailable: number
  acknowledged: number
  faults: string[]
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const path = join(folder, 'payouts.sqlite')
  const { apiKey } = await makeDatabase(path)
  const changes = isControl ? [believesCommits] : []
  const starts = [
    await buildLean(join(folder, 'as-it-is'), changes),
    await buildLean(join(folder, 'checkpointing'), [...changes, checkpointsOften]),
  ]
  const bench: Bench = { folder, path, apiKey, shim: buildShim(folder), starts }
  const waiting = someFailures(failures[length], randomFrom(seed))
  const seen: Seen = { errors: 0, shorts: 0, ended: 0, unavailable: 0, acknowledged: 0, faults: [] }
  const lane = async () => {
    for (let next = waiting.pop(); next && seen.faults.length === 0; next = waiting.pop()) await meet(bench, next, seen)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  const figure =
    `in the first ${failures[length].of} writes and syncs ${seen.errors} errors and ${seen.shorts} short writes, ` +
    `of which ${seen.ended} ended the process and ${seen.unavailable} led to a 503; ${seen.acknowledged} acknowledged`
  if (seen.faults.length > 0) return { isHeld: false, figure: `${figure}; ${seen.faults.slice(0, 3).join('; ')}` }
  return { isHeld: seen.acknowledged > 0 && seen.ended > 0, figure: `${figure}, 0 of them false` }
}

/** The failures to run, in random order. */
function someFailures({ of, some }: { of: number; some: number }, random: () => number): Failure[] {
  const inAnyOrder = Array.from({ length: of }, (_, at) => at + 1).toSorted(() => random() - 0.5)
  return inAnyOrder.slice(0, some).flatMap((at, place): Failure[] => {
    // A failed write may have written a part of its data.
    const error = { at, how: place % 3 === 2 ? 'half' : 'error' } as const
    return place % 10 < shortOfTen ? [error, { at, how: 'short' }] : [error]
  })
}

/** Runs a server into a failure and compares its responses with the rows that remain. */
async function meet({ folder, path, apiKey, shim, starts }: Bench, failure: Failure, seen: Seen): Promise<void> {
  const place = join(folder, `${failure.how}-${failure.at}`)
  const database = join(place, 'payouts.sqlite')
  const shimLog = join(place, 'shim.log')
  mkdirSync(place)
  copyFileSync(path, database)
  const start = starts[failure.at % starts.length] as StartLean
  const log = newPayoutLog('payout')
  const ended = await start(`sqlite:${database}`, shim({ database, log: shimLog, failure })).then(
    (server) => payUntilPast(server, { apiKey, log, failure }),
    endedAtStart,
  )

  const records = readRecords(shimLog)
  const isMet = records.some(({ operation }) => operation === 'fail')
  const faults = faultsOfAnswers(ended, log)
  if (!isMet && failure.how !== 'short') faults.push('the failing operation was never reached')
  // The state that a restarted process finds, and the state after an additional power cut.
  const cut = join(place, 'cut.sqlite')
  const disk = diskWith(readFileSync(path))
  for (const record of records) disk.apply(record)
  disk.cutTo(cut, 0, Math.random)
  for (const left of [database, cut]) {
    if (failure.at % booksEvery === 0) faults.push(...(await faultsOfBooks(left)))
    faults.push(...compare(left, log).faults)
  }
  seen.faults.push(...faults.map((fault) => `${failure.how} at ${failure.at}: ${fault}`))
  if (isMet) seen[failure.how === 'short' ? 'shorts' : 'errors']++
  if (ended.signal === null) seen.ended++
  if (log.others.has(503)) seen.unavailable++
  seen.acknowledged += log.acknowledged.size
  rmSync(place, { recursive: true })
}

/** Pays until the process exits, or until the failure must have passed. */
async function payUntilPast(
  { port, kill }: Server,
  { apiKey, log, failure }: { apiKey: string; log: PayoutLog; failure: Failure },
): Promise<Ended> {
  const paying = startPaying({ port, apiKey }, { clients, log })
  let isOver = false
  // One commit for all clients writes more often than it responds.
  const enough = 30 + failure.at
  while (!isOver && log.acknowledged.size < enough)
    isOver = await Promise.race([delay(5, false), paying.over.then(() => true)])
  await paying.stop()
  return kill()
}

function endedAtStart(error: unknown): Ended {
  if (error instanceof StartFailed) return error.ended
  throw error
}

/** A process may log the error and exit, and may respond with 503; anything else is a fault. */
function faultsOfAnswers({ code, signal, errors }: Ended, { others }: PayoutLog): string[] {
  const statuses = [...others.keys()].filter((status) => status !== 503)
  const faults = statuses.map((status) => `${status} was answered`)
  const isEndedByItself = code === 1 && errors.includes('disk I/O error')
  return isEndedByItself || signal === 'SIGKILL'
    ? faults
    : [...faults, `the server exited with ${code ?? signal}: ${errors}`]
}
