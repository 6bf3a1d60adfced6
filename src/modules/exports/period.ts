import { z } from 'zod'
import { invalidInput } from '../../core/errors.ts'
import { timestamp } from '../../core/ids-and-clock.ts'
import { dayOrInstant, optional } from '../../core/input.ts'
import type { Context } from '../../operations/context.ts'

/**
 * `from` is inclusive and `to` is exclusive. Without `from`, the period begins with the first row. Without `to`, the
 * period ends now. A date without a time means the start of that day in UTC.
 */
export const periodFields = { from: optional(dayOrInstant()), to: optional(dayOrInstant()) }

export const PeriodInput = z.object(periodFields)

/** If `isFinal` is true, the rows of the period can no longer change, so repeated exports are identical. */
export type Period = { readonly from: string | null; readonly to: string; readonly isFinal: boolean }

/**
 * A period is final a minute after its end. A row gets the time at which its transaction began, so rows can be added to
 * a period shortly after its end.
 */
const finalityDelayMs = 60_000

/** @throws DomainError INVALID_INPUT if the period ends before it begins */
export function resolvePeriod(context: Context, input: { from: string | null; to: string | null }): Period {
  const { from } = input
  const to = input.to ?? timestamp(context.now())
  if (from !== null && from > to) {
    throw invalidInput([{ field: 'from', code: 'INVALID_PARAMETER', message: 'must not be after the end' }])
  }
  return { from, to, isFinal: Date.parse(to) <= context.wallClock() - finalityDelayMs }
}
