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
    /** The capitalized noun for a row in messages. */
    readonly noun: string
    readonly filters: Fields
    /**
     * Returns `null` if no row can match the filters. By default, each filter is the condition of the same name. One
     * call of `toConditions` serves the lists of several parent objects, so only the condition on the parent may depend
     * on the parent object.
     */
    readonly toConditions?: (
      filters: FilterValues<Fields>,
      context: ListContext,
    ) => MaybePromise<ResolvedConditions<NoInfer<Name>>>
    /**
     * The condition that selects one customer's rows. The condition always applies to a client token for one customer.
     */
    readonly customerCondition?: NoInfer<Name>
    readonly previousCursors?: PreviousCursors<Fields>
    readonly parents?: { readonly [Each in Parent]: ParentField<Fields, NoInfer<Name>> }
    /**
     * The sequence that numbers the rows. Only lists whose rows may be imported with their original times have
     * `importedAs`.
     */
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
