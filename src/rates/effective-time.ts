import type { Service } from '../context.ts'
import { invalidInput } from '../errors.ts'
import { timestamp } from '../ids.ts'

/** What a price in force at a time is stored as, a rate or a fee; rows are only added, and may be cancelled until they are in force. */
type Priced = { readonly effectiveAt: string; readonly revision: number; readonly cancelledAt: string | null }

/** What a row of prices is now: `PAST` once another has taken over. */
export const priceStates = ['IN_FORCE', 'FUTURE', 'PAST', 'CANCELLED'] as const
export type PriceState = (typeof priceStates)[number]

/**
 * The stored form of an effective time: the one asked for, else now.
 *
 * @throws Refusal INVALID_INPUT for a time that has passed: what was in force then must stay known
 */
export function effectiveTime({ now }: Service, asked: string | null): string {
  const at = now()
  if (asked === null || Date.parse(asked) >= at) return timestamp(asked === null ? at : Date.parse(asked))
  throw invalidInput([{ field: 'effectiveAt', code: 'INVALID_PARAMETER', message: 'must not be in the past' }])
}

/**
 * The place of a new row for the time `at` among the pair's rows `from` then on: its revision, and what takes over later.
 *
 * @throws Refusal INVALID_INPUT where a row for that time stands: what was in force at a time stays known
 */
export function placeAmong<Row extends Priced>(from: readonly Row[], at: string): { revision: number; later: Row[] } {
  const same = from.filter(({ effectiveAt }) => effectiveAt === at)
  if (standing(same).length > 0) {
    const message = `must differ from ${at}, which is set already`
    throw invalidInput([{ field: 'effectiveAt', code: 'INVALID_PARAMETER', message }])
  }
  return { revision: same.length + 1, later: standing(from.filter(({ effectiveAt }) => effectiveAt > at)) }
}

/** The rows that are not cancelled. */
export function standing<Row extends Priced>(rows: readonly Row[]): Row[] {
  return rows.filter(({ cancelledAt }) => cancelledAt === null)
}

/**
 * The row for the time `at` that a cancellation means, the latest of them, among the pair's rows `from` then on.
 *
 * @throws Refusal INVALID_INPUT for one that is in force or was: payouts may have been made by it
 */
export function rowToCancel<Row extends Priced>({ now }: Service, from: readonly Row[], at: string): Row | null {
  const same = from.filter(({ effectiveAt }) => effectiveAt === at)
  const row = same.find(({ revision }) => revision === same.length) ?? null
  if (row === null || row.cancelledAt !== null || at > timestamp(now())) return row
  const message = 'must be in the future: payouts may have been made at what is in force already, so set another'
  throw invalidInput([{ field: 'effectiveAt', code: 'INVALID_PARAMETER', message }])
}

/** What each row is at the moment `now`; `rows` come newest first within each pair. */
export function withStates<Row extends Priced>(
  rows: readonly Row[],
  { pairOf, now }: { pairOf: (row: Row) => string; now: string },
): (Row & { readonly state: PriceState })[] {
  const inForce = new Set<string>()
  return rows.map((row) => ({ ...row, state: stateOf(row, pairOf(row)) }))

  function stateOf({ effectiveAt, cancelledAt }: Row, pair: string): PriceState {
    if (cancelledAt !== null) return 'CANCELLED'
    if (effectiveAt > now) return 'FUTURE'
    if (inForce.has(pair)) return 'PAST'
    inForce.add(pair)
    return 'IN_FORCE'
  }
}
