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
import { isListSorted } from './sequence.ts'
import type { RowSearch, SearchedSlice, SequencedList, Slice, SliceRequest } from './slice.ts'
import { createInMemoryList, readSlice, readSlices, searchSlice, sliceSizeAndDirection } from './slice.ts'
import type { CreatedRange, FindMark, SequenceSpan } from './time-range.ts'
import { createdBounds, findSpan, hasTimeBounds, intersectSpans } from './time-range.ts'
import { maxCountedRows, parentTotalsReader, totalReaderFor } from './totals.ts'

export type ListSliceRequest = CreatedRange & SliceRequest

/** @param knownSpan sequence numbers that the caller has computed from the times in the request */
export function readListSlice(
  list: DeclaredList,
  context: ListContext,
  request: ListSliceRequest,
  { columns, knownSpan }: { readonly columns: Projection | undefined; readonly knownSpan?: SequenceSpan },
): MaybePromise<Slice<object>> {
  const filters = filtersOf(request)
  const { createdFrom, createdBefore } = request
  const created = { createdFrom, createdBefore }
  return mapMaybe(list.toConditions(filters, context), (conditions) => {
    const names = list.cursorNames({ filters, conditions, created }, context)
    const source =
      conditions === null
        ? createInMemoryList<object>(names.name, [])
        : createSequencedList(list, context, { ...names, conditions, created, columns, knownSpan })
    return readSlice(source, request)
  })
}

/** The search compares `columns`, which must include the id, the time and the sequence number. Returns whole rows. */
export async function searchListSlice(
  list: DeclaredList,
  context: ListContext,
  request: ListSliceRequest,
  { columns, ...search }: RowSearch<object> & { readonly columns: Projection },
): Promise<Omit<SearchedSlice<object>, 'lastSearched'> & { readonly searchedUntil: string | null }> {
  const { createdFrom, createdBefore, first, after } = request
  const filters = filtersOf(request)
  const created = { createdFrom, createdBefore }
  const conditions = await list.toConditions(filters, context)
  if (conditions === null) return { items: [], next: null, searchedUntil: null }
  const names = list.cursorNames({ filters, conditions, created }, context)
  const source = createSequencedList(list, context, { ...names, conditions, created, columns })
  const { items, next, lastSearched } = await searchSlice(source, { first, after }, search)
  const [idOf, timeOf] = [cellReader(columns, 'id'), cellReader(columns, 'createdAt')]
  const ids = items.map((item) => String(idOf(item)))
  const rows = ids.length === 0 ? [] : await list.queries.byIds(context.db, { merchantId: context.merchantId, ids })
  const rowsById = new Map(rows.map((row) => [(row as { readonly id: string }).id, row]))
  return {
    items: ids.flatMap((id) => rowsById.get(id) ?? []),
    next,
    searchedUntil: lastSearched && String(timeOf(lastSearched)),
  }
}

function filtersOf({ createdFrom, createdBefore, first, after, last, before, ...filters }: ListSliceRequest) {
  return filters
}

type SliceCriteria = {
  readonly conditions: ConditionValues<string>
  readonly created: CreatedRange
  readonly columns: Projection | undefined
  readonly knownSpan?: SequenceSpan | undefined
}

/**
 * `total` returns the stored total if there is one and the request has no time range. Otherwise `total` counts the
 * rows, and returns `null` above `maxRows`.
 */
function createSequencedList(
  list: DeclaredList,
  context: ListContext,
  { name, previousName, conditions, created, columns, knownSpan }: CursorNames & SliceCriteria,
): SequencedList<object> {
  const { db, merchantId } = context
  const { queries } = list
  const params = { merchantId, ...conditions, ...createdBounds(created) }
  let span: MaybePromise<SequenceSpan> | null = knownSpan ?? null
  const findListSpan = () => {
    const findMark: FindMark = (fromSequence) => queries.markAt(db, { ...params, fromSequence })
    span ??= findSpan(created, findMark, () => isListSorted(db, merchantId, list.importedAs))
    return span
  }
  return {
    name,
    previousName,
    sequenceOf: createSequenceReader(list, conditions, columns),
    rows: ({ above, below, limit, isAscending }) =>
      mapMaybe(findListSpan(), (within) => {
        const range = intersectSpans({ above, below }, within)
        return queries.rows(db, { ...params, ...range, limit, isAscending: isAscending || undefined }, columns)
      }),
    total: async (maxRows = maxCountedRows) => {
      const readTotal = hasTimeBounds(created) || knownSpan ? null : totalReaderFor(list, context, conditions)
      if (readTotal) return readTotal(db)
      const range = await findListSpan()
      return totalWithinLimit(await queries.count(db, { ...params, ...range, limit: maxRows + 1 }), maxRows)
    },
  }
}

