import { z } from 'zod'
import { notFound } from '../core/errors.ts'
import { parseUuid } from '../core/ids-and-clock.ts'
import { createdRangeFields, limit, page, parseInput } from '../core/input.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { ProjectedRow, Projection } from '../database/projection.ts'
import { cellReader, createProjection } from '../database/projection.ts'
import type { Reader, Tx } from '../database/query.ts'
import type { RowOf, TableName } from '../database/tables.ts'
import { updateListCounts } from './counted-list.ts'
import type { ListCriteria } from './cursor-names.ts'
import { cursorNames } from './cursor-names.ts'
import type { DeclaredList, ListContext, ListDeclaration } from './declaration.ts'
import { declaredLists } from './declaration.ts'
import type { FilterFields, FilterValues } from './filters.ts'
import { filterSchemas } from './filters.ts'
import type { Page } from './list-pages.ts'
import { readPage } from './list-pages.ts'
import type { ConditionValues } from './list-queries.ts'
import { buildListQueries } from './list-queries.ts'
import type { ParentFilter } from './list-slices.ts'
import {
  createParentSlicesReader,
  createSliceParser,
  parentColumns,
  readListSlice,
  searchListSlice,
  sequenceColumns,
} from './list-slices.ts'
import type { Slice } from './slice.ts'
import { sliceFields } from './slice.ts'
import type { CreatedRange, SequenceSpan } from './time-range.ts'
import { createdBounds, findSpan, intersectSpans } from './time-range.ts'
import { countedListsOfRow } from './totals.ts'

const defaultPageSize = 20

export function defineList<
  Table extends TableName,
  Row extends object,
  Name extends string,
  Fields extends FilterFields,
  Joined extends TableName = Table,
  Parent extends string = never,
  Listed extends string = keyof Row & string,
>(declaration: ListDeclaration<Table, Joined, Row, Name, Fields, Parent, Listed>) {
  const { filters, pageSize = defaultPageSize } = declaration
  const SliceInput = z.object({ ...filterSchemas(filters, 'schema'), ...createdRangeFields, ...sliceFields })
  const PageInput = z.object({
    ...filterSchemas(filters, 'pageSchema'),
    ...createdRangeFields,
    page: page(),
    limit: limit(pageSize),
  })
  const list = eraseTypes(declaration as unknown as AnyListDeclaration)
  declaredLists.push(list)
  type SliceInputFields = z.input<typeof SliceInput>
  const parentOf = (parent: Parent) => (declaration.parents as { [Each in Parent]: ParentFilter })[parent]
  const parseSlice = createSliceParser(SliceInput, null)

  return {
    filters,
    pageSize,
    PageInput,
    /** @throws DomainError INVALID_INPUT */
    page: async (context: ListContext, input: z.input<typeof PageInput>) =>
      (await readPage(list, context, parseInput(PageInput, input) as never)) as Page<PageRow<Row, Listed>>,
    /** @throws DomainError INVALID_INPUT */
    slice: ((context: ListContext, input: SliceInputFields, columns?: Projection) =>
      readListSlice(list, context, parseSlice(input), { columns })) as {
      (context: ListContext, input: SliceInputFields, columns: Projection): MaybePromise<Slice<ProjectedRow>>
      (context: ListContext, input: SliceInputFields): MaybePromise<Slice<Row>>
    },
    sliceWithin: (context: ListContext, knownSpan: SequenceSpan, input: SliceInputFields, columns?: Projection) =>
      readListSlice(list, context, parseSlice(input), { columns, knownSpan }) as unknown as MaybePromise<Slice<Row>>,
    /**
     * Compares the columns `names` of at most `maxRows` rows after the cursor, for a condition without an index.
     *
     * @throws DomainError INVALID_INPUT
     */
    search: async (
      context: ListContext,
      input: SliceInputFields,
      { names, matches, maxRows }: ListSearch,
    ): Promise<SearchResult<Row>> => {
      const columns = createProjection(['id', 'createdAt', ...names, ...sequenceColumns(list)])
      const readers = names.map((name) => cellReader(columns, name))
      const search = { columns, maxRows, matches: (row: object) => matches(readers.map((read) => read(row))) }
      return (await searchListSlice(list, context, parseSlice(input), search)) as SearchResult<Row>
    },
    sliceParser: (parent: Parent | null) =>
      parent === null ? parseSlice : createSliceParser(SliceInput, parentOf(parent)),
    /**
     * Returns a function that reads the same part of several parent objects' lists.
     *
     * @throws (the returned function) DomainError INVALID_INPUT
     */
    slicesOf: (parent: Parent) =>
      createParentSlicesReader(list, SliceInput, parentOf(parent)) as unknown as {
        (
          context: ListContext,
          ids: readonly string[],
          input: Partial<SliceInputFields>,
          columns: Projection,
        ): MaybePromise<ReadonlyMap<string, Slice<ProjectedRow>>>
        (
          context: ListContext,
          ids: readonly string[],
          input: Partial<SliceInputFields>,
        ): MaybePromise<ReadonlyMap<string, Slice<Row>>>
      },
    columns: (names: readonly string[], { needsCursor, parent }: ColumnNeeds<Parent> = {}): Projection => {
      const needed = [...names]
      if (parent !== undefined) needed.push(...parentColumns(list, parentOf(parent).condition))
      else if (needsCursor || needed.length === 0) needed.push(...sequenceColumns(list))
      return createProjection(needed)
    },
    /**
     * Reads rows for a list that merges several lists: at most `limit` rows, newest first, or only the row with the
     * number `sequence`.
     */
    newest: async (
      db: Reader,
      { merchantId, conditions, created, sequence, limit }: NewestRowsRequest<Name>,
      columns: Projection,
    ): Promise<ProjectedRow[]> => {
      const params = { merchantId, ...conditions, ...createdBounds(created) }
      const inTime = await findSpan(created, (fromSequence) => list.queries.markAt(db, { ...params, fromSequence }))
      const span =
        sequence === undefined ? inTime : intersectSpans(inTime, { above: sequence - 1, below: sequence + 1 })
      if (span.below <= span.above) return []
      return (await list.queries.rows(db, { ...params, ...span, limit }, columns)) as ProjectedRow[]
    },
    byId: (db: Reader, key: { merchantId: string; id: string }) =>
      mapMaybe(list.queries.byId(db, key), ([row = null]) => row as Row | null),
    /** @throws DomainError RESOURCE_NOT_FOUND, also for an invalid id (ruling 5) */
    get: async ({ db, merchantId }: { readonly db: Reader; readonly merchantId: string }, idText: string) => {
      const id = parseUuid(idText)
      const row = id && (await list.queries.byId(db, { merchantId, id }))[0]
      if (!row) throw notFound(declaration.noun)
      return row as Row
    },
    /** The order of the rows is unspecified. */
    find: (({ db, merchantId }: ListContext, ids: readonly string[], columns?: Projection) => {
      const [id] = ids
      // In SQL, `id = ?` is faster than `id in (…)` with one element.
      if (id !== undefined && ids.length === 1) return list.queries.byId(db, { merchantId, id }, columns)
      return list.queries.byIds(db, { merchantId, ids }, columns)
    }) as {
      (context: ListContext, ids: readonly string[], columns: Projection): MaybePromise<ProjectedRow[]>
      (context: ListContext, ids: readonly string[]): MaybePromise<Row[]>
    },
    /** `change` is 1 for a new row and -1 for a deleted row. */
    count: async (tx: Tx, row: RowOf<Table>, change: 1 | -1) => {
      for (const counted of countedListsOfRow(list, row)) await updateListCounts(tx, { ...counted, change })
    },
  }
}

