import type { z } from 'zod'
import { parseInput } from '../core/input.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { Projection } from '../database/projection.ts'
import { cellReader } from '../database/projection.ts'
import type { CursorNames } from './cursor-names.ts'
import type { DeclaredList, ListContext } from './declaration.ts'
import type { ConditionValues, ListCondition } from './list-queries.ts'
import { sequenceColumn, unqualifiedName } from './list-queries.ts'
import type { SequencedList, Slice, SliceRequest } from './slice.ts'
import { createInMemoryList, readSlice, readSlices, sliceSizeAndDirection } from './slice.ts'
import type { CreatedRange, SequenceSpan } from './time-range.ts'
import { createdBounds, findSpan, hasTimeBounds, intersectSpans, isEmptySpan } from './time-range.ts'
import { maxCountedRows, parentTotalsReader, totalReaderFor } from './totals.ts'

/** A parsed request for a slice: its times, its ends, and whatever else the list's filters ask for. */
export type ListSliceRequest = CreatedRange & SliceRequest

/**
 * A slice of a declared list: of whole rows, or of the values of columns where these are chosen.
 *
 * @param known numbers between which all rows of the times lie, where the caller has found them; what lies beyond is not shown
 */
export function readListSlice(
  list: DeclaredList,
  context: ListContext,
  asked: ListSliceRequest,
  { columns, known }: { readonly columns: Projection | undefined; readonly known?: SequenceSpan },
): MaybePromise<Slice<object>> {
  const { createdFrom, createdBefore, first, after, last, before, ...filters } = asked
  const created = { createdFrom, createdBefore }
  return mapMaybe(list.conditionsOf(filters, context), (given) => {
    const names = list.cursorNames({ filters: filters, conditions: given, created }, context)
    const found =
      given === null
        ? createInMemoryList<object>(names.name, [])
        : createSequencedList(list, context, { ...names, conditions: given, created, columns, knownSpan: known })
    return readSlice(found, { first, after, last, before })
  })
}

/** What narrows a list, and what is chosen of its rows. */
type SliceCriteria = {
  readonly conditions: ConditionValues<string>
  readonly created: CreatedRange
  readonly columns: Projection | undefined
  readonly knownSpan?: SequenceSpan | undefined
}

/**
 * A list with its times and its total.
 *
 * The total is the one that is kept, where there is one and no time narrows it; else the rows are counted up to
 * `countLimit`, and `null` stands for more.
 */
function createSequencedList(
  list: DeclaredList,
  context: ListContext,
  { name, previousName, conditions: given, created, columns, knownSpan: known }: CursorNames & SliceCriteria,
): SequencedList<object> {
  const { db, merchantId } = context
  const { queries } = list
  const asked = { merchantId, ...given, ...createdBounds(created) }
  let found: MaybePromise<SequenceSpan> | null = known ?? null
  const findListSpan = () => {
    found ??= findSpan(created, (fromSequence) => queries.markAt(db, { ...asked, fromSequence }))
    return found
  }
  return {
    name,
    previousName,
    sequenceOf: createSequenceReader(list, given, columns),
    rows: ({ above, below, limit, isAscending }) =>
      mapMaybe(findListSpan(), (within) => {
        const range = intersectSpans({ above, below }, within)
        if (isEmptySpan(range)) return []
        return queries.rows(db, { ...asked, ...range, limit, isAscending: isAscending || undefined }, columns)
      }),
    total: async () => {
      const kept = hasTimeBounds(created) || known ? null : totalReaderFor(list, context, given)
      if (kept) return kept(db)
      const range = await findListSpan()
      if (isEmptySpan(range)) return 0
      return totalWithinLimit(await queries.count(db, { ...asked, ...range, limit: maxCountedRows + 1 }))
    },
  }
}

/** How the rows of a list with these conditions are numbered. */
function createSequenceReader(
  list: DeclaredList,
  given: ConditionValues<string>,
  columns: Projection | undefined,
): (row: object) => number {
  return cellReader(columns, unqualifiedName(sequenceColumn(list, (name) => given[name] !== undefined))) as (
    row: object,
  ) => number
}

/** The columns by which a list may be numbered, whatever its conditions. */
export function sequenceColumns({ order, conditions }: DeclaredList): string[] {
  return [order, ...Object.values(conditions).flatMap(({ order }) => order ?? [])].map(unqualifiedName)
}

/** The columns that tell whose list of many a row is in, and where it stands there. */
export function parentColumns(list: DeclaredList, condition: string): string[] {
  const { column } = list.conditions[condition] as ListCondition
  return [column, sequenceColumn(list, (name) => name === condition)].map(unqualifiedName)
}

