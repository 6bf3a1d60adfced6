import { z } from 'zod'
import { notFound } from '../core/errors.ts'
import { parseUuid } from '../core/ids-and-clock.ts'
import { createdRangeFields, limit, page, parseInput } from '../core/input.ts'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { ProjectedRow, Projection } from '../database/projection.ts'
import { createProjection } from '../database/projection.ts'
import type { Reader, Tx } from '../database/query.ts'
import type { RowOf, TableName } from '../database/tables.ts'
import { updateListCounts } from './counted-list.ts'
import type { ListCriteria } from './cursor-names.ts'
import { cursorNames } from './cursor-names.ts'
import type { DeclaredList, ListContext, ListDeclaration } from './declaration.ts'
import { declaredLists } from './declared-lists.ts'
import type { FilterFields, FilterValues } from './filters.ts'
import { filterSchemas } from './filters.ts'
import { readPage } from './list-pages.ts'
import type { ConditionValues } from './list-queries.ts'
import { buildListQueries } from './list-queries.ts'
import type { ParentFilter } from './list-slices.ts'
import {
  createParentSlicesReader,
  createSliceParser,
  parentColumns,
  readListSlice,
  sequenceColumns,
} from './list-slices.ts'
import type { Page } from './page.ts'
import type { Slice } from './slice.ts'
import { sliceFields } from './slice.ts'
import type { SequenceSpan } from './time-range.ts'
import { countedListsOfRow } from './totals.ts'

const defaultPageSize = 20

/** Declares a list, and gives what reads it. */
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
  const ofPages = {
    ...filterSchemas(filters, 'pageSchema'),
    ...createdRangeFields,
    page: page(),
    limit: limit(pageSize),
  }
  const PageInput = z.object(ofPages)
  const list = eraseTypes(declaration as unknown as AnyListDeclaration)
  declaredLists.push(list)
  type Slicing = z.input<typeof SliceInput>
  const parentOf = (parent: Parent) => (declaration.parents as { [Each in Parent]: ParentFilter })[parent]
  const parseSlice = createSliceParser(SliceInput, null)

  return {
    filters,
    pageSize,
    PageInput,
    /** A page with the total of the whole list. @throws Refusal INVALID_INPUT */
    page: async (context: ListContext, input: z.input<typeof PageInput>) =>
      (await readPage(list, context, parseInput(PageInput, input) as never)) as Page<PageRow<Row, Listed>>,
    /** The slice that a connection shows. @throws Refusal INVALID_INPUT */
    slice: ((context: ListContext, input: Slicing, columns?: Projection) =>
      readListSlice(list, context, parseSlice(input), { columns })) as {
      (context: ListContext, input: Slicing, columns: Projection): MaybePromise<Slice<ProjectedRow>>
      (context: ListContext, input: Slicing): MaybePromise<Slice<Row>>
    },
    /** The same of what lies between two numbers, which the caller found to be where the rows of the times are. */
    sliceWithin: (context: ListContext, known: SequenceSpan, input: Slicing, columns?: Projection) =>
      readListSlice(list, context, parseSlice(input), { columns, known }) as unknown as MaybePromise<Slice<Row>>,
    /** What parses a request for a slice, of the list of each parent where there is one, and reads nothing. */
    sliceParser: (parent: Parent | null) =>
      parent === null ? parseSlice : createSliceParser(SliceInput, parentOf(parent)),
    /** What gives the same slice of the list of each of many parents, by the parent's id. @throws Refusal INVALID_INPUT */
    slicesOf: (parent: Parent) =>
      createParentSlicesReader(list, SliceInput, parentOf(parent)) as unknown as {
        (
          context: ListContext,
          ids: readonly string[],
          input: Partial<Slicing>,
          columns: Projection,
        ): MaybePromise<ReadonlyMap<string, Slice<ProjectedRow>>>
        (
          context: ListContext,
          ids: readonly string[],
          input: Partial<Slicing>,
        ): MaybePromise<ReadonlyMap<string, Slice<Row>>>
      },
    /** The columns that are wanted of rows, and those that the list itself needs to give what else is asked of it. */
    columns: (wanted: readonly string[], { isKeyed, isPlaced, parent }: ColumnNeeds<Parent> = {}): Projection => {
      const needed = [...wanted]
      if (isKeyed) needed.push('id')
      if (parent !== undefined) needed.push(...parentColumns(list, parentOf(parent).condition))
      else if (isPlaced || needed.length === 0) needed.push(...sequenceColumns(list))
      return createProjection(needed)
    },
    /** One of the merchant's rows; `null` for what is not there or not the merchant's. */
    byId: (db: Reader, key: { merchantId: string; id: string }) =>
      mapMaybe(list.queries.byId(db, key), ([row = null]) => row as Row | null),
    /** The same by whatever a caller gave. @throws Refusal RESOURCE_NOT_FOUND, also for an id that is none (ruling 5) */
    get: async ({ db, merchantId }: { readonly db: Reader; readonly merchantId: string }, given: string) => {
      const id = parseUuid(given)
      const row = id && (await list.queries.byId(db, { merchantId, id }))[0]
      if (!row) throw notFound(declaration.noun)
      return row as Row
    },
    /** Those of the merchant's rows among `ids`, in any order; what is not there or not the merchant's is left out. */
    find: (({ db, merchantId }: ListContext, ids: readonly string[], columns?: Projection) => {
      const [id] = ids
      // One id is held against a column for less than a list of one.
      if (id !== undefined && ids.length === 1) return list.queries.byId(db, { merchantId, id }, columns)
      return list.queries.byIds(db, { merchantId, ids }, columns)
    }) as {
      (context: ListContext, ids: readonly string[], columns: Projection): MaybePromise<ProjectedRow[]>
      (context: ListContext, ids: readonly string[]): MaybePromise<Row[]>
    },
    /** Counts a row (`change` 1), or no longer (-1), in the lists whose totals are kept by counting. */
    count: async (tx: Tx, row: RowOf<Table>, change: 1 | -1) => {
      for (const counted of countedListsOfRow(list, row)) await updateListCounts(tx, { ...counted, change })
    },
  }
}

