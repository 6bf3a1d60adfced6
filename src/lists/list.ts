import { z } from 'zod'
import { notFound } from '../core/errors.ts'
import { parseUuid } from '../core/ids.ts'
import { createdFields, limit, page, parse } from '../core/input.ts'
import type { Columns, Values } from '../database/projection.ts'
import { columnsOf } from '../database/projection.ts'
import type { Answer, Reader, Tx } from '../database/query.ts'
import { answerOf } from '../database/query.ts'
import type { RowOf, TableName } from '../database/tables.ts'
import { countInLists } from './counted-list.ts'
import type { Narrowing } from './cursor-names.ts'
import { cursorNames } from './cursor-names.ts'
import type { AnyList, Asking, Declaration } from './declaration.ts'
import { declaredLists } from './declared-lists.ts'
import type { Asked, Filters } from './filters.ts'
import { fieldsOf } from './filters.ts'
import type { Page } from './page.ts'
import { pageOf } from './pages.ts'
import type { Given } from './queries.ts'
import { listQueries } from './queries.ts'
import type { Slice } from './slice.ts'
import { sliceFields } from './slice.ts'
import type { AnyParent } from './slices.ts'
import { columnsOfParent, numberings, sliceOfList, sliceParser, slicesByParent } from './slices.ts'
import type { Span } from './time-range.ts'
import { countedListsOf } from './totals.ts'

const standardPageSize = 20

/** Declares a list, and gives what reads it. */
export function defineList<
  Table extends TableName,
  Row extends object,
  Name extends string,
  Fields extends Filters,
  Joined extends TableName = Table,
  Parent extends string = never,
  Listed extends string = keyof Row & string,
>(declaration: Declaration<Table, Joined, Row, Name, Fields, Parent, Listed>) {
  const { filters, pageSize = standardPageSize } = declaration
  const SliceInput = z.object({ ...fieldsOf(filters, 'schema'), ...createdFields, ...sliceFields })
  const ofPages = { ...fieldsOf(filters, 'pageSchema'), ...createdFields, page: page(), limit: limit(pageSize) }
  const PageInput = z.object(ofPages)
  const list = withoutTypes(declaration as unknown as AnyDeclaration)
  declaredLists.push(list)
  type Slicing = z.input<typeof SliceInput>
  const parentOf = (parent: Parent) => (declaration.parents as { [Each in Parent]: AnyParent })[parent]
  const parseSlice = sliceParser(SliceInput, null)

  return {
    filters,
    pageSize,
    PageInput,
    /** A page with the total of the whole list. @throws Refusal INVALID_INPUT */
    page: async (context: Asking, input: z.input<typeof PageInput>) =>
      (await pageOf(list, context, parse(PageInput, input) as never)) as Page<ListedOf<Row, Listed>>,
    /** The slice that a connection shows. @throws Refusal INVALID_INPUT */
    slice: ((context: Asking, input: Slicing, columns?: Columns) =>
      sliceOfList(list, context, parseSlice(input), { columns })) as {
      (context: Asking, input: Slicing, columns: Columns): Answer<Slice<Values>>
      (context: Asking, input: Slicing): Answer<Slice<Row>>
    },
    /** The same of what lies between two numbers, which the caller found to be where the rows of the times are. */
    sliceWithin: (context: Asking, known: Span, input: Slicing, columns?: Columns) =>
      sliceOfList(list, context, parseSlice(input), { columns, known }) as unknown as Answer<Slice<Row>>,
    /** What parses a request for a slice, of the list of each parent where there is one, and reads nothing. */
    sliceParser: (parent: Parent | null) => (parent === null ? parseSlice : sliceParser(SliceInput, parentOf(parent))),
    /** What gives the same slice of the list of each of many parents, by the parent's id. @throws Refusal INVALID_INPUT */
    slicesOf: (parent: Parent) =>
      slicesByParent(list, SliceInput, parentOf(parent)) as unknown as {
        (
          context: Asking,
          ids: readonly string[],
          input: Partial<Slicing>,
          columns: Columns,
        ): Answer<ReadonlyMap<string, Slice<Values>>>
        (context: Asking, ids: readonly string[], input: Partial<Slicing>): Answer<ReadonlyMap<string, Slice<Row>>>
      },
    /** The columns that are wanted of rows, and those that the list itself needs to give what else is asked of it. */
    columns: (wanted: readonly string[], { isKeyed, isPlaced, parent }: Needs<Parent> = {}): Columns => {
      const needed = [...wanted]
      if (isKeyed) needed.push('id')
      if (parent !== undefined) needed.push(...columnsOfParent(list, parentOf(parent).condition))
      else if (isPlaced || needed.length === 0) needed.push(...numberings(list))
      return columnsOf(needed)
    },
    /** One of the merchant's rows; `null` for what is not there or not the merchant's. */
    byId: (db: Reader, key: { merchantId: string; id: string }) =>
      answerOf(list.queries.byId(db, key), ([row = null]) => row as Row | null),
    /** The same by whatever a caller gave. @throws Refusal RESOURCE_NOT_FOUND, also for an id that is none (ruling 5) */
    get: async ({ db, merchantId }: { readonly db: Reader; readonly merchantId: string }, given: string) => {
      const id = parseUuid(given)
      const row = id && (await list.queries.byId(db, { merchantId, id }))[0]
      if (!row) throw notFound(declaration.noun)
      return row as Row
    },
    /** Those of the merchant's rows among `ids`, in any order; what is not there or not the merchant's is left out. */
    find: (({ db, merchantId }: Asking, ids: readonly string[], columns?: Columns) => {
      const [id] = ids
      // One id is held against a column for less than a list of one.
      if (id !== undefined && ids.length === 1) return list.queries.byId(db, { merchantId, id }, columns)
      return list.queries.byIds(db, { merchantId, ids }, columns)
    }) as {
      (context: Asking, ids: readonly string[], columns: Columns): Answer<Values[]>
      (context: Asking, ids: readonly string[]): Answer<Row[]>
    },
    /** Counts a row (`change` 1), or no longer (-1), in the lists whose totals are kept by counting. */
    count: async (tx: Tx, row: RowOf<Table>, change: 1 | -1) => {
      for (const counted of countedListsOf(list, row)) await countInLists(tx, { ...counted, change })
    },
  }
}

