import type { z } from 'zod'
import { parse } from '../core/input.ts'
import type { Columns } from '../database/projection.ts'
import { cellOf } from '../database/projection.ts'
import type { Answer } from '../database/query.ts'
import { answerOf } from '../database/query.ts'
import type { CursorNames } from './cursor-names.ts'
import type { AnyList, Asking } from './declaration.ts'
import type { Condition, Given } from './queries.ts'
import { columnOf, numberingOf } from './queries.ts'
import type { SequencedList, Slice, SliceRequest } from './slice.ts'
import { endOf, listInMemory, sliceOf, slicesOf } from './slice.ts'
import type { Created, Span } from './time-range.ts'
import { intersection, isEmpty, isTimed, spanOf, timesOf } from './time-range.ts'
import { countLimit, keptTotalFor, keptTotalsOfEach } from './totals.ts'

/** A parsed request for a slice: its times, its ends, and whatever else the list's filters ask for. */
export type SliceAsked = Created & SliceRequest

/**
 * A slice of a declared list: of whole rows, or of the values of columns where these are chosen.
 *
 * @param known numbers between which all rows of the times lie, where the caller has found them; what lies beyond is not shown
 */
export function sliceOfList(
  list: AnyList,
  context: Asking,
  asked: SliceAsked,
  { columns, known }: { readonly columns: Columns | undefined; readonly known?: Span },
): Answer<Slice<object>> {
  const { createdFrom, createdBefore, first, after, last, before, ...filters } = asked
  const created = { createdFrom, createdBefore }
  return answerOf(list.conditionsOf(filters, context), (given) => {
    const names = list.cursorNames({ asked: filters, given, created }, context)
    const found =
      given === null
        ? listInMemory<object>(names.name, [])
        : sequencedList(list, context, { ...names, given, created, columns, known })
    return sliceOf(found, { first, after, last, before })
  })
}

/** What narrows a list, and what is chosen of its rows. */
type Narrowed = {
  readonly given: Given<string>
  readonly created: Created
  readonly columns: Columns | undefined
  readonly known?: Span | undefined
}

/**
 * A list with its times and its total.
 *
 * The total is the one that is kept, where there is one and no time narrows it; else the rows are counted up to
 * `countLimit`, and `null` stands for more.
 */
function sequencedList(
  list: AnyList,
  context: Asking,
  { name, previousName, given, created, columns, known }: CursorNames & Narrowed,
): SequencedList<object> {
  const { db, merchantId } = context
  const { queries } = list
  const asked = { merchantId, ...given, ...timesOf(created) }
  let found: Answer<Span> | null = known ?? null
  const span = () => {
    found ??= spanOf(created, (fromSequence) => queries.markAt(db, { ...asked, fromSequence }))
    return found
  }
  return {
    name,
    previousName,
    sequenceOf: sequenceOf(list, given, columns),
    rows: ({ above, below, limit, isAscending }) =>
      answerOf(span(), (within) => {
        const range = intersection({ above, below }, within)
        if (isEmpty(range)) return []
        return queries.rows(db, { ...asked, ...range, limit, isAscending: isAscending || undefined }, columns)
      }),
    total: async () => {
      const kept = isTimed(created) || known ? null : keptTotalFor(list, context, given)
      if (kept) return kept(db)
      const range = await span()
      if (isEmpty(range)) return 0
      return withinLimit(await queries.count(db, { ...asked, ...range, limit: countLimit + 1 }))
    },
  }
}

/** How the rows of a list with these conditions are numbered. */
function sequenceOf(list: AnyList, given: Given<string>, columns: Columns | undefined): (row: object) => number {
  return cellOf(columns, columnOf(numberingOf(list, (name) => given[name] !== undefined))) as (row: object) => number
}

/** The columns by which a list may be numbered, whatever its conditions. */
export function numberings({ order, conditions }: AnyList): string[] {
  return [order, ...Object.values(conditions).flatMap(({ order }) => order ?? [])].map(columnOf)
}

/** The columns that tell whose list of many a row is in, and where it stands there. */
export function columnsOfParent(list: AnyList, condition: string): string[] {
  const { column } = list.conditions[condition] as Condition
  return [column, numberingOf(list, (name) => name === condition)].map(columnOf)
}

