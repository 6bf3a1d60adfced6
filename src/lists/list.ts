import { z } from 'zod'
import type { Context } from '../context.ts'
import type { Tx } from '../database/query.ts'
import type { RowOf, TableName } from '../database/tables.ts'
import { uuidsAmong } from '../ids.ts'
import { createdFields, limit, page, parse } from '../input.ts'
import { countInLists } from './counted-list.ts'
import { declaredLists } from './declared-lists.ts'
import type { Asked, FieldsOf, Filters, PageFieldsOf } from './filters.ts'
import { fieldsOf, pageFieldsOf } from './filters.ts'
import type { Page } from './page.ts'
import { pageOf } from './pages.ts'
import type { Given, ListQueries, RowSource } from './queries.ts'
import { listQueries } from './queries.ts'
import type { Slice } from './slice.ts'
import { sliceFields } from './slice.ts'
import type { AnyParent } from './slices.ts'
import { sliceOfList, slicesByParent } from './slices.ts'
import type { KeptTotals } from './totals.ts'
import { countedListsOf } from './totals.ts'

/** What a request needs to read a list. */
export type Asking = Pick<Context, 'db' | 'merchantId'>

/**
 * What there is to say of a list of a merchant's rows: where they come from, by what they are narrowed, and which totals are
 * kept.
 *
 * Whatever reads it follows from that: its pages and slices, those of many parents at once, its totals, the fields of both
 * doors that narrow it, what the audit counts again, and the tests of its queries.
 */
export type Declaration<
  Table extends TableName,
  Joined extends TableName,
  Row,
  Name extends string,
  Fields extends Filters,
  Parent extends string,
> = RowSource<Table, Joined, Row, Name> &
  KeptTotals<NoInfer<Name>> & {
    /** What cursors and kept counts call it. */
    readonly name: string
    readonly filters: Fields
    /** The conditions that the filters come to together, where each is not its own; `null` where no row can match. */
    readonly conditionsOf?: (
      asked: Asked<Fields>,
      context: Asking,
    ) => Narrowed<NoInfer<Name>> | Promise<Narrowed<NoInfer<Name>>>
    /** What tells it from others of its kind in cursors, where its conditions don't: these stay valid while this stays the same. */
    readonly cursorName?: (asked: Asked<Fields>, context: Asking) => object
    /** Whose lists are asked for many at a time: the field that names one, with what it holds, and the condition that it is. */
    readonly parents?: { readonly [Each in Parent]: ParentField<Fields, NoInfer<Name>> }
    /** How many rows a page has unless it is asked for more. */
    readonly pageSize?: number
    /** What pages tell of each row, where they don't tell all. */
    readonly columnsOfPages?: readonly (keyof RowOf<Table> & string)[]
  }

/** The conditions that filters come to; `null` where no row can match. */
export type Narrowed<Name extends string> = Given<Name> | null

type ParentField<Fields extends Filters, Name extends string> = {
  [Field in keyof Fields]: {
    readonly field: Field
    readonly asked: (id: string) => z.input<Fields[Field]['schema']>
    readonly condition: Name
  }
}[keyof Fields]

/** A declared list as the machinery reads it: conditions and what is asked for are plain values by name. */
export type AnyList = KeptTotals<string> &
  Pick<Declaration<TableName, TableName, object, string, Filters, string>, 'table' | 'name' | 'filters' | 'order'> & {
    readonly conditions: RowSource<TableName, TableName, object, string>['conditions']
    readonly conditionsOf: (asked: object, context: Asking) => Narrowed<string> | Promise<Narrowed<string>>
    readonly cursorName: (asked: object, given: Given<string>, context: Asking) => object
    readonly columnsOfPages?: readonly string[]
    readonly queries: ListQueries<object, string>
  }

const standardPageSize = 20

/** Declares a list, and gives what reads it. */
export function defineList<
  Table extends TableName,
  Row extends object,
  Name extends string,
  Fields extends Filters,
  Joined extends TableName = Table,
  Parent extends string = never,
>(declaration: Declaration<Table, Joined, Row, Name, Fields, Parent>) {
  const { filters, pageSize = standardPageSize } = declaration
  const SliceInput = z.object({ ...fieldsOf(filters), ...createdFields, ...sliceFields } as SliceShape<Fields>)
  const ofPages = { ...pageFieldsOf(filters), ...createdFields, page: page(), limit: limit(pageSize) }
  const PageInput = z.object(ofPages as PageShape<Fields>)
  const list = withoutTypes(declaration)
  declaredLists.push(list)

  return {
    filters,
    pageSize,
    PageInput,
    /** A page with the total of the whole list. @throws Refusal INVALID_INPUT */
    page: async (context: Asking, input: z.input<typeof PageInput>) =>
      (await pageOf(list, context, parse(PageInput, input) as never)) as Page<Row>,
    /** The slice that a connection shows. @throws Refusal INVALID_INPUT */
    slice: async (context: Asking, input: z.input<typeof SliceInput>) =>
      (await sliceOfList(list, context, parse(SliceInput, input) as never)) as unknown as Slice<Row>,
    /** What gives the same slice of the list of each of many parents, by the parent's id. @throws Refusal INVALID_INPUT */
    slicesOf: (parent: Parent) =>
      slicesByParent(list, SliceInput, (declaration.parents as { [Each in Parent]: AnyParent })[parent]) as unknown as (
        context: Asking,
        ids: readonly string[],
        input: Partial<z.input<typeof SliceInput>>,
      ) => Promise<ReadonlyMap<string, Slice<Row>>>,
    /** Those of the merchant's rows among `ids`, in any order; what is not there or not the merchant's is left out. */
    find: async ({ db, merchantId }: Asking, ids: readonly string[]) =>
      (await list.queries.byIds(db, { merchantId, ids: uuidsAmong(ids) })) as Row[],
    /** Counts a row (`change` 1), or no longer (-1), in the lists whose totals are kept by counting. */
    count: async (tx: Tx, row: RowOf<Table>, change: 1 | -1) => {
      for (const counted of countedListsOf(list, row)) await countInLists(tx, { ...counted, change })
    },
  }
}

type SliceShape<Fields extends Filters> = FieldsOf<Fields> & typeof createdFields & typeof sliceFields
type PageShape<Fields extends Filters> = PageFieldsOf<Fields> &
  typeof createdFields & { page: ReturnType<typeof page>; limit: ReturnType<typeof limit> }

function withoutTypes<
  Table extends TableName,
  Joined extends TableName,
  Row,
  Name extends string,
  Fields extends Filters,
  Parent extends string,
>(declaration: Declaration<Table, Joined, Row, Name, Fields, Parent>): AnyList {
  const names = Object.keys(declaration.conditions) as Name[]
  // In the order of their declaration, however they were come by: a list has one name.
  const inOrder = (given: Given<Name>) => Object.fromEntries(names.map((name) => [name, given[name]]))
  return {
    ...declaration,
    conditionsOf: declaration.conditionsOf ?? present,
    cursorName: (asked: Asked<Fields>, given: Given<Name>, context: Asking) =>
      declaration.cursorName?.(asked, context) ?? { merchantId: context.merchantId, ...inOrder(given) },
    queries: listQueries(declaration),
  } as unknown as AnyList
}

/** What is asked for and not `null`. */
export function present<Asked extends object>(
  asked: Asked,
): Partial<{ [Field in keyof Asked]: NonNullable<Asked[Field]> }> {
  return Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null)) as never
}
