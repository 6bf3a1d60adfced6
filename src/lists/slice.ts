import { hash } from 'node:crypto'
import { z } from 'zod'
import { invalidInput } from '../core/errors.ts'
import { optional, rejectField } from '../core/input.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { allOrFirstError, mapMaybe } from '../core/maybe-promise.ts'
import { maxSequence } from './time-search.ts'

export const maxSliceSize = 100
export const defaultSliceSize = 20

/**
 * `total` counts the rows when it is called, up to `maxRows`. The total is `null` if there are more rows.
 */
export type Slice<Item> = {
  readonly items: readonly Item[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  /** A cursor is valid only for the list that returned it. */
  readonly cursorOf: (item: Item) => string
  readonly total: (maxRows?: number) => Promise<number | null>
}

/** Bounds are exclusive. The range contains the newest `limit` rows, or the oldest if `isAscending` is true. */
export type SequenceRange = {
  readonly above: number
  readonly below: number
  readonly limit: number
  readonly isAscending: boolean
}

/**
 * A list whose rows are numbered in order of creation (keyset pagination).
 *
 * @param name identifies the list in cursors: its owner, kind and filters
 * @param previousName the list's name in cursors of an earlier version, which the list still accepts
 */
export type SequencedList<Item> = {
  readonly name: readonly unknown[]
  readonly previousName?: readonly unknown[] | null
  readonly sequenceOf: (item: Item) => number
  readonly rows: (range: SequenceRange) => MaybePromise<Item[]>
  readonly total: (maxRows?: number) => Promise<number | null>
}

/** `keys` are the ids of the parent objects. */
export type SequencedLists<Item> = {
  readonly keys: readonly string[]
  readonly keyOf: (item: Item) => string
  readonly nameOf: (key: string) => readonly unknown[]
  readonly sequenceOf: (item: Item) => number
  readonly rows: (end: Pick<SequenceRange, 'limit' | 'isAscending'>) => MaybePromise<Item[]>
  readonly totals: () => Promise<ReadonlyMap<string, number | null>>
}

export const sliceFields = {
  first: optional(sliceSizeField()),
  after: optional(z.string()),
  last: optional(sliceSizeField()),
  before: optional(z.string()),
}

export type SliceRequest = { [Field in keyof typeof sliceFields]: z.output<(typeof sliceFields)[Field]> }

export type SliceableList<Context, Input, Item> = {
  readonly slice: (context: Context, input: Input) => MaybePromise<Slice<Item>>
}

/**
 * Reads one row more than requested, to find out whether the list has more rows. Checks whether rows exist on the other
 * side of a cursor, because all rows on that side may have been deleted.
 *
 * @throws DomainError INVALID_INPUT if `first` and `last` are combined, or for a cursor of another list
 */
export function readSlice<Item>(list: SequencedList<Item>, request: SliceRequest): MaybePromise<Slice<Item>> {
  const { size, isAscending } = sliceSizeAndDirection(request)
  const tag = createTag(() => list.name)
  const { previousName } = list
  const tags = previousName ? [tag, createTag(() => previousName)] : [tag]
  const after = parseCursor('after', request.after, tags)
  const before = parseCursor('before', request.before, tags)
  const hasRows = (range: Omit<SequenceRange, 'limit'>) =>
    mapMaybe(list.rows({ ...range, limit: 1 }), ({ length }) => length > 0)
  const rows = allOrFirstError([
    list.rows({ above: before ?? 0, below: after ?? maxSequence, limit: size + 1, isAscending }),
    // Each range includes the row of the cursor.
    after === null ? false : hasRows({ above: after - 1, below: maxSequence, isAscending: true }),
    before === null ? false : hasRows({ above: 0, below: before + 1, isAscending: false }),
  ])
  return mapMaybe(rows, ([read, hasRowsBefore, hasRowsBehind]) =>
    buildSlice(read, { ...list, tag, request, hasRowsBefore, hasRowsBehind }),
  )
}

export type SearchedSlice<Item> = {
  readonly items: readonly Item[]
  readonly next: string | null
  readonly lastSearched: Item | null
}

export type RowSearch<Item> = { readonly matches: (item: Item) => boolean; readonly maxRows: number }

/** @throws DomainError INVALID_INPUT */
export async function searchSlice<Item>(
  list: SequencedList<Item>,
  { first, after }: Pick<SliceRequest, 'first' | 'after'>,
  { matches, maxRows }: RowSearch<Item>,
): Promise<SearchedSlice<Item>> {
  const size = first ?? defaultSliceSize
  const tag = createTag(() => list.name)
  const below = parseCursor('after', after, [tag]) ?? maxSequence
  const rows = await list.rows({ above: 0, below, limit: maxRows, isAscending: false })
  const found = rows.filter(matches)
  const items = found.slice(0, size)
  const last = found.length > size ? items.at(-1) : rows.at(-1)
  const isEnd = found.length <= size && rows.length < maxRows
  const next = isEnd || last === undefined ? null : encodeCursor(tag, list.sequenceOf(last))
  return { items, next, lastSearched: last ?? null }
}

/**
 * Reads the same part of many lists with one query.
 *
 * @param lists `rows` may return rows in any order
 * @throws DomainError INVALID_INPUT if `first` and `last` are combined
 */
export async function readSlices<Item>(
  lists: SequencedLists<Item>,
  request: SliceRequest & { after: null; before: null },
): Promise<ReadonlyMap<string, Slice<Item>>> {
  const { size, isAscending } = sliceSizeAndDirection(request)
  const rows = Map.groupBy(await lists.rows({ limit: size + 1, isAscending }), lists.keyOf)
  let totals: ReturnType<typeof lists.totals> | null = null
  const slices = lists.keys.map((key) => {
    const listRows = rows.get(key) ?? []
    listRows.sort((one, other) => (lists.sequenceOf(one) - lists.sequenceOf(other)) * (isAscending ? 1 : -1))
    const total = async () => {
      totals ??= lists.totals()
      return (await totals).get(key) ?? null
    }
    const tag = createTag(() => lists.nameOf(key))
    const frame = { ...lists, hasRowsBefore: false, hasRowsBehind: false, total, tag, request }
    return [key, buildSlice(listRows, frame)] as const
  })
  return new Map(slices)
}

/** @throws DomainError INVALID_INPUT if `first` and `last` are combined */
export function sliceSizeAndDirection({ first, last }: SliceRequest): { size: number; isAscending: boolean } {
  if (first !== null && last !== null) {
    throw invalidInput([{ field: 'last', code: 'INVALID_PARAMETER', message: 'must not be given together with first' }])
  }
  return { size: first ?? last ?? defaultSliceSize, isAscending: last !== null }
}

type SliceFrame<Item> = Pick<SequencedList<Item>, 'sequenceOf' | 'total'> & {
  readonly tag: () => string
  readonly request: SliceRequest
  /**
   * `hasRowsBefore`: the row of the cursor `after`, or a newer row, exists. `hasRowsBehind`: the row of the cursor
   * `before`, or an older row, exists.
   */
  readonly hasRowsBefore: boolean
  readonly hasRowsBehind: boolean
}

/** `rows` may include one extra row, which only shows that the list has more rows. */
function buildSlice<Item>(
  rows: Item[],
  { sequenceOf, total, tag, request, hasRowsBefore, hasRowsBehind }: SliceFrame<Item>,
): Slice<Item> {
  const { size, isAscending } = sliceSizeAndDirection(request)
  const hasMore = rows.length > size
  const items = hasMore ? rows.slice(0, size) : rows
  if (isAscending) items.reverse()
  return {
    items,
    hasNextPage: hasRowsBehind || (!isAscending && hasMore),
    hasPreviousPage: hasRowsBefore || (isAscending && hasMore),
    cursorOf: (item) => encodeCursor(tag, sequenceOf(item)),
    total,
  }
}

/** `items` must be newest first. */
export function createInMemoryList<Item>(name: readonly unknown[], items: readonly Item[]): SequencedList<Item> {
  const sequences = new Map(items.map((item, index) => [item, items.length - index]))
  const sequenceOf = (item: Item) => sequences.get(item) ?? 0
  return {
    name,
    sequenceOf,
    rows: async ({ above, below, limit, isAscending }) => {
      const within = items.filter((item) => sequenceOf(item) > above && sequenceOf(item) < below)
      return (isAscending ? within.reverse() : within).slice(0, limit)
    },
    total: async () => items.length,
  }
}

function sliceSizeField() {
  return z
    .number()
    .transform((size, context) =>
      Number.isInteger(size) && size >= 0 && size <= maxSliceSize
        ? size
        : rejectField(context, 'INVALID_PARAMETER', `must be an integer from 0 to ${maxSliceSize}`),
    )
}

/** Cursors contain a short hash of the list's name. */
function createTag(nameOf: () => readonly unknown[]): () => string {
  let tag: string | null = null
  return () => {
    tag ??= hash('sha256', JSON.stringify(nameOf()), 'base64url').slice(0, 12)
    return tag
  }
}

function encodeCursor(tag: () => string, sequence: number): string {
  return btoa(`${tag()}:${sequence}`)
}

function parseCursor(field: 'after' | 'before', cursor: string | null, tags: readonly (() => string)[]): number | null {
  if (cursor === null) return null
  const [, name, sequence] = /^([\w-]{12}):([1-9]\d{0,9})$/.exec(decodeBase64(cursor)) ?? []
  if (tags.some((tag) => tag() === name) && Number(sequence) <= maxSequence) return Number(sequence)
  throw invalidInput([{ field, code: 'INVALID_PARAMETER', message: 'must be a cursor that this list gave' }])
}

function decodeBase64(cursor: string): string {
  try {
    return atob(cursor)
  } catch {
    return ''
  }
}