function withinLimit(counted: number): number | null {
  return counted > countLimit ? null : counted
}

/** How a parent's list is asked for: the field that names the parent, what it holds, and the condition that it becomes. */
export type AnyParent = {
  readonly field: string
  readonly asked: (id: string) => unknown
  readonly condition: string
}

/**
 * Parses what is asked of a slice: of each parent's list where there is a `parent`, whose field is not asked for then. It reads
 * nothing.
 *
 * @throws Refusal INVALID_INPUT
 */
export function sliceParser(SliceInput: z.ZodObject, parent: AnyParent | null): (input: object) => SliceAsked {
  const Input = parent === null ? SliceInput : SliceInput.omit({ [parent.field]: true } as never)
  return (input) => {
    const asked = parse(Input, input) as unknown as SliceAsked
    endOf(asked)
    return asked
  }
}

/** What gives the same slice of each parent's list, from as many queries as one list takes; that of one parent, or with cursors, alone. */
export function slicesByParent(list: AnyList, SliceInput: z.ZodObject, parent: AnyParent) {
  const { field, asked, condition } = parent
  const parseOthers = sliceParser(SliceInput, parent)
  const own = SliceInput.shape[field] as z.ZodType
  return async (
    context: Asking,
    ids: readonly string[],
    input: object,
    columns?: Columns,
  ): Promise<ReadonlyMap<string, Slice<object>>> => {
    const others = parseOthers(input)
    const askedOf = (id: string) => ({ ...others, [field]: own.parse(asked(id)) })
    const [first] = ids
    const isAlone = ids.length < 2 || others.after !== null || others.before !== null
    const given = first === undefined || isAlone ? null : await list.conditionsOf(askedOf(first), context)
    if (given === null) {
      const slices = ids.map(async (id) => [id, await sliceOfList(list, context, askedOf(id), { columns })] as const)
      return new Map(await Promise.all(slices))
    }
    return slicesTogether(list, context, { ids, condition, given, asked: others, askedOf, columns })
  }
}

type Together = {
  readonly ids: readonly string[]
  readonly condition: string
  /** The conditions of the first parent's list; the others' have another parent in them. */
  readonly given: Given<string>
  readonly asked: SliceAsked
  readonly askedOf: (id: string) => Readonly<Record<string, unknown>>
  readonly columns: Columns | undefined
}

function slicesTogether(list: AnyList, context: Asking, together: Together) {
  const { ids, condition, given, asked, askedOf, columns } = together
  const { createdFrom, createdBefore, first, last } = asked
  const created = { createdFrom, createdBefore }
  const { column } = list.conditions[condition] as Condition
  return slicesOf<object>(
    {
      keys: ids,
      keyOf: cellOf(columns, columnOf(column)) as (row: object) => string,
      nameOf: (id) =>
        list.cursorNames({ asked: askedOf(id), given: { ...given, [condition]: id }, created }, context).name,
      sequenceOf: sequenceOf(list, given, columns),
      ...fromEach(list, context, { ids, condition, given: { ...given, [condition]: undefined }, created, columns }),
    },
    { first, last, after: null, before: null },
  )
}

type Each = Pick<Together, 'ids' | 'condition'> & Narrowed

function fromEach(list: AnyList, { db, merchantId }: Asking, { ids, condition, given, created, columns }: Each) {
  const queries = list.queries.ofEach.get(condition)
  if (!queries) throw new Error(`${list.name} has no parents by ${condition}`)
  const asked = { merchantId, ...given, ...timesOf(created), parentIds: ids }
  return {
    rows: ({ limit, isAscending }: { limit: number; isAscending: boolean }) =>
      queries.rows(db, { ...asked, limit, isAscending: isAscending || undefined }, columns),
    totals: async () => {
      const kept = isTimed(created)
        ? null
        : keptTotalsOfEach(list, { merchantId, parent: condition, parentIds: ids, given })
      if (kept) return withZeros(ids, await kept(db))
      const counted = await queries.counts(db, { ...asked, limit: countLimit + 1 })
      return new Map(counted.map(({ id, total }) => [id, withinLimit(Number(total))] as const))
    },
  }
}

function withZeros(ids: readonly string[], totals: ReadonlyMap<string, number>): Map<string, number> {
  return new Map(ids.map((id) => [id, totals.get(id) ?? 0]))
}
