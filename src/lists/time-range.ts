import { timestamp } from '../core/ids-and-clock.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { CreatedBounds, SequenceMark } from './list-queries.ts'

/** When the rows of a list were created: from a moment on and before another, as they are stored; `null` is no bound. */
export type CreatedRange = { readonly createdFrom: string | null; readonly createdBefore: string | null }

/** Numbers, both exclusive, between which rows lie. */
export type SequenceSpan = { readonly above: number; readonly below: number }

/** The number and time of the row at or below a number. */
export type FindMark = (fromSequence: number) => MaybePromise<SequenceMark | null>

/** Beyond any number of a list: sequence numbers fit in 31 bits. */
export const fullSpan: SequenceSpan = { above: 0, below: 2_147_483_647 }

export function hasTimeBounds({ createdFrom, createdBefore }: CreatedRange): boolean {
  return createdFrom !== null || createdBefore !== null
}

/**
 * How far the clocks of several processes may have differed where a row was numbered before one that says it is so much
 * older: since migration 0022 no row does.
 */
const maxClockSkewMs = 60_000

const minTimestamp = '0001-01-01T00:00:00.000Z'
const maxTimestamp = '9999-12-31T23:59:59.999Z'

/** What a query binds: both bounds where there is one, so that one statement does for all that have any. */
export function createdBounds(created: CreatedRange): CreatedBounds {
  if (!hasTimeBounds(created)) return {}
  return { createdFrom: created.createdFrom ?? minTimestamp, createdBefore: created.createdBefore ?? maxTimestamp }
}

/**
 * The numbers between which the rows of a time lie, found by halving: about twenty looks in a million rows, where a walk
 * would read them all. It is a little wide, and the rows themselves are still held against the time.
 */
export function findSpan(created: CreatedRange, markAt: FindMark): MaybePromise<SequenceSpan> {
  return hasTimeBounds(created) ? searchSpan(created, markAt) : fullSpan
}

async function searchSpan({ createdFrom, createdBefore }: CreatedRange, markAt: FindMark): Promise<SequenceSpan> {
  const newest = await markAt(fullSpan.below)
  if (newest === null) return { above: 0, below: 0 }
  const findLastBefore = (moment: string) => findLastSequenceBefore(moment, newest, markAt)
  return {
    above: createdFrom === null ? 0 : await findLastBefore(shiftTimestamp(createdFrom, -maxClockSkewMs)),
    below:
      createdBefore === null
        ? fullSpan.below
        : (await findLastBefore(shiftTimestamp(createdBefore, maxClockSkewMs))) + 1,
  }
}

/** The number of the last row created before a moment; 0 where there is none. */
async function findLastSequenceBefore(moment: string, newest: SequenceMark, markAt: FindMark): Promise<number> {
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

function shiftTimestamp(moment: string, ms: number): string {
  const time = Date.parse(moment) + ms
  return time < Date.parse(minTimestamp)
    ? minTimestamp
    : time > Date.parse(maxTimestamp)
      ? maxTimestamp
      : timestamp(time)
}

export function intersectSpans(one: SequenceSpan, other: SequenceSpan): SequenceSpan {
  return { above: Math.max(one.above, other.above), below: Math.min(one.below, other.below) }
}

export function isEmptySpan({ above, below }: SequenceSpan): boolean {
  return below - above <= 1
}