function totalWithinLimit(counted: number): number | null {
  return counted > maxCountedRows ? null : counted
}

/** How a parent's list is asked for: the field that names the parent, what it holds, and the condition that it becomes. */
export type ParentFilter = {
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
export function createSliceParser(
  SliceInput: z.ZodObject,
  parent: ParentFilter | null,
): (input: object) => ListSliceRequest {
  const Input = parent === null ? SliceInput : SliceInput.omit({ [parent.field]: true } as never)
  return (input) => {
    const asked = parseInput(Input, input) as unknown as ListSliceRequest
    sliceSizeAndDirection(asked)
    return asked
  }
}

/** What gives the same slice of each parent's list, from as many queries as one list takes; that of one parent, or with cursors, alone. */
export function createParentSlicesReader(list: DeclaredList, SliceInput: z.ZodObject, parent: ParentFilter) {
  const { field, asked, condition } = parent
  const parseOthers = createSliceParser(SliceInput, parent)
  const own = SliceInput.shape[field] as z.ZodType
  return async (
    context: ListContext,
    ids: readonly string[],
    input: object,
    columns?: Projection,
  ): Promise<ReadonlyMap<string, Slice<object>>> => {
    const others = parseOthers(input)
    const askedOf = (id: string) => ({ ...others, [field]: own.parse(asked(id)) })
    const [first] = ids
    const isAlone = ids.length < 2 || others.after !== null || others.before !== null
    const given = first === undefined || isAlone ? null : await list.conditionsOf(askedOf(first), context)
    if (given === null) {
      const slices = ids.map(async (id) => [id, await readListSlice(list, context, askedOf(id), { columns })] as const)
      return new Map(await Promise.all(slices))
    }
    return readParentSlices(list, context, { ids, condition, given, asked: others, askedOf, columns })
  }
}

type ParentSlicesArgs = {
  readonly ids: readonly string[]
  readonly condition: string
  /** The conditions of the first parent's list; the others' have another parent in them. */
  readonly given: ConditionValues<string>
  readonly asked: ListSliceRequest
  readonly askedOf: (id: string) => Readonly<Record<string, unknown>>
  readonly columns: Projection | undefined
}

function readParentSlices(list: DeclaredList, context: ListContext, together: ParentSlicesArgs) {
  const { ids, condition, given, asked, askedOf, columns } = together
  const { createdFrom, createdBefore, first, last } = asked
  const created = { createdFrom, createdBefore }
  const { column } = list.conditions[condition] as ListCondition
  return readSlices<object>(
    {
      keys: ids,
      keyOf: cellReader(columns, unqualifiedName(column)) as (row: object) => string,
      nameOf: (id) =>
        list.cursorNames({ filters: askedOf(id), conditions: { ...given, [condition]: id }, created }, context).name,
      sequenceOf: createSequenceReader(list, given, columns),
      ...parentQueries(list, context, {
        ids,
        condition,
        conditions: { ...given, [condition]: undefined },
        created,
        columns,
      }),
    },
    { first, last, after: null, before: null },
  )
}

type ParentRowsArgs = Pick<ParentSlicesArgs, 'ids' | 'condition'> & SliceCriteria

function parentQueries(
  list: DeclaredList,
  { db, merchantId }: ListContext,
  { ids, condition, conditions: given, created, columns }: ParentRowsArgs,
) {
  const queries = list.queries.byParent.get(condition)
  if (!queries) throw new Error(`${list.name} has no parents by ${condition}`)
  const asked = { merchantId, ...given, ...createdBounds(created), parentIds: ids }
  return {
    rows: ({ limit, isAscending }: { limit: number; isAscending: boolean }) =>
      queries.rows(db, { ...asked, limit, isAscending: isAscending || undefined }, columns),
    totals: async () => {
      const kept = hasTimeBounds(created)
        ? null
        : parentTotalsReader(list, { merchantId, parent: condition, parentIds: ids, given })
      if (kept) return fillWithZeros(ids, await kept(db))
      const counted = await queries.counts(db, { ...asked, limit: maxCountedRows + 1 })
      return new Map(counted.map(({ id, total }) => [id, totalWithinLimit(Number(total))] as const))
    },
  }
}

function fillWithZeros(ids: readonly string[], totals: ReadonlyMap<string, number>): Map<string, number> {
  return new Map(ids.map((id) => [id, totals.get(id) ?? 0]))
}