/** What pages tell of a row, of whichever kind. */
type PageRow<Row, Listed extends string> = Row extends unknown ? Pick<Row, Listed & keyof Row> : never

/** What is asked of a list beside the wanted columns: to tell rows apart, for their cursors, or for the lists of many parents. */
export type ColumnNeeds<Parent extends string> = {
  readonly isKeyed?: true
  readonly isPlaced?: true
  readonly parent?: Parent
}

type AnyListDeclaration = ListDeclaration<TableName, TableName, object, string, FilterFields, string, string>

function eraseTypes(declaration: AnyListDeclaration): DeclaredList {
  const conditionsOf = declaration.conditionsOf ?? omitNulls
  return {
    ...declaration,
    conditionsOf: (asked: FilterValues<FilterFields>, context: ListContext) =>
      mapMaybe(conditionsOf(asked, context), (given) =>
        restrictToCustomer(declaration, given as ConditionValues<string> | null, context),
      ),
    cursorNames: (narrowing: ListCriteria, context: ListContext) => cursorNames(declaration, narrowing, context),
    queries: buildListQueries(declaration),
  } as unknown as DeclaredList
}

/** What is asked for of what there is for the caller; `null` where it asks for what is another customer's. */
function restrictToCustomer(
  { ofCustomer: condition }: Pick<AnyListDeclaration, 'ofCustomer'>,
  given: ConditionValues<string> | null,
  { db: { customerId } }: ListContext,
): ConditionValues<string> | null {
  if (customerId === undefined || condition === undefined || given === null) return given
  const asked = given[condition]
  return asked === undefined || asked === customerId ? { ...given, [condition]: customerId } : null
}

/** What is asked for and not `null`. */
export function omitNulls<Asked extends object>(
  asked: Asked,
): Partial<{ [Field in keyof Asked]: NonNullable<Asked[Field]> }> {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null)) as never
}
