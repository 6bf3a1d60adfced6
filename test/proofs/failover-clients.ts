import type { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, Request, Target } from './clients.ts'
import { send } from './clients.ts'
import type { KeyedApi } from './keyed-payout.ts'
import { keyedApis, keyedPayout, paidId } from './keyed-payout.ts'

/** What clients asked two services for and were told, kept outside of both. */
export type Witness = {
  /** Ports of the services, any of which is asked. */
  readonly ports: readonly number[]
  /** By key, the id of the payout that was acknowledged. */
  readonly acknowledged: Map<string, string>
  readonly sent: Set<string>
  readonly faults: Set<string>
  /** When something was asked for that was acknowledged: the latest of these moments. */
  latestAskedAt: number
  /** When something was acknowledged last, and the longest time without since somebody set that to 0. */
  latestPaidAt: number
  longestGapMs: number
  retries: number
  /** Milliseconds that the slowest answer took. */
  longestMs: number
  isOver: boolean
}

/** Nothing is known yet. */
export function newWitness(ports: readonly number[]): Witness {
  const sets = { sent: new Set<string>(), faults: new Set<string>() }
  const times = { latestAskedAt: 0, latestPaidAt: 0, longestGapMs: 0, longestMs: 0 }
  return { ports, acknowledged: new Map(), ...sets, ...times, retries: 0, isOver: false }
}

/** A merchant's client: its key, its connections, and where its chance comes from. */
export type Client = { readonly apiKey: string; readonly agent: Agent; readonly random: () => number }

/** One in so many payouts is asked for again when it is acknowledged, through any service and door. */
const againEvery = 10

/** Pays over and over; each payout is asked for with its key, at any service and door, until it is acknowledged. */
export async function payUntilOver(witness: Witness, client: Client, name: string): Promise<void> {
  for (let number = 0; !witness.isOver; number++) {
    const key = `${name} ${number}`
    witness.sent.add(key)
    const id = await paid(witness, client, key)
    if (id === null) return
    witness.acknowledged.set(key, id)
    if (number % againEvery !== 0) continue
    const again = await paid(witness, client, key)
    if (again !== null && again !== id) witness.faults.add(`${key} was paid as ${id} and as ${again}`)
  }
}

/** The payout that a key is answered with; `null` when all is over before that. */
async function paid(witness: Witness, { random, ...client }: Client, key: string): Promise<string | null> {
  for (let attempt = 0; !witness.isOver || attempt === 0; attempt++) {
    const door = oneOf<KeyedApi>(keyedApis, random)
    const askedAt = performance.now()
    const answer = await answered(witness, { random, ...client }, keyedPayout[door](key))
    if (answer?.status === 200) {
      const id = paidId[door](answer.text)
      if (/^[0-9a-f-]{36}$/.test(id)) {
        notePaid(witness, askedAt)
        return id
      }
    }
    if (answer !== null && !isPassing(answer)) witness.faults.add(`${key} was answered with ${told(answer)}`)
    witness.retries++
    await delay(50)
  }
  return null
}

function notePaid(witness: Witness, askedAt: number): void {
  const now = performance.now()
  witness.latestAskedAt = Math.max(witness.latestAskedAt, askedAt)
  witness.longestGapMs = Math.max(witness.longestGapMs, now - witness.latestPaidAt)
  witness.latestPaidAt = now
}

/** Whether the caller is told that it may ask again. */
function isPassing({ status, headers, text }: Answer): boolean {
  return (status === 503 && headers['retry-after'] !== undefined) || (status === 200 && text.includes('UNAVAILABLE'))
}

function told({ status, headers, text }: Answer): string {
  return `${status} (Retry-After ${headers['retry-after']}): ${text.slice(0, 200)}`
}

/** Any service's answer; `null` where its connection broke. */
async function answered(witness: Witness, { apiKey, agent, random }: Client, asked: Request): Promise<Answer | null> {
  const target: Target = { port: oneOf(witness.ports, random), apiKey }
  const askedAt = performance.now()
  const answer = await send(target, agent, asked).catch(() => null)
  witness.longestMs = Math.max(witness.longestMs, performance.now() - askedAt)
  return answer
}

/** Reads a merchant's events as they happen and keeps what each number was told to be. */
export async function readUntilOver(witness: Witness, client: Client, told: Map<number, string>): Promise<void> {
  while (!witness.isOver) {
    const path = `/api/events?after=${told.size}&limit=100&wait=1`
    const answer = await answered(witness, client, { method: 'GET', path })
    if (answer?.status !== 200) {
      if (answer !== null && !isPassing(answer))
        witness.faults.add(`events were answered with ${answer.status}: ${answer.text.slice(0, 60)}`)
      await delay(100)
      continue
    }
    const { data } = JSON.parse(answer.text) as { data: { sequence: number; type: string; object: { id: string } }[] }
    for (const { sequence, type, object } of data) {
      if (sequence !== told.size + 1) witness.faults.add(`event ${told.size + 1} was told as ${sequence}`)
      told.set(sequence, `${type} ${object.id}`)
    }
  }
}

function oneOf<Value>(values: readonly Value[], random: () => number): Value {
  return values[Math.floor(random() * values.length)] as Value
}
