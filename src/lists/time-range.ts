import { timestamp } from '../core/ids-and-clock.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { allOrFirstError, mapMaybe } from '../core/maybe-promise.ts'
import type { CreatedBounds, SequenceMark } from './list-queries.ts'
import { findLastBefore, maxSequence } from './time-search.ts'

/** `createdFrom` is inclusive and `createdBefore` is exclusive. `null` means no bound. */
export type CreatedRange = { readonly createdFrom: string | null; readonly createdBefore: string | null }

/** Both bounds are exclusive. */
export type SequenceSpan = { readonly above: number; readonly below: number }

export type FindMark = (fromSequence: number) => MaybePromise<SequenceMark | null>

export const fullSpan: SequenceSpan = { above: 0, below: maxSequence }

export function hasTimeBounds({ createdFrom, createdBefore }: CreatedRange): boolean {
  return createdFrom !== null || createdBefore !== null
}

/**
 * Before migration 0022, a row could be older than the row before it, by up to the difference between two processes'
 * clocks.
 */
const maxClockSkewMs = 60_000

const minTimestamp = '0001-01-01T00:00:00.000Z'
const maxTimestamp = '9999-12-31T23:59:59.999Z'

/**
 * If a request has only one time bound, adds the other bound, so that requests with one or two bounds share a
 * statement.
 */
export function createdBounds(created: CreatedRange): CreatedBounds {
  if (!hasTimeBounds(created)) return {}
  return { createdFrom: created.createdFrom ?? minTimestamp, createdBefore: created.createdBefore ?? maxTimestamp }
}

/**
 * Finds the sequence numbers of a time range. The result is slightly too wide, so queries also compare the times of
 * rows. If imported rows make the list unsorted, returns the full range.
 */
export function findSpan(
  created: CreatedRange,
  markAt: FindMark,
  isSorted: () => MaybePromise<boolean> = () => true,
): MaybePromise<SequenceSpan> {
  if (!hasTimeBounds(created)) return fullSpan
  return mapMaybe(isSorted(), (sorted) => (sorted ? searchSpan(created, markAt) : fullSpan))
}

async function searchSpan({ createdFrom, createdBefore }: CreatedRange, markAt: FindMark): Promise<SequenceSpan> {
  const times = [
    ...(createdFrom === null ? [] : [shiftTimestamp(createdFrom, -maxClockSkewMs)]),
    ...(createdBefore === null ? [] : [shiftTimestamp(createdBefore, maxClockSkewMs)]),
  ]
  const marks = await findLastBefore(times, (sequences) => allOrFirstError(sequences.map(markAt)))
  return {
    above: createdFrom === null ? 0 : (marks[0]?.sequence ?? 0),
    below: createdBefore === null ? fullSpan.below : (marks.at(-1)?.sequence ?? 0) + 1,
  }
}

function shiftTimestamp(timestampText: string, ms: number): string {
  const time = Date.parse(timestampText) + ms
  return timestamp(Math.max(Date.parse(minTimestamp), Math.min(time, Date.parse(maxTimestamp))))
}

export function intersectSpans(one: SequenceSpan, other: SequenceSpan): SequenceSpan {
  return { above: Math.max(one.above, other.above), below: Math.min(one.below, other.below) }
}
