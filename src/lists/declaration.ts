import type { z } from 'zod'
import type { MaybePromise } from '../core/maybe-promise.ts'
import type { RowOf, TableName } from '../database/tables.ts'
import type { Context } from '../operations/context.ts'
import type { CursorNames, ListCriteria, PreviousCursors } from './cursor-names.ts'
import type { FilterFields, FilterValues } from './filters.ts'
import type { ConditionValues, ListQueries, RowSource } from './list-queries.ts'
import type { MaintainedTotals } from './totals.ts'

export type ListContext = Pick<Context, 'db' | 'merchantId'>

/**
 * Declares a list of a merchant's rows: their source, filters and maintained totals.
 *
 * Everything else derives from it: pages, slices (also of many parents in one query), totals, the filter fields of both APIs, the
 * recount of the audit, and the tests of its queries.
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
    /** What messages call a row, with a capital letter. */
    readonly noun: string
    readonly filters: Fields
    /**
     * Derives conditions from filters, unless each filter is the condition of its name; `null` if no row can match. For many
     * parents it runs for the first only, so a parent must not affect any condition but its own.
     */
    readonly toConditions?: (
      filters: FilterValues<Fields>,
      context: ListContext,
    ) => MaybePromise<ResolvedConditions<NoInfer<Name>>>
    /** The condition that selects one customer's rows, which always applies to a caller that acts as a customer. */
    readonly customerCondition?: NoInfer<Name>
    readonly previousCursors?: PreviousCursors<Fields>
    /** Parents whose lists are read many at a time, each with its filter and the condition that the filter becomes. */
    readonly parents?: { readonly [Each in Parent]: ParentField<Fields, NoInfer<Name>> }
    /** The default of `limit`. */
    readonly pageSize?: number
    /** The columns of a page's rows, if not all. */
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

/** A declared list without its type parameters: conditions and filters are values by name. */
export type DeclaredList = MaintainedTotals<string> &
  Pick<
    ListDeclaration<TableName, TableName, object, string, FilterFields, string, string>,
    'table' | 'name' | 'filters' | 'order' | 'mergedBy' | 'customerCondition' | 'previousCursors'
  > & {
    readonly conditions: RowSource<TableName, TableName, object, string>['conditions']
    readonly toConditions: (filters: object, context: ListContext) => MaybePromise<ResolvedConditions<string>>
    readonly cursorNames: (criteria: ListCriteria, context: ListContext) => CursorNames
    readonly queries: ListQueries
  }

/** All lists, for the audit and for tests. */
export const declaredLists: DeclaredList[] = []
