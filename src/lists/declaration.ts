import type { z } from 'zod'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { RowOf, TableName } from '../database/tables.ts'
import type { Context } from '../operations/context.ts'
import type { CursorNames, ListCriteria, PreviousCursors } from './cursor-names.ts'
import type { FilterFields, FilterValues } from './filters.ts'
import type { ConditionValues, ListQueries, RowSource } from './list-queries.ts'
import type { MaintainedTotals } from './totals.ts'

/** What a request needs to read a list. */
export type ListContext = Pick<Context, 'db' | 'merchantId'>

/**
 * What there is to say of a list of a merchant's rows: where they come from, by what they are narrowed, and which totals are
 * kept.
 *
 * Whatever reads it follows from that: its pages and slices, those of many parents at once, its totals, the fields of both
 * doors that narrow it, what the audit counts again, and the tests of its queries.
 */
export type ListDeclaration<
  Table extends TableName,
  Joined extends TableName,
  Row,
  Name extends string,
  Fields extends FilterFields,
  Parent extends string,
  Listed extends string,
> = RowSource<Table, Joined, Row, Name> &
  MaintainedTotals<NoInfer<Name>> & {
    /** What cursors and kept counts call it. */
    readonly name: string
    /** What people call one of its rows, as a sentence begins. */
    readonly noun: string
    readonly filters: Fields
    /**
     * The conditions that the filters come to together, where each is not its own; `null` where no row can match. Where many
     * parents are asked for, those of the first stand for all: a parent may decide about nothing but its own condition.
     */
    readonly conditionsOf?: (
      asked: FilterValues<Fields>,
      context: ListContext,
    ) => MaybePromise<ResolvedConditions<NoInfer<Name>>>
    /** The condition that leaves what is one customer's, and is always given for who acts as that customer. */
    readonly ofCustomer?: NoInfer<Name>
    /** How its cursors named it before, where that was another name: clients may hold some. */
    readonly previousCursors?: PreviousCursors<Fields>
    /** Whose lists are asked for many at a time: the field that names one, with what it holds, and the condition that it is. */
    readonly parents?: { readonly [Each in Parent]: ParentField<Fields, NoInfer<Name>> }
    /** How many rows a page has unless it is asked for more. */
    readonly pageSize?: number
    /** What pages tell of each row, where they don't tell all. */
    readonly columnsOfPages?: readonly (Listed & keyof RowOf<Table>)[]
  }

/** The conditions that filters come to; `null` where no row can match. */
type ResolvedConditions<Name extends string> = ConditionValues<Name> | null

type ParentField<Fields extends FilterFields, Name extends string> = {
  [Field in keyof Fields]: {
    readonly field: Field
    readonly asked: (id: string) => z.input<Fields[Field]['schema']>
    readonly condition: Name
  }
}[keyof Fields]

/** A declared list as the machinery reads it: conditions and what is asked for are plain values by name. */
export type DeclaredList = MaintainedTotals<string> &
  Pick<
    ListDeclaration<TableName, TableName, object, string, FilterFields, string, string>,
    'table' | 'name' | 'filters' | 'order' | 'mergedBy' | 'ofCustomer' | 'previousCursors'
  > & {
    readonly conditions: RowSource<TableName, TableName, object, string>['conditions']
    readonly conditionsOf: (asked: object, context: ListContext) => MaybePromise<ResolvedConditions<string>>
    readonly cursorNames: (narrowing: ListCriteria, context: ListContext) => CursorNames
    readonly queries: ListQueries
  }
