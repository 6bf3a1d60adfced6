import { z } from 'zod'
import { invalidInput } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import { instant, optional } from '../../core/input.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Context } from '../../operations/context.ts'

/** A day stands for its first moment in UTC, anything else for the moment that it is. */
const dayOrInstant = () =>
  z
    .string()
    .transform((text) => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text))
    .pipe(instant())

/** The fields by which an export says of when it is: from a moment on and before another. */
export const periodFields = { from: optional(dayOrInstant()), to: optional(dayOrInstant()) }

/**
 * From a moment on, or the beginning where that is `null`, and before another. It `isFinal` where nothing more can come to be
 * in it, so that whoever asks again is told the same.
 */
export type Period = { readonly from: string | null; readonly to: string; readonly isFinal: boolean }

/**
 * How long after its end a period may still be added to: what is committed has the time at which its transaction began, by the
 * clock of the machine that ran it.
 */
const finalityDelayMs = 60_000

/** @throws Refusal INVALID_INPUT for one that ends before it begins */
export function resolvePeriod(context: Context, asked: { from: string | null; to: string | null }): Period {
  const { from } = asked
  const to = asked.to ?? timestamp(context.now())
  if (from !== null && from > to) {
    throw invalidInput([{ field: 'from', code: 'INVALID_PARAMETER', message: 'must not be after the end' }])
  }
  return { from, to, isFinal: Date.parse(to) <= context.wallClock() - finalityDelayMs }
}

/** What is known of a numbered row. */
type SequencedRow = { readonly sequence: number; readonly createdAt: string }

/** Beyond any number: sequences fit in 31 bits. */
const maxSequence = 2 ** 31 - 1

/**
 * The last row before a moment, found by halving; `null` where there is none. No row is older than the one before it, so what
 * is found stays the same however many are added later.
 *
 * @param at the latest row that has at most a number
 */
export async function findLastBefore<Row extends SequencedRow>(
  moment: string,
  at: (sequence: number) => MaybePromise<Row | null>,
): Promise<Row | null> {
  const newest = await at(maxSequence)
  if (newest === null || newest.createdAt < moment) return newest
  let found: Row | null = null
  let before = 0
  let after = newest.sequence
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    const row = await at(middle)
    if (row !== null && row.createdAt >= moment) {
      after = row.sequence
      continue
    }
    before = middle
    found = row ?? found
  }
  return found
}