export type ListSearch = {
  readonly names: readonly string[]
  readonly matches: (values: readonly unknown[]) => boolean
  readonly maxRows: number
}

/** `next` is the cursor for the next search. `searchedUntil` is the time of the last row that was compared. */
export type SearchResult<Row> = {
  readonly items: readonly Row[]
  readonly next: string | null
  readonly searchedUntil: string | null
}

type PageRow<Row, Listed extends string> = Row extends unknown ? Pick<Row, Listed & keyof Row> : never

export type ColumnNeeds<Parent extends string> = {
  readonly needsCursor?: true
  readonly parent?: Parent
}

type NewestRowsRequest<Name extends string> = {
  readonly merchantId: string
  readonly conditions: ConditionValues<Name>
  readonly created: CreatedRange
  readonly sequence?: number | undefined
  readonly limit: number
}

type AnyListDeclaration = ListDeclaration<TableName, TableName, object, string, FilterFields, string, string>

function eraseTypes(declaration: AnyListDeclaration): DeclaredList {
  const toConditions = declaration.toConditions ?? omitNulls
  return {
    ...declaration,
    toConditions: (filters: FilterValues<FilterFields>, context: ListContext) =>
      mapMaybe(toConditions(filters, context), (values) =>
        restrictToCustomer(declaration, values as ConditionValues<string> | null, context),
      ),
    cursorNames: (criteria: ListCriteria, context: ListContext) => cursorNames(declaration, criteria, context),
    queries: buildListQueries(declaration),
  } as unknown as DeclaredList
}

/** Returns `null` if the caller acts as a customer, and the request selects rows of a different customer. */
function restrictToCustomer(
  { customerCondition: condition }: Pick<AnyListDeclaration, 'customerCondition'>,
  values: ConditionValues<string> | null,
  { db: { customerId } }: ListContext,
): ConditionValues<string> | null {
  if (customerId === undefined || condition === undefined || values === null) return values
  const requestedId = values[condition]
  return requestedId === undefined || requestedId === customerId ? { ...values, [condition]: customerId } : null
}

export function omitNulls<Values extends object>(
  values: Values,
): Partial<{ [Field in keyof Values]: NonNullable<Values[Field]> }> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null)) as never
}