function createSequenceReader(
  list: DeclaredList,
  conditions: ConditionValues<string>,
  columns: Projection | undefined,
): (row: object) => number {
  return cellReader(columns, unqualifiedName(sequenceColumn(list, (name) => conditions[name] !== undefined))) as (
    row: object,
  ) => number
}

export function sequenceColumns({ order, conditions }: DeclaredList): string[] {
  return [order, ...Object.values(conditions).flatMap(({ order }) => order ?? [])].map(unqualifiedName)
}

export function parentColumns(list: DeclaredList, condition: string): string[] {
  const { column, order = list.order } = list.conditions[condition] as ListCondition
  return [column, order].map(unqualifiedName)
}

function totalWithinLimit(counted: number, maxRows = maxCountedRows): number | null {
  return counted > maxRows ? null : counted
}

export type ParentFilter = {
  readonly field: string
  readonly toFilterValue: (id: string) => unknown
  readonly condition: string
}

/**
 * If `parent` is set, a request cannot filter by the parent object.
 *
 * @throws (the parser) DomainError INVALID_INPUT
 */
export function createSliceParser(
  SliceInput: z.ZodObject,
  parent: ParentFilter | null,
): (input: object) => ListSliceRequest {
  const Input = parent === null ? SliceInput : SliceInput.omit({ [parent.field]: true } as never)
  return (input) => {
    const request = parseInput(Input, input) as unknown as ListSliceRequest
    sliceSizeAndDirection(request)
    return request
  }
}

/** Reads the lists of several parent objects together. If the request has a cursor, the lists are read separately. */
export function createParentSlicesReader(list: DeclaredList, SliceInput: z.ZodObject, parent: ParentFilter) {
  const { field, toFilterValue, condition } = parent
  const parseRequest = createSliceParser(SliceInput, parent)
  const parentSchema = SliceInput.shape[field] as z.ZodType
  return async (
    context: ListContext,
    ids: readonly string[],
    input: object,
    columns?: Projection,
  ): Promise<ReadonlyMap<string, Slice<object>>> => {
    const request = parseRequest(input)
    const requestFor = (id: string) => ({ ...request, [field]: parentSchema.parse(toFilterValue(id)) })
    const [first] = ids
    const isSeparate = ids.length < 2 || request.after !== null || request.before !== null
    const conditions =
      first === undefined || isSeparate ? null : await list.toConditions(filtersOf(requestFor(first)), context)
    if (conditions === null) {
      const slices = ids.map(
        async (id) => [id, await readListSlice(list, context, requestFor(id), { columns })] as const,
      )
      return new Map(await Promise.all(slices))
    }
    return readParentSlices(list, context, { ids, condition, conditions, request, requestFor, columns })
  }
}

type ParentSlicesArgs = {
  readonly ids: readonly string[]
  readonly condition: string
  /** The conditions for the parent objects differ only in the parent's id, so the first parent's conditions suffice. */
  readonly conditions: ConditionValues<string>
  readonly request: ListSliceRequest
  readonly requestFor: (id: string) => Readonly<Record<string, unknown>>
  readonly columns: Projection | undefined
}

function readParentSlices(list: DeclaredList, context: ListContext, args: ParentSlicesArgs) {
  const { ids, condition, conditions, request, requestFor, columns } = args
  const { createdFrom, createdBefore, first, last } = request
  const created = { createdFrom, createdBefore }
  const { column } = list.conditions[condition] as ListCondition
  return readSlices<object>(
    {
      keys: ids,
      keyOf: cellReader(columns, unqualifiedName(column)) as (row: object) => string,
      nameOf: (id) =>
        list.cursorNames({ filters: requestFor(id), conditions: { ...conditions, [condition]: id }, created }, context)
          .name,
      sequenceOf: createSequenceReader(list, conditions, columns),
      ...parentQueries(list, context, {
        ids,
        condition,
        conditions: { ...conditions, [condition]: undefined },
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
  { ids, condition, conditions, created, columns }: ParentRowsArgs,
) {
  const queries = list.queries.byParent.get(condition)
  if (!queries) throw new Error(`${list.name} has no parents by ${condition}`)
  const params = { merchantId, ...conditions, ...createdBounds(created), parentIds: ids }
  return {
    rows: ({ limit, isAscending }: { limit: number; isAscending: boolean }) =>
      queries.rows(db, { ...params, limit, isAscending: isAscending || undefined }, columns),
    totals: async () => {
      const readTotals = hasTimeBounds(created)
        ? null
        : parentTotalsReader(list, { merchantId, parent: condition, parentIds: ids, values: conditions })
      if (readTotals) return fillWithZeros(ids, await readTotals(db))
      const counted = await queries.counts(db, { ...params, limit: maxCountedRows + 1 })
      return new Map(counted.map(({ id, total }) => [id, totalWithinLimit(Number(total))] as const))
    },
  }
}

function fillWithZeros(ids: readonly string[], totals: ReadonlyMap<string, number>): Map<string, number> {
  return new Map(ids.map((id) => [id, totals.get(id) ?? 0]))
}
