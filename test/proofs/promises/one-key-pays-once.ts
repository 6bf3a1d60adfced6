import type { Agent } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import type { Answer, Target } from '../clients.ts'
import { connections, send } from '../clients.ts'
import type { KeyedApi } from '../keyed-payout.ts'
import { keyedApis, keyedPayout, paidId } from '../keyed-payout.ts'
import type { Outcome, Proof, Run } from '../proof.ts'
import { randomFrom } from '../proof.ts'
import { makeDatabase, startMain } from '../server.ts'
import { faultsOfBooks } from '../stored.ts'

const clients = 50
const keys = { ci: 100, quick: 200, long: 4_000 }

/** Average number of responses before a kill. */
const answersEach = 800

export const proof: Proof = {
  promise: 'one idempotency key pays once, across retries, crashes and restarts, in both APIs',
  control: 'storing the key for retries',
  seconds: { ci: 120, quick: 240, long: 2_400 },
  run,
}

/** Responses by key and API, and the number of responses per key without the replay marker. */
type Log = {
  readonly responses: Map<string, Record<KeyedApi, Set<string>>>
  readonly firsts: Map<string, number>
  readonly faults: string[]
  answered: number
  retries: number
}

async function run({ length, seed, isControl, folder }: Run): Promise<Outcome> {
  const random = randomFrom(seed)
  // Without the protection a few kills suffice.
  const keyCount = isControl ? 50 : keys[length]
  const path = join(folder, 'payouts.sqlite')
  const { url, apiKey } = await makeDatabase(path)
  const log: Log = { responses: new Map(), firsts: new Map(), faults: [], answered: 0, retries: 0 }

  let server = startMain({ url })
  const where = async () => ({ port: (await server).port, apiKey })
  const client = async () => {
    const agent = connections(1)
    // All clients use the keys in the same order, so that each key has several concurrent requests until the end.
    for (let at = 0; at < keyCount; at++) {
      const door = keyedApis[Math.floor(random() * keyedApis.length)] as KeyedApi
      await askUntilAnswered(where, agent, { key: `key ${at}`, door, log, changesKey: isControl })
    }
    agent.destroy()
  }
  const work = Promise.all(Array.from({ length: clients }, client))
  let kills = 0
  for (; ; kills++) {
    const { kill } = await server
    // Counts responses rather than time, so that a slow machine sees as many kills and reaches the end.
    const until = log.answered + random() * 2 * answersEach
    let isOver = false
    while (log.answered < until && !isOver) isOver = await Promise.race([delay(2, false), work.then(() => true)])
    server = kill().then(() => startMain({ url }))
    if (isOver) break
  }
  await server
  const faults = [...log.faults, ...faultsOfAnswers(path, log, keyCount), ...(await faultsOfBooks(path))]
  await (await server).kill()
  const figure = `${clients} clients, ${keyCount} keys, ${kills} kills, ${log.retries} retries`
  if (faults.length > 0) return { isHeld: false, figure: `${figure}; ${faults.slice(0, 3).join('; ')}` }
  return { isHeld: kills >= 3 && log.retries >= kills, figure: `${figure}, ${keyCount} payouts` }
}

/** Requests a payout and repeats the request while its outcome is unknown. */
async function askUntilAnswered(
  where: () => Promise<Target>,
  agent: Agent,
  { key, door, log, changesKey }: { key: string; door: KeyedApi; log: Log; changesKey: boolean },
): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const target = await where()
    const sentKey = changesKey && attempt > 0 ? `${key}, attempt ${attempt}` : key
    const response = await send(target, agent, keyedPayout[door](sentKey)).catch(() => null)
    if (response !== null && response.status !== 503) return keep(log, key, door, response)
    log.retries++
    await delay(10)
  }
}

function keep(log: Log, key: string, door: KeyedApi, { status, headers, text }: Answer): void {
  const { responses, firsts, faults } = log
  log.answered++
  if (status !== 200) faults.push(`${key} in the ${door} API got ${status}: ${text}`)
  const known = responses.get(key) ?? { rest: new Set(), graphql: new Set() }
  responses.set(key, known)
  known[door].add(text)
  if (door === 'rest' && headers['idempotent-replayed'] !== 'true') firsts.set(key, (firsts.get(key) ?? 0) + 1)
}

/**
 * Contradictions: a key with several results or with one that differs from the stored payout, and payouts without a
 * key.
 */
function faultsOfAnswers(path: string, { responses, firsts }: Log, keyCount: number): string[] {
  const database = new Sqlite(path, { fileMustExist: true })
  const rows = database.prepare('select idempotency_key as key, id from payouts').all() as { key: string; id: string }[]
  database.close()
  const stored = new Map(rows.map(({ key, id }) => [key, id]))

  const faults = rows.length === keyCount ? [] : [`${rows.length} payouts for ${keyCount} keys`]
  for (const [key, { rest, graphql }] of responses) {
    if (rest.size > 1 || graphql.size > 1) faults.push(`${key} got different responses`)
    if ((firsts.get(key) ?? 0) > 1) faults.push(`${key} got two responses that were not marked as replayed`)
    const ids = [...[...rest].map(paidId.rest), ...[...graphql].map(paidId.graphql)]
    if (ids.some((id) => id !== stored.get(key)))
      faults.push(`${key} got the payouts ${ids}, but ${stored.get(key)} is stored`)
  }
  return faults
}