/** What pages tell of a row, of whichever kind. */
type ListedOf<Row, Listed extends string> = Row extends unknown ? Pick<Row, Listed & keyof Row> : never

/** What is asked of a list beside the wanted columns: to tell rows apart, for their cursors, or for the lists of many parents. */
export type Needs<Parent extends string> = {
  readonly isKeyed?: true
  readonly isPlaced?: true
  readonly parent?: Parent
}

type AnyDeclaration = Declaration<TableName, TableName, object, string, Filters, string, string>

function withoutTypes(declaration: AnyDeclaration): AnyList {
  const conditionsOf = declaration.conditionsOf ?? present
  return {
    ...declaration,
    conditionsOf: (asked: Asked<Filters>, context: Asking) =>
      answerOf(conditionsOf(asked, context), (given) =>
        ofCustomer(declaration, given as Given<string> | null, context),
      ),
    cursorNames: (narrowing: Narrowing, context: Asking) => cursorNames(declaration, narrowing, context),
    queries: listQueries(declaration),
  } as unknown as AnyList
}

/** What is asked for of what there is for the caller; `null` where it asks for what is another customer's. */
function ofCustomer(
  { ofCustomer: condition }: Pick<AnyDeclaration, 'ofCustomer'>,
  given: Given<string> | null,
  { db: { customerId } }: Asking,
): Given<string> | null {
  if (customerId === undefined || condition === undefined || given === null) return given
  const asked = given[condition]
  return asked === undefined || asked === customerId ? { ...given, [condition]: customerId } : null
}

/** What is asked for and not `null`. */
export function present<Asked extends object>(
  asked: Asked,
): Partial<{ [Field in keyof Asked]: NonNullable<Asked[Field]> }> {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null)) as never
}
