import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import Sqlite from 'better-sqlite3'
import type { PayoutLog } from '../clients.ts'
import { mergedLog, newPayoutLog, startPaying } from '../clients.ts'
import type { Replicated } from '../litestream.ts'
import { findLitestream, replicate, restoreStandby } from '../litestream.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import { makeDatabase, startMain } from '../server.ts'
import { compare } from '../stored.ts'

const deaths = { ci: 2, quick: 4, long: 40 }

/** Litestream polls and sends once a second; a busy machine may take twice as long. */
const windowMs = 5_000

export const proof: Proof = {
  promise: 'a Litestream standby is consistent, lacks only payouts acknowledged in the last 5 s, and can pay',
  control: 'continuous replication: Litestream hangs from the middle of the run',
  seconds: { ci: 150, quick: 240, long: 1_500 },
  run,
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  const database = join(folder, 'payouts.sqlite')
  const replicated = { program: await findLitestream(join(folder, 'npm')), database, standby: join(folder, 'standby') }
  const { url, apiKey } = await makeDatabase(database)
  const logs: PayoutLog[] = []
  const losses: Loss[] = []
  const faults: string[] = []
  while (losses.length < deaths[length] && faults.length === 0) {
    const log = newPayoutLog(`death ${logs.length}`)
    logs.push(log)
    const death = await dieUnderLoad(replicated, {
      url,
      apiKey,
      log,
      hangs: isControl,
      loadMs: 4_000 + random() * 3_000,
    })
    faults.push(...death.faults)
    const place = join(folder, `place-${losses.length}`)
    const restored = await putInPlace(replicated, place)
    const loss = lossOf(restored, { log, ...death })
    losses.push(loss)
    const lostNarrations = new Set(loss.lost)
    const { sent, acknowledged } = mergedLog(logs)
    const recovered = new Map([...acknowledged].filter(([narration]) => !lostNarrations.has(narration)))
    faults.push(...compare(restored, { sent, acknowledged: recovered }).faults)
    if (loss.oldestMs > windowMs)
      faults.push(`a payout acknowledged ${Math.round(loss.oldestMs)} ms before the kill is lost`)
    if (losses.length === deaths[length] && !(await canPay(restored, apiKey))) faults.push('the standby cannot pay')
  }
  return { isHeld: faults.length === 0, figure: figureOf(logs, losses, faults) }
}

function figureOf(logs: readonly PayoutLog[], losses: readonly Loss[], faults: readonly string[]): string {
  const { acknowledged } = mergedLog(logs)
  const lostCounts = losses.map((loss) => loss.lost.length)
  const oldest = losses.map(({ oldestMs }) => Math.round(oldestMs))
  const seen = `${losses.length} deaths, ${acknowledged.size} acknowledged; lost per kill ${lostCounts.join(', ')}, acknowledged in its last ${oldest.join(', ')} ms`
  return [seen, ...faults.slice(0, 3)].join('; ')
}

/** Number of acknowledged payouts by a monotonic clock in milliseconds. */
type Mark = { readonly at: number; readonly count: number }

type Death = { readonly diedAt: number; readonly marks: readonly Mark[]; readonly faults: string[] }

type Dying = { url: string; apiKey: string; log: PayoutLog; hangs: boolean; loadMs: number }

/**
 * Runs paying clients while Litestream replicates, then kills the service and Litestream as a failing machine would.
 */
async function dieUnderLoad(replicated: Replicated, { url, apiKey, log, hangs, loadMs }: Dying): Promise<Death> {
  const server = await startMain({ url })
  const following = replicate(replicated)
  const marks: Mark[] = []
  const marking = setInterval(() => marks.push({ at: performance.now(), count: log.acknowledged.size }), 10)
  const clients = startPaying({ port: server.port, apiKey }, { clients: 8, log })
  await delay(loadMs)
  if (hangs) {
    following.child.kill('SIGSTOP')
    await delay(windowMs + 1_000)
  }
  const diedAt = performance.now()
  following.child.kill('SIGKILL')
  const { signal, errors } = await server.kill()
  await Promise.all([clients.over, following.ended])
  clearInterval(marking)
  const faults: string[] = []
  if (signal !== 'SIGKILL') faults.push(`the server exited before its kill: ${errors}`)
  if (log.others.size > 0) faults.push(`some payouts got another status than 200: ${[...log.others]}`)
  if (following.said().includes('level=ERROR'))
    faults.push(`Litestream logged an error: ${following.said().slice(-500)}`)
  return { diedAt, marks, faults }
}

/** Restores the standby with the operator's command, which audits it first, and returns its path. */
async function putInPlace(replicated: Replicated, place: string): Promise<string> {
  mkdirSync(place)
  const file = join(place, 'standby.sqlite')
  await restoreStandby(replicated, file)
  const program = join(import.meta.dirname, '../../../src/cli/cli.ts')
  const path = join(place, 'payouts.sqlite')
  await promisify(execFile)(process.execPath, [program, 'restore', file], {
    env: { ...process.env, DATABASE_URL: `sqlite:${path}` },
  })
  return path
}

/** Acknowledged payouts that are missing, and the maximum age of the first of them at the kill. */
type Loss = { readonly lost: readonly string[]; readonly oldestMs: number }

function lossOf(path: string, { log, diedAt, marks }: Pick<Death, 'diedAt' | 'marks'> & { log: PayoutLog }): Loss {
  const database = new Sqlite(path, { readonly: true, fileMustExist: true })
  const stored = new Set(database.prepare('select narration from payouts').pluck().all())
  database.close()
  const narrations = [...log.acknowledged.keys()]
  const missing = narrations.filter((narration) => !stored.has(narration))
  const first = narrations.indexOf(missing[0] ?? '')
  const at = marks.findLast(({ count }) => count <= first)?.at ?? marks[0]?.at ?? diedAt
  return { lost: missing, oldestMs: missing.length === 0 ? 0 : diedAt - at }
}

/** Whether the service starts on the restored database and continues to pay. */
async function canPay(path: string, apiKey: string): Promise<boolean> {
  const server = await startMain({ url: `sqlite:${path}` })
  const log = newPayoutLog('after')
  const clients = startPaying({ port: server.port, apiKey }, { clients: 1, log })
  await clients.begun
  await clients.stop()
  await server.kill('SIGTERM')
  return log.acknowledged.size > 0 && log.others.size === 0
}
