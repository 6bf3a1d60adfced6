import { hash } from 'node:crypto'
import { z } from 'zod'
import { invalidInput } from './errors.ts'
import { optional, refuse } from './input.ts'

/** The largest slice, and the one that is given where none is asked for. */
export const largestSlice = 100
export const standardSlice = 20

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
 */
export type SequencedList<Item> = {
  readonly name: readonly unknown[]
  readonly sequenceOf: (item: Item) => number
  readonly rows: (range: SequenceRange) => Promise<Item[]>
  readonly total: () => Promise<number | null>
}

/** The fields by which every operation on a list says which slice it wants (Relay's cursor connections). */
export const sliceFields = {
  first: optional(sliceSize()),
  after: optional(z.string()),
  last: optional(sliceSize()),
  before: optional(z.string()),
}

type SliceRequest = { [Field in keyof typeof sliceFields]: z.output<(typeof sliceFields)[Field]> }

/** Beyond any number of a list: sequence numbers fit in 31 bits. */
const highestSequence = 2_147_483_647

/**
 * The slice of a list that is asked for: the `first` rows after a cursor, or the `last` before one.
 *
 * One row more than asked for is read, so that nothing is counted to know whether there is more.
 *
 * @throws Refusal INVALID_INPUT for `first` with `last`, and for a cursor that is not of this list
 */
export async function sliceOf<Item>(list: SequencedList<Item>, request: SliceRequest): Promise<Slice<Item>> {
  const { first, last } = request
  if (first !== null && last !== null) {
    throw invalidInput([{ field: 'last', code: 'INVALID_PARAMETER', message: 'must not be given together with first' }])
  }
  const tag = tagOf(list.name)
  const below = positionOf('after', request.after, tag) ?? highestSequence
  const above = positionOf('before', request.before, tag) ?? 0
  const isAscending = last !== null
  const size = first ?? last ?? standardSlice

  const found = await list.rows({ above, below, limit: size + 1, isAscending })
  const hasMore = found.length > size
  const items = hasMore ? found.slice(0, size) : found
  if (isAscending) items.reverse()
  return {
    items,
    // A cursor is that of a row, so there was something on its other side.
    hasNextPage: isAscending ? request.before !== null : hasMore,
    hasPreviousPage: isAscending ? hasMore : request.after !== null,
    cursorOf: (item) => btoa(`${tag}:${list.sequenceOf(item)}`),
    total: list.total,
  }
}

/** A list that is in memory already, newest first, as a sequenced one. */
export function listInMemory<Item>(name: readonly unknown[], items: readonly Item[]): SequencedList<Item> {
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

function sliceSize() {
  return z
    .number()
    .transform((size, context) =>
      Number.isInteger(size) && size >= 0 && size <= largestSlice
        ? size
        : refuse(context, 'INVALID_PARAMETER', `must be an integer from 0 to ${largestSlice}`),
    )
}

/** Names a list in its cursors, shortly; what it is made of never shows. */
function tagOf(name: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(name), 'base64url').slice(0, 12)
}

function positionOf(field: 'after' | 'before', cursor: string | null, tag: string): number | null {
  if (cursor === null) return null
  const [, sequence] = /^([\w-]{12}):([1-9]\d{0,9})$/.exec(decoded(cursor)) ?? []
  if (sequence !== undefined && decoded(cursor).startsWith(`${tag}:`)) return Number(sequence)
  throw invalidInput([{ field, code: 'INVALID_PARAMETER', message: 'must be a cursor that this list gave' }])
}

function decoded(cursor: string): string {
  try {
    return atob(cursor)
  } catch {
    return ''
  }
}
