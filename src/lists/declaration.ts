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
 * Pages, connections, totals, the filter fields of both APIs, the audit's recount and tests derive from a list's
 * declaration.
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
    /** The list's name in cursors and stored counts. */
    readonly name: string
    /** The noun for a row of the list in messages, capitalized. */
    readonly noun: string
    readonly filters: Fields
    /**
     * Converts filters to conditions; returns `null` if no row can match. By default each filter is the condition of
     * the same name. If the lists of several parent objects are read, `toConditions` runs once, with the first parent.
     * Therefore a parent object may affect only the condition on the parent.
     */
    readonly toConditions?: (
      filters: FilterValues<Fields>,
      context: ListContext,
    ) => MaybePromise<ResolvedConditions<NoInfer<Name>>>
    /** Selects one customer's rows. `customerCondition` always applies if the caller acts as a customer. */
    readonly customerCondition?: NoInfer<Name>
    readonly previousCursors?: PreviousCursors<Fields>
    readonly parents?: { readonly [Each in Parent]: ParentField<Fields, NoInfer<Name>> }
    /** The sequence that numbers the rows, if rows may be imported with their original times, out of order. */
    readonly importedAs?: NumberedList
    readonly pageSize?: number
    readonly pageColumns?: readonly (Listed & keyof RowOf<Table>)[]
  }

type ResolvedConditions<Name extends string> = ConditionValues<Name> | null

type ParentField<Fields extends FilterFields, Name extends string> = {
  [Field in keyof Fields]: {
    readonly field: Field
    readonly toFilterValue: (id: string) => z.input<Fields[Field]['schema']>
    readonly condition: Name
  }
}[keyof Fields]

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

export const declaredLists: DeclaredList[] = []
