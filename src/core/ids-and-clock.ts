import { randomFillSync } from 'node:crypto'

/** A source of time in milliseconds since 1970, as it comes from outside. */
export type Clock = () => number

declare const timeBrand: unique symbol

/**
 * Milliseconds since 1970 as the machine has them, which go back when its clock is corrected: for whatever is fresh, expires, or is
 * due.
 */
export type WallTime = number & { readonly [timeBrand]: 'wall' }
export type WallClock = () => WallTime

/**
 * Milliseconds since 1970 as rows record them, which never go back within a process, and are a merchant's own in the sandbox: for
 * when something was made or changed. After a clock was ahead they stay ahead until it has caught up.
 */
type RecordTime = number & { readonly [timeBrand]: 'record' }
export type RecordClock = () => RecordTime

/** A wall time from which on something is due, as columns hold it. */
export type DueTime = bigint & { readonly [timeBrand]: 'wall' }

/** From 0 to below 1, for what must only be spread. */
export const random: () => number = Math.random

/** A source of ids for the millisecond given. */
export type IdGenerator = (now: number) => string

/** A clock as it is, the system's unless it is given. */
export function createWallClock(clock: Clock = Date.now): WallClock {
  return () => clock() as WallTime
}

/** A clock, the system's unless it is given, held so that it never goes back within this process: rows made later never look older. */
export function createRecordClock(clock: Clock = Date.now): RecordClock {
  let latest = 0
  return () => {
    latest = Math.max(latest, clock())
    return latest as RecordTime
  }
}

/** The same clock, ahead by a time. */
export function offsetClock(aheadMs: number, clock: RecordClock): RecordClock {
  return () => (clock() + aheadMs) as RecordTime
}

/** A time after a wall time, or before it. */
export function wallTimeAfter(delayMs: number, time: WallTime): WallTime {
  return (time + delayMs) as WallTime
}

/** When something is due that waits for a while, or not at all. */
export function dueTimeAfter(delayMs: number, time: WallTime): DueTime {
  return BigInt(time + delayMs) as DueTime
}

/** The place of what waits for no time in a queue that is ordered by due times: among what was queued then. */
export function toDueTime(time: number): DueTime {
  return BigInt(time) as DueTime
}

/** ISO 8601 in UTC with milliseconds, as every timestamp of the contract. */
export function timestamp(now: number): string {
  if (now !== cachedTimeMs) {
    cachedTimeMs = now
    cachedTimestamp = new Date(now).toISOString()
  }
  return cachedTimestamp
}

/** The system's time of day, for logs: they are read beside those of other programs. */
export function systemTimestamp(): string {
  return timestamp(Date.now())
}

// A request asks several times within one millisecond, and those that share a commit do so together.
let cachedTimeMs = Number.NaN
let cachedTimestamp = ''

const randomPool = Buffer.allocUnsafe(8000)
let randomPoolHex = ''
let poolPosition = randomPool.length

/**
 * UUIDv7 (RFC 9562) that sort by creation, also within one millisecond.
 *
 * The twelve bits after the version count up within a millisecond and start at random in its lower half; when they are
 * used up the millisecond is borrowed from the future, as the RFC allows. The other 62 bits are random.
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
    // Of few texts: to put it together of one for each byte takes half as long again.
    const random = `${randomPoolHex.slice(first + 1, first + 4)}-${randomPoolHex.slice(first + 4, first + 16)}`
    return `${time}${versionAndCounterDigits[counter]}${variant}${random}`
  }
}

/** The version and the counter between its dashes. */
const versionAndCounterDigits = Array.from({ length: 0x1000 }, (_, counter) => `-${(0x7000 | counter).toString(16)}-`)

/** Two bits of the first digit behind them are always the same. */
const variantDigits = ['8', '9', 'a', 'b']

function timeDigits(millisecond: number): string {
  const digits = millisecond.toString(16).padStart(12, '0')
  return `${digits.slice(0, 8)}-${digits.slice(8)}`
}

/** The milliseconds since 1970 that a UUIDv7 tells. */
export function timeOfId(id: string): number {
  return Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)
}

/** The least id of a moment, in milliseconds since 1970. */
export function minIdAt(millisecond: number): string {
  return `${timeDigits(Math.max(millisecond, 0))}-0000-0000-000000000000`
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The UUID in lower case, the one spelling that both engines match; `null` for anything else. */
export function parseUuid(text: unknown): string | null {
  return typeof text === 'string' && uuidPattern.test(text) ? text.toLowerCase() : null
}

/** Those of `texts` that are UUIDs: nothing is found by any other, and an engine may refuse to look for it. */
export function filterUuids(texts: readonly string[]): string[] {
  return texts.map(parseUuid).filter((id) => id !== null)
}
