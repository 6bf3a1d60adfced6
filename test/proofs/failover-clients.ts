import type { Agent } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, Request, Target } from './clients.ts'
import { send } from './clients.ts'
import type { KeyedApi } from './keyed-payout.ts'
import { keyedApis, keyedPayout, paidId } from './keyed-payout.ts'

/** The clients' requests to two services and their responses, kept outside of both. */
export type Witness = {
  /** Ports of the services; clients use any of them. */
  readonly ports: readonly number[]
  /** The id of the acknowledged payout by key. */
  readonly acknowledged: Map<string, string>
  readonly sent: Set<string>
  readonly faults: Set<string>
  /** The latest request time among acknowledged requests. */
  latestAskedAt: number
  /** The time of the last acknowledgement, and the longest gap between two since it was reset to 0. */
  latestPaidAt: number
  longestGapMs: number
  retries: number
  /** The slowest response in milliseconds. */
  longestMs: number
  isOver: boolean
}

/** Creates an empty record. */
export function newWitness(ports: readonly number[]): Witness {
  const sets = { sent: new Set<string>(), faults: new Set<string>() }
  const times = { latestAskedAt: 0, latestPaidAt: 0, longestGapMs: 0, longestMs: 0 }
  return { ports, acknowledged: new Map(), ...sets, ...times, retries: 0, isOver: false }
}

/** A merchant's client: its key, its connections and its random source. */
export type Client = { readonly apiKey: string; readonly agent: Agent; readonly random: () => number }

/** One in this many acknowledged payouts is requested again, at any service and API. */
const againEvery = 10

/** Pays repeatedly; each payout is requested with its key, at any service and API, until it is acknowledged. */
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

/** The payout that the response to a key contains; `null` if the run ends before that. */
async function paid(witness: Witness, { random, ...client }: Client, key: string): Promise<string | null> {
  for (let attempt = 0; !witness.isOver || attempt === 0; attempt++) {
    const door = oneOf<KeyedApi>(keyedApis, random)
    const askedAt = performance.now()
    const response = await answered(witness, { random, ...client }, keyedPayout[door](key))
    if (response?.status === 200) {
      const id = paidId[door](response.text)
      if (/^[0-9a-f-]{36}$/.test(id)) {
        notePaid(witness, askedAt)
        return id
      }
    }
    if (response !== null && !isPassing(response)) witness.faults.add(`${key} got ${describeAnswer(response)}`)
    witness.retries++
    await delay(50)
  }
  return null
}

function notePaid(witness: Witness, askedAt: number): void {
  const nowMs = performance.now()
  witness.latestAskedAt = Math.max(witness.latestAskedAt, askedAt)
  witness.longestGapMs = Math.max(witness.longestGapMs, nowMs - witness.latestPaidAt)
  witness.latestPaidAt = nowMs
}

/** Whether the response allows a retry. */
function isPassing({ status, headers, text }: Answer): boolean {
  return (status === 503 && headers['retry-after'] !== undefined) || (status === 200 && text.includes('UNAVAILABLE'))
}

function describeAnswer({ status, headers, text }: Answer): string {
  return `${status} (Retry-After ${headers['retry-after']}): ${text.slice(0, 200)}`
}

/** Any service's response; `null` if its connection broke. */
async function answered(witness: Witness, { apiKey, agent, random }: Client, asked: Request): Promise<Answer | null> {
  const target: Target = { port: oneOf(witness.ports, random), apiKey }
  const askedAt = performance.now()
  const response = await send(target, agent, asked).catch(() => null)
  witness.longestMs = Math.max(witness.longestMs, performance.now() - askedAt)
  return response
}

/** Reads a merchant's events as they happen and keeps the event of each sequence number. */
export async function readUntilOver(witness: Witness, client: Client, eventOf: Map<number, string>): Promise<void> {
  while (!witness.isOver) {
    const path = `/api/events?after=${eventOf.size}&limit=100&wait=1`
    const response = await answered(witness, client, { method: 'GET', path })
    if (response?.status !== 200) {
      if (response !== null && !isPassing(response))
        witness.faults.add(`reading events failed with ${response.status}: ${response.text.slice(0, 60)}`)
      await delay(100)
      continue
    }
    const { data } = JSON.parse(response.text) as { data: { sequence: number; type: string; object: { id: string } }[] }
    for (const { sequence, type, object } of data) {
      if (sequence !== eventOf.size + 1) witness.faults.add(`event ${eventOf.size + 1} has the sequence ${sequence}`)
      eventOf.set(sequence, `${type} ${object.id}`)
    }
  }
}

function oneOf<Value>(values: readonly Value[], random: () => number): Value {
  return values[Math.floor(random() * values.length)] as Value
}
