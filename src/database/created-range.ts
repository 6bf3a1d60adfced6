import { timestamp } from '../ids.ts'
import type { Page } from '../page.ts'
import { offsetOf } from '../page.ts'
import type { SequencedList, SequenceRange } from '../slice.ts'

/** When the rows of a list were created: from a moment on and before another, as they are stored; `null` is no bound. */
export type Created = { readonly createdFrom: string | null; readonly createdBefore: string | null }

/** The number and time of a row. */
export type Mark = { readonly sequence: number; readonly createdAt: string }

/** What a query on a slice binds: numbers and times between which its rows lie, and how many are taken from which end. */
export type RangeParams = {
  readonly above: number
  readonly below: number
  readonly limit: number
  readonly isAscending: true
  readonly createdFrom: string
  readonly createdBefore: string
}

/** The same where it may have no times. */
export type RowRange = Pick<RangeParams, 'above' | 'below' | 'limit'> & {
  readonly [Filter in 'isAscending' | 'createdFrom' | 'createdBefore']?: RangeParams[Filter] | undefined
}

/** The filters of a query on a slice that every list has. */
export const rangeFilters = ['createdFrom', 'createdBefore', 'isAscending'] as const

/** A list of numbered rows that may be narrowed to when they were created. */
export type CreatedList<Item> = Pick<SequencedList<Item>, 'name' | 'sequenceOf'> & {
  readonly created: Created
  /** The row at or below a number. */
  readonly markAt: (fromSequence: number) => Promise<Mark | null>
  readonly rows: (range: RowRange) => Promise<Item[]>
  /** How many rows lie in a range, where no more than `limit` need be looked at. */
  readonly count: (range: RowRange) => Promise<readonly { readonly rowCount: number }[]>
  /** How many rows there are at all times, where that is kept; else they are counted. */
  readonly keptTotal?: (() => Promise<number>) | null
}

/** Rows are counted up to here; more have no total, so that no request counts a million, nor as many in each of a hundred lists (see `Slice.total`). */
export const countLimit = 10_000

/**
 * A list as `sliceOf` takes it, with its total and its times.
 *
 * Its total is the one that is kept, where there is one and no time narrows it; else the rows are counted up to
 * `countLimit`, and `null` stands for more.
 */
export function sequencedList<Item>(list: CreatedList<Item>): SequencedList<Item> {
  const { name, sequenceOf, created, rows, count, keptTotal } = list
  const isTimed = created.createdFrom !== null || created.createdBefore !== null
  const times = isTimed ? timesOf(created) : {}
  let found: Promise<SequenceSpan> | null = null
  const span = () => {
    found ??= isTimed ? spanOfTimes(created, list.markAt) : Promise.resolve(everything)
    return found
  }
  return {
    name: [...name, created],
    sequenceOf,
    rows: async ({ above, below, limit, isAscending }) => {
      const range = intersection({ above, below }, await span())
      return isEmpty(range) ? [] : rows({ ...range, ...times, limit, isAscending: isAscending || undefined })
    },
    total: async () => {
      if (keptTotal && !isTimed) return keptTotal()
      const range = await span()
      if (isEmpty(range)) return 0
      const [counted] = await count({ ...range, ...times, limit: countLimit + 1 })
      const total = Number(counted?.rowCount ?? 0)
      return total > countLimit ? null : total
    },
  }
}

/**
 * A page of such a list, newest first, whose total is not kept. The list ends after `countLimit` rows: no more are counted for
 * its total, nor passed over for its last page. `numberAfter` finds the row in a range that `skip` newer ones come before.
 */
export async function pageOfRange<Item>(
  { created, markAt, rows, count, numberAfter }: PagedList<Item>,
  { page, limit }: { page: number; limit: number },
): Promise<Page<Item>> {
  const isTimed = created.createdFrom !== null || created.createdBefore !== null
  const span = isTimed ? await spanOfTimes(created, markAt) : everything
  if (isEmpty(span)) return { items: [], total: 0, page, limit }
  const range = { ...span, ...(isTimed && timesOf(created)) }
  const [counted] = await count({ ...range, limit: countLimit })
  const total = Number(counted?.rowCount ?? 0)
  const skip = offsetOf({ page, limit })
  if (skip >= total) return { items: [], total, page, limit }
  const first = skip === 0 ? null : await numberAfter({ ...range, limit: 1 }, skip)
  const items = await rows({
    ...range,
    ...(first !== null && { below: first + 1 }),
    limit: Math.min(limit, total - skip),
  })
  return { items, total, page, limit }
}

type PagedList<Item> = Pick<CreatedList<Item>, 'created' | 'markAt' | 'rows' | 'count'> & {
  readonly numberAfter: (range: RowRange, skip: number) => Promise<number | null>
}

type SequenceSpan = Pick<SequenceRange, 'above' | 'below'>

const everything: SequenceSpan = { above: 0, below: 2_147_483_647 }

/**
 * How far the clocks of several processes may have differed where a row was numbered before one that says it is so much
 * older: since migration 0022 no row does.
 */
const clockDifferenceMs = 60_000

const firstMoment = '0001-01-01T00:00:00.000Z'
const lastMoment = '9999-12-31T23:59:59.999Z'

function timesOf({ createdFrom, createdBefore }: Created) {
  return { createdFrom: createdFrom ?? firstMoment, createdBefore: createdBefore ?? lastMoment }
}

/**
 * The numbers between which the rows of a time lie, found by halving: about twenty looks in a million rows, where a walk
 * would read them all. It is a little wide, and the rows themselves are still held against the time.
 */
async function spanOfTimes({ createdFrom, createdBefore }: Created, markAt: CreatedList<unknown>['markAt']) {
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
async function lastNumberBefore(moment: string, newest: Mark, markAt: CreatedList<unknown>['markAt']): Promise<number> {
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

function intersection(one: SequenceSpan, other: SequenceSpan): SequenceSpan {
  return { above: Math.max(one.above, other.above), below: Math.min(one.below, other.below) }
}

function isEmpty({ above, below }: SequenceSpan): boolean {
  return below - above <= 1
}
