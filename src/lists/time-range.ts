import { timestamp } from '../core/ids.ts'
import type { Answer } from '../database/query.ts'
import type { Mark, Times } from './queries.ts'

/** When the rows of a list were created: from a moment on and before another, as they are stored; `null` is no bound. */
export type Created = { readonly createdFrom: string | null; readonly createdBefore: string | null }

/** Numbers, both exclusive, between which rows lie. */
export type Span = { readonly above: number; readonly below: number }

/** The number and time of the row at or below a number. */
export type MarkAt = (fromSequence: number) => Answer<Mark | null>

/** Beyond any number of a list: sequence numbers fit in 31 bits. */
export const everything: Span = { above: 0, below: 2_147_483_647 }

export function isTimed({ createdFrom, createdBefore }: Created): boolean {
  return createdFrom !== null || createdBefore !== null
}

/**
 * How far the clocks of several processes may have differed where a row was numbered before one that says it is so much
 * older: since migration 0022 no row does.
 */
const clockDifferenceMs = 60_000

const firstMoment = '0001-01-01T00:00:00.000Z'
const lastMoment = '9999-12-31T23:59:59.999Z'

/** What a query binds: both bounds where there is one, so that one statement does for all that have any. */
export function timesOf(created: Created): Times {
  if (!isTimed(created)) return {}
  return { createdFrom: created.createdFrom ?? firstMoment, createdBefore: created.createdBefore ?? lastMoment }
}

/**
 * The numbers between which the rows of a time lie, found by halving: about twenty looks in a million rows, where a walk
 * would read them all. It is a little wide, and the rows themselves are still held against the time.
 */
export function spanOf(created: Created, markAt: MarkAt): Answer<Span> {
  return isTimed(created) ? spanOfTimes(created, markAt) : everything
}

async function spanOfTimes({ createdFrom, createdBefore }: Created, markAt: MarkAt): Promise<Span> {
  const newest = await markAt(everything.below)
  if (newest === null) return { above: 0, below: 0 }
  const lastBefore = (moment: string) => lastNumberBefore(moment, newest, markAt)
  return {
    above: createdFrom === null ? 0 : await lastBefore(shifted(createdFrom, -clockDifferenceMs)),
    below:
      createdBefore === null ? everything.below : (await lastBefore(shifted(createdBefore, clockDifferenceMs))) + 1,
  }
}

/** The number of the last row created before a moment; 0 where there is none. */
async function lastNumberBefore(moment: string, newest: Mark, markAt: MarkAt): Promise<number> {
  if (newest.createdAt < moment) return newest.sequence
  // The rows up to `before` were created before the moment, `after` and all later ones were not.
  let before = 0
  let after = newest.sequence
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    const mark = await markAt(middle)
    if (mark === null || mark.sequence <= before || mark.createdAt < moment) before = middle
    else after = mark.sequence
  }
  return before
}

function shifted(moment: string, ms: number): string {
  const time = Date.parse(moment) + ms
  return time < Date.parse(firstMoment) ? firstMoment : time > Date.parse(lastMoment) ? lastMoment : timestamp(time)
}

export function intersection(one: Span, other: Span): Span {
  return { above: Math.max(one.above, other.above), below: Math.min(one.below, other.below) }
}

export function isEmpty({ above, below }: Span): boolean {
  return below - above <= 1
}
