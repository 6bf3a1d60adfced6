import type { z } from 'zod'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { RowOf, TableName } from '../database/tables.ts'
import type { Context } from '../operations/context.ts'
import type { CursorNames, ListCriteria, PreviousCursors } from './cursor-names.ts'
import type { FilterFields, FilterValues } from './filters.ts'
import type { ConditionValues, ListQueries, RowSource } from './list-queries.ts'
import type { NumberedList } from './sequence.ts'
import type { MaintainedTotals } from './totals.ts'

export type ListContext = Pick<Context, 'db' | 'merchantId'>

/**
 * The declaration of a merchant's list: the source of its rows, its filters and its maintained totals.
 *
 * Pages, slices, totals, the filter fields of both APIs, the audit's recount and tests derive from the declaration.
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
    /** The name in cursors and maintained counts. */
    readonly name: string
    /** The name of a row in messages, capitalized. */
    readonly noun: string
    readonly filters: Fields
    /**
     * Converts filters to conditions; returns `null` if no row can match. By default each filter is the condition of
     * the same name. If a request reads the lists of several parents, the function runs once, with the first parent. So
     * a parent may affect only its own condition.
     */
    readonly toConditions?: (
      filters: FilterValues<Fields>,
      context: ListContext,
    ) => MaybePromise<ResolvedConditions<NoInfer<Name>>>
    /** The condition that selects one customer's rows. It always applies if the caller acts as a customer. */
    readonly customerCondition?: NoInfer<Name>
    readonly previousCursors?: PreviousCursors<Fields>
    /** Parents whose lists can be read together, each with its filter and the condition derived from the filter. */
    readonly parents?: { readonly [Each in Parent]: ParentField<Fields, NoInfer<Name>> }
    /** The sequence of the rows, if rows may be imported with their original times, out of order. */
    readonly importedAs?: NumberedList
    /** The default of `limit`. */
    readonly pageSize?: number
    /** The columns of a page's rows; all by default. */
    readonly pageColumns?: readonly (Listed & keyof RowOf<Table>)[]
  }

/** `null` if no row can match. */
type ResolvedConditions<Name extends string> = ConditionValues<Name> | null

type ParentField<Fields extends FilterFields, Name extends string> = {
  [Field in keyof Fields]: {
    readonly field: Field
    readonly toFilterValue: (id: string) => z.input<Fields[Field]['schema']>
    readonly condition: Name
  }
}[keyof Fields]

/** A declared list without type parameters; conditions and filters are accessed by name. */
export type DeclaredList = MaintainedTotals<string> &
  Pick<
    ListDeclaration<TableName, TableName, object, string, FilterFields, string, string>,
    'table' | 'name' | 'filters' | 'order' | 'mergedBy' | 'importedAs' | 'customerCondition' | 'previousCursors'
  > & {
    readonly conditions: RowSource<TableName, TableName, object, string>['conditions']
    readonly toConditions: (filters: object, context: ListContext) => MaybePromise<ResolvedConditions<string>>
    readonly cursorNames: (criteria: ListCriteria, context: ListContext) => CursorNames
    readonly queries: ListQueries
  }

/** All lists, for the audit and for tests. */
export const declaredLists: DeclaredList[] = []
