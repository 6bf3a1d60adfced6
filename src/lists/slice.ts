import { hash } from 'node:crypto'
import { z } from 'zod'
import { invalidInput } from '../core/errors.ts'
import { optional, rejectField } from '../core/input.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { allOrFirstError, mapMaybe } from '../core/maybe-promise.ts'

/** The largest slice, and the one that is given where none is asked for. */
export const maxSliceSize = 100
export const defaultSliceSize = 20

/**
 * Part of a list, newest first, as a connection shows it.
 *
 * `total` counts only when it is called: the rows that match, or `null` where they are too many to count for one request.
 */
export type Slice<Item> = {
  readonly items: readonly Item[]
  readonly hasNextPage: boolean
  readonly hasPreviousPage: boolean
  /** Where an item stands in this list; no other list takes it. */
  readonly cursorOf: (item: Item) => string
  readonly total: () => Promise<number | null>
}

/** The numbers between which a slice lies, both exclusive, and from which end its rows are taken. */
export type SequenceRange = {
  readonly above: number
  readonly below: number
  readonly limit: number
  readonly isAscending: boolean
}

/**
 * A list whose rows are numbered in the order of their creation.
 *
 * @param name everything that tells it from another list: whose it is, what it holds and how it is filtered
 * @param previousName its name in cursors of before, which are still taken
 */
export type SequencedList<Item> = {
  readonly name: readonly unknown[]
  readonly previousName?: readonly unknown[] | null
  readonly sequenceOf: (item: Item) => number
  readonly rows: (range: SequenceRange) => MaybePromise<Item[]>
  readonly total: () => Promise<number | null>
}

/** The lists of one kind that many things have, such as the wallets of each customer; `keys` are the ids of these. */
export type SequencedLists<Item> = {
  readonly keys: readonly string[]
  readonly keyOf: (item: Item) => string
  readonly nameOf: (key: string) => readonly unknown[]
  readonly sequenceOf: (item: Item) => number
  readonly rows: (end: Pick<SequenceRange, 'limit' | 'isAscending'>) => MaybePromise<Item[]>
  readonly totals: () => Promise<ReadonlyMap<string, number | null>>
}

/** The fields by which every operation on a list says which slice it wants (Relay's cursor connections). */
export const sliceFields = {
  first: optional(sliceSizeField()),
  after: optional(z.string()),
  last: optional(sliceSizeField()),
  before: optional(z.string()),
}

/** A parsed request for a slice. */
export type SliceRequest = { [Field in keyof typeof sliceFields]: z.output<(typeof sliceFields)[Field]> }

/** Beyond any number of a list: sequence numbers fit in 31 bits. */
const maxSequence = 2_147_483_647

/**
 * The slice of a list that is asked for: the `first` rows after a cursor, or the `last` before one.
 *
 * One row more than asked for is read, so that nothing is counted to know whether there is more; on the other side of a
 * cursor one row is looked for, because that of the cursor may be gone, and all beyond it.
 *
 * @throws Refusal INVALID_INPUT for `first` with `last`, and for a cursor that is not of this list
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
    // From the cursor on, where its own row is found first if it is there.
    after === null ? false : hasRows({ above: after - 1, below: maxSequence, isAscending: true }),
    before === null ? false : hasRows({ above: 0, below: before + 1, isAscending: false }),
  ])
  return mapMaybe(rows, ([found, isBefore, isBehind]) =>
    buildSlice(found, { ...list, tag, request, hasRowsBefore: isBefore, hasRowsBehind: isBehind }),
  )
}

/**
 * The same slice of many lists, from one query for all of them; a list's cursors are those that it gives alone.
 *
 * @param lists `rows` fetches up to `limit` rows of each list from one end, in any order
 * @param request without cursors: each list has its own
 * @throws Refusal INVALID_INPUT for `first` with `last`
 */
export async function readSlices<Item>(
  lists: SequencedLists<Item>,
  request: SliceRequest & { after: null; before: null },
): Promise<ReadonlyMap<string, Slice<Item>>> {
  const { size, isAscending } = sliceSizeAndDirection(request)
  const rows = Map.groupBy(await lists.rows({ limit: size + 1, isAscending }), lists.keyOf)
  let totals: ReturnType<typeof lists.totals> | null = null
  const slices = lists.keys.map((key) => {
    const found = rows.get(key) ?? []
    found.sort((one, other) => (lists.sequenceOf(one) - lists.sequenceOf(other)) * (isAscending ? 1 : -1))
    const total = async () => {
      totals ??= lists.totals()
      return (await totals).get(key) ?? null
    }
    const beyond = { hasRowsBefore: false, hasRowsBehind: false }
    const tag = createTag(() => lists.nameOf(key))
    return [key, buildSlice(found, { ...lists, ...beyond, total, tag, request })] as const
  })
  return new Map(slices)
}

/** From which end a slice is taken, and how many rows. @throws Refusal INVALID_INPUT for `first` with `last` */
export function sliceSizeAndDirection({ first, last }: SliceRequest): { size: number; isAscending: boolean } {
  if (first !== null && last !== null) {
    throw invalidInput([{ field: 'last', code: 'INVALID_PARAMETER', message: 'must not be given together with first' }])
  }
  return { size: first ?? last ?? defaultSliceSize, isAscending: last !== null }
}

type SliceFrame<Item> = Pick<SequencedList<Item>, 'sequenceOf' | 'total'> & {
  readonly tag: () => string
  readonly request: SliceRequest
  /** Whether there are items at or before `after`, and at or behind `before`. */
  readonly hasRowsBefore: boolean
  readonly hasRowsBehind: boolean
}

/** The slice of rows that were read from one end of a list, of which one may be too many. */
function buildSlice<Item>(
  found: Item[],
  { sequenceOf, total, tag, request, hasRowsBefore: isBefore, hasRowsBehind: isBehind }: SliceFrame<Item>,
): Slice<Item> {
  const { size, isAscending } = sliceSizeAndDirection(request)
  const hasMore = found.length > size
  const items = hasMore ? found.slice(0, size) : found
  if (isAscending) items.reverse()
  return {
    items,
    hasNextPage: isBehind || (!isAscending && hasMore),
    hasPreviousPage: isBefore || (isAscending && hasMore),
    cursorOf: (item) => btoa(`${tag()}:${sequenceOf(item)}`),
    total,
  }
}

/** A list that is in memory already, newest first, as a sequenced one. */
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

/** Names a list in its cursors, shortly, once there are any; what it is made of never shows. */
function createTag(nameOf: () => readonly unknown[]): () => string {
  let tag: string | null = null
  return () => {
    tag ??= hash('sha256', JSON.stringify(nameOf()), 'base64url').slice(0, 12)
    return tag
  }
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
