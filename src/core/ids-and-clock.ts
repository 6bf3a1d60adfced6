import { randomFillSync } from 'node:crypto'

export type Clock = () => number

declare const timeBrand: unique symbol

/**
 * A wall time is in milliseconds since 1970, and is used for freshness, expiry and due times. A wall time can decrease
 * if the machine's clock is set back.
 */
export type WallTime = number & { readonly [timeBrand]: 'wall' }
export type WallClock = () => WallTime

/**
 * A record time is the time at which a row is created or changed, in milliseconds since 1970. Record times never
 * decrease within a process. In the sandbox, a record time includes the merchant's clock offset.
 */
type RecordTime = number & { readonly [timeBrand]: 'record' }
export type RecordClock = () => RecordTime

/** A due time is a wall time that is stored as a bigint. */
export type DueTime = bigint & { readonly [timeBrand]: 'wall' }

/** `random` is not cryptographically secure, so use `random` only for jitter. */
export const random: () => number = Math.random

export type IdGenerator = (now: number) => string

export function createWallClock(clock: Clock = Date.now): WallClock {
  return () => clock() as WallTime
}

export function createRecordClock(clock: Clock = Date.now): RecordClock {
  let latest = 0
  return () => {
    latest = Math.max(latest, clock())
    return latest as RecordTime
  }
}

export function offsetClock(aheadMs: number, clock: RecordClock): RecordClock {
  return () => (clock() + aheadMs) as RecordTime
}

export function wallTimeAfter(delayMs: number, time: WallTime): WallTime {
  return (time + delayMs) as WallTime
}

export function dueTimeAfter(delayMs: number, time: WallTime): DueTime {
  return BigInt(time + delayMs) as DueTime
}

export function toDueTime(time: number): DueTime {
  return BigInt(time) as DueTime
}

/** Formats a time in ISO 8601, in UTC with milliseconds, as the API contract requires. */
export function timestamp(now: number): string {
  if (now !== cachedTimeMs) {
    cachedTimeMs = now
    cachedTimestamp = new Date(now).toISOString()
  }
  return cachedTimestamp
}

export function systemTimestamp(): string {
  return timestamp(Date.now())
}

// The last timestamp is cached, because a request formats the same time repeatedly.
let cachedTimeMs = Number.NaN
let cachedTimestamp = ''

const randomPool = Buffer.allocUnsafe(8000)
let randomPoolHex = ''
let poolPosition = randomPool.length

/**
 * Generates UUIDs of version 7 (RFC 9562), which sort by creation, even within one millisecond.
 *
 * In a generated UUID, the 12 bits after the version are a counter. In each millisecond, the counter starts at a random
 * value below 2¹¹. If the counter overflows, the generator uses the next millisecond early, as RFC 9562 allows. The
 * last 62 bits of a UUID are random.
 */
export function createUuidV7Generator(): IdGenerator {
  let millisecond = 0
  let counter = 0
  let time = ''
  return (now) => {
    if (poolPosition === randomPool.length) {
      randomPoolHex = randomFillSync(randomPool).toString('hex')
      poolPosition = 0
    }
    const at = poolPosition
    poolPosition += 10

    if (now > millisecond) {
      millisecond = now
      time = timeDigits(millisecond)
      counter = randomPool.readUInt16BE(at + 8) & 0x7ff
    } else if (++counter > 0xfff) {
      millisecond++
      time = timeDigits(millisecond)
      counter = 0
    }
    const first = 2 * at
    const variant = variantDigits[((randomPool[at] as number) >> 4) & 0x3]
    // Converting each random byte separately would take 50 % longer.
    const random = `${randomPoolHex.slice(first + 1, first + 4)}-${randomPoolHex.slice(first + 4, first + 16)}`
    return `${time}${versionAndCounterDigits[counter]}${variant}${random}`
  }
}

const versionAndCounterDigits = Array.from({ length: 0x1000 }, (_, counter) => `-${(0x7000 | counter).toString(16)}-`)

const variantDigits = ['8', '9', 'a', 'b']

function timeDigits(millisecond: number): string {
  const digits = millisecond.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}

export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

export function minIdAt(millisecond: number): string {
  return `${timeDigits(Math.max(millisecond, 0))}-0000-0000-000000000000`
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Returns a UUID in lower case, because SQLite compares UUIDs as text. */
export function parseUuid(text: unknown): string | null {
  return typeof text === 'string' && uuidPattern.test(text) ? text.toLowerCase() : null
}

/** A text that is not a UUID matches no row, and PostgreSQL would reject the query. */
export function filterUuids(texts: readonly string[]): string[] {
  return texts.map(parseUuid).filter((id) => id !== null)
}
