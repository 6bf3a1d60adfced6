import type { SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { Projection } from '../database/projection.ts'
import type { Reader, RowsQuery } from '../database/query.ts'
import { listParam, queryWithFilters, selectFrom, withCte } from '../database/query.ts'
import type { TableName, Tables } from '../database/tables.ts'

export type QualifiedColumn = { [Table in TableName]: `${Table}.${keyof Tables[Table] & string}` }[TableName]

export type ListCondition = {
  readonly column: QualifiedColumn
  readonly operator?: '=' | 'in' | 'not in' | 'is null'
  /** Constant values, which are part of the SQL text, so that a query can use a partial index. */
  readonly value?: readonly string[]
  /** The sequence column for queries with this condition, if the sequence column differs from the list's `order`. */
  readonly order?: QualifiedColumn
  /** If the column is a foreign key, the table that it refers to. */
  readonly parentTable?: TableName
  readonly isRequired?: true
}

export type RowSource<Table extends TableName, Joined extends TableName, Row, Name extends string> = {
  readonly table: Table
  readonly joins?: (rows: RowsQuery<Table>) => RowsQuery<Joined>
  readonly select: (rows: RowsQuery<Joined>) => SelectQueryBuilder<Tables, Joined, Row>
  readonly id?: QualifiedColumn
  /** The column with the sequence number, in order of creation. */
  readonly order: QualifiedColumn
  readonly createdAt: QualifiedColumn
  readonly conditions: { readonly [Each in Name]: ListCondition }
  /**
   * Conditions on the first columns of an index, in the order of the index, with all possible values of each column.
   * The next column of the index must be the sequence number.
   *
   * If a request omits some conditions of `mergedBy`, the query reads one index range for each combination of the
   * missing columns' values. UNION ALL merges the ranges. Therefore each column must have few values.
   */
  readonly mergedBy?: { readonly [Each in NoInfer<Name>]?: readonly string[] }
}

/** Values by condition name. A condition whose value is absent does not apply. */
export type ConditionValues<Name extends string> = { readonly [Each in Name]?: unknown }

type RowRange = {
  readonly above: number
  readonly below: number
  readonly limit: number
  readonly isAscending?: true | undefined
  readonly skip?: number | undefined
} & CreatedBounds

export type CreatedBounds = { readonly createdFrom?: string | undefined; readonly createdBefore?: string | undefined }

type ParentRowRange = Pick<RowRange, 'limit' | 'isAscending'> &
  CreatedBounds & { readonly parentIds: readonly string[] }

export type SequenceMark = { readonly sequence: number; readonly createdAt: string }

type ConditionParams = { readonly merchantId: string } & ConditionValues<string>

type ListRowsQuery<Values> = (db: Reader, params: Values, columns?: Projection) => MaybePromise<object[]>

/** Each combination of conditions has its own SQL statement. */
export type ListQueries = {
  /** Rows are newest first, unless `isAscending` is true. */
  readonly rows: ListRowsQuery<ConditionParams & RowRange>
  readonly rowsOfPages: ListRowsQuery<ConditionParams & RowRange>
  readonly count: (db: Reader, params: ConditionParams & RowRange) => MaybePromise<number>
  /** Skips the newest `skip` rows of a range, and returns the sequence number of the next row. */
  readonly sequenceAfter: (db: Reader, params: ConditionParams & Omit<RowRange, 'limit'>) => MaybePromise<number | null>
  readonly markAt: (
    db: Reader,
    params: ConditionParams & { readonly fromSequence: number },
  ) => MaybePromise<SequenceMark | null>
  readonly byId: ListRowsQuery<{ readonly merchantId: string; readonly id: string }>
  readonly byIds: ListRowsQuery<{ readonly merchantId: string; readonly ids: readonly string[] }>
  /** Queries that read the lists of several parent objects, by the name of the condition on the parent. */
  readonly byParent: ReadonlyMap<string, ParentQueries>
}

type ParentQueries = {
  /** Reads up to `limit` rows of each parent object's list, in no particular order. */
  readonly rows: ListRowsQuery<ConditionParams & ParentRowRange>
  readonly counts: (
    db: Reader,
    params: ConditionParams & ParentRowRange,
  ) => MaybePromise<{ id: string; total: number }[]>
}

// TypeScript cannot check queries that access conditions by name. Tests compile every query.
type UntypedRows = SelectQueryBuilder<Record<string, Record<string, unknown>>, string, object>
type UntypedSource = Omit<RowSource<TableName, TableName, unknown, string>, 'joins' | 'select'> & {
  readonly joins?: (rows: never) => unknown
  readonly select: (rows: never) => unknown
  readonly pageColumns?: readonly string[]
}
type ListQueryParams = Required<Omit<RowRange, 'isAscending' | 'skip'>> & {
  readonly skip: number
  readonly merchantId: string
  readonly fromSequence: number
  readonly id: string
  readonly ids: readonly string[]
  readonly parentIds: readonly string[]
}
type HasFilter = (filter: string) => boolean
type ColumnValues = readonly (readonly [column: QualifiedColumn, value: string])[]
type UntypedQuery = <Result extends object>(db: Reader, params: object, columns?: Projection) => MaybePromise<Result[]>

export function buildListQueries(source: UntypedSource): ListQueries {
  const parts = buildQueryParts(source)
  const parents = Object.keys(source.conditions).filter((name) => source.conditions[name]?.parentTable !== undefined)
  return {
    ...buildRangeQueries(source, parts),
    byParent: new Map(parents.map((name) => [name, buildParentQueries(source, parts, name)])),
  }
}

type ListQueryParts = ReturnType<typeof buildQueryParts>

export function sequenceColumn(
  { order, conditions }: Pick<UntypedSource, 'order' | 'conditions'>,
  isGiven: (condition: string) => boolean,
): QualifiedColumn {
  const owner = Object.keys(conditions).find((name) => conditions[name]?.order !== undefined && isGiven(name))
  return (owner === undefined ? undefined : conditions[owner]?.order) ?? order
}

export function unqualifiedName(column: QualifiedColumn): string {
  return column.slice(column.indexOf('.') + 1)
}

function selectFromUntyped(source: unknown): UntypedRows {
  return selectFrom(source as never) as unknown as UntypedRows
}

function buildQueryParts({
  table,
  order,
  createdAt,
  joins,
  select,
  conditions,
  mergedBy = {},
  pageColumns,
}: UntypedSource) {
  const names = Object.keys(conditions)
  const isRequired = (name: string) => conditions[name]?.isRequired === true
  const isJoined = (column: QualifiedColumn) => !column.startsWith(`${table}.`)
  const join = (rows: UntypedRows) => (joins ? joins(rows as never) : rows) as UntypedRows
  return {
    filters: [...names.filter((name) => !isRequired(name)), 'createdFrom', 'createdBefore'],
    query: (filters: readonly string[], build: (p: ListQueryParams, has: HasFilter) => unknown) =>
      queryWithFilters(filters, ((p: ListQueryParams, has: HasFilter) =>
        build(
          p,
          (name) => isRequired(name) || (filters.includes(name) && has(name)),
        )) as never) as unknown as UntypedQuery,
    join,
    whole: (rows: UntypedRows) => select(join(rows) as never) as UntypedRows,
    ofPages: pageColumns && ((rows: UntypedRows) => rows.select(pageColumns.map((column) => `${table}.${column}`))),
    joinedFor: (rows: UntypedRows, has: HasFilter) => {
      const columns = names.filter(has).map((name) => (conditions[name] as ListCondition).column)
      const isTimed = has('createdFrom') || has('createdBefore')
      return [...columns, ...(isTimed ? [createdAt] : [])].some(isJoined) ? join(rows) : rows
    },
    orderOf: (has: HasFilter) => sequenceColumn({ order, conditions }, has),
    /**
     * Returns the index ranges that must be merged (see `mergedBy`), or one range without values if none must be
     * merged.
     */
    rangesOf: (has: HasFilter): readonly ColumnValues[] => {
      const applied = names.filter(has)
      if (applied.length === 0 || !applied.every((name) => name in mergedBy)) return [[]]
      const rest = Object.keys(mergedBy).filter((name) => !has(name))
      return rest.reduce<readonly ColumnValues[]>(
        (ranges, name) =>
          ranges.flatMap((range) =>
            (mergedBy[name] ?? []).map((value) => [
              ...range,
              [(conditions[name] as ListCondition).column, value] as const,
            ]),
          ),
        [[]],
      )
    },
    filtered: (rows: UntypedRows, p: ListQueryParams, has: HasFilter) => {
      let query = rows.where(`${table}.merchantId`, '=', p.merchantId)
      for (const name of names.filter(has)) {
        const { column, operator = '=', value } = conditions[name] as ListCondition
        if (operator === 'is null') query = query.where(column, 'is', null)
        else query = query.where(column, operator, value?.map((each) => sql.lit(each)) ?? p[name as never])
      }
      if (has('createdFrom')) query = query.where(createdAt, '>=', p.createdFrom)
      if (has('createdBefore')) query = query.where(createdAt, '<', p.createdBefore)
      return query
    },
  }
}

function buildRangeQueries(source: UntypedSource, parts: ListQueryParts) {
  const { table, id = `${table}.id`, createdAt, conditions } = source
  const { filters, query, join, whole, ofPages, joinedFor, orderOf, rangesOf, filtered } = parts
  const allRows = () => selectFromUntyped(table)
  const inRange = (rows: UntypedRows, p: ListQueryParams, has: HasFilter) => {
    const range = filtered(rows, p, has).where(orderOf(has), '>', p.above).where(orderOf(has), '<', p.below)
    return rangesOf(has)
      .map((values) => values.reduce((each, [column, value]) => each.where(column, '=', value), range))
      .reduce((merged, each) => merged.unionAll(each))
  }
  // After UNION ALL, ORDER BY must refer to a column without its table.
  const orderColumn = (has: HasFilter) => (rangesOf(has).length > 1 ? unqualifiedName(orderOf(has)) : orderOf(has))

  const buildRowsQuery = (selected: (rows: UntypedRows, has: HasFilter) => UntypedRows) =>
    query([...filters, 'isAscending', 'skip'], (p, has) => {
      const range = inRange(selected(allRows(), has), p, has)
        .orderBy(orderColumn(has), has('isAscending') ? 'asc' : 'desc')
        .limit(p.limit)
      // A query without skipped rows has no OFFSET, because PostgreSQL's planner would assume a large offset and sort
      // all rows.
      return has('skip') ? range.offset(p.skip) : range
    })
  const rows = buildRowsQuery(whole)
  const counts = query(filters, (p, has) =>
    countRows(inRange(joinedFor(allRows(), has).select(orderOf(has)), p, has).limit(p.limit)),
  )
  const sequences = query(filters, (p, has) =>
    inRange(joinedFor(allRows(), has).select(`${orderOf(has)} as sequence`), p, has)
      .orderBy('sequence', 'desc')
      .limit(1)
      .offset(p.skip),
  )
  const merchantRows = (p: ListQueryParams) => filtered(whole(allRows()), p, () => false)
  const byId = query([], (p) => merchantRows(p).where(id, '=', p.id))
  const byIds = query([], (p) => merchantRows(p).where(id, 'in', listParam(p.ids)))
  // `marks` uses only the conditions that determine the sequence column.
  const marks = query(
    filters.filter((name) => conditions[name]?.order !== undefined),
    (p, has) =>
      filtered(createdAt.startsWith(`${table}.`) ? allRows() : join(allRows()), p, has)
        .where(orderOf(has), '<=', p.fromSequence)
        .select([`${orderOf(has)} as sequence`, createdAt])
        .orderBy(orderOf(has), 'desc')
        .limit(1),
  )
  return {
    rows,
    rowsOfPages: ofPages ? buildRowsQuery((allRows, has) => ofPages(joinedFor(allRows, has))) : rows,
    count: (db: Reader, params: object) =>
      mapMaybe(counts<{ rowCount: number }>(db, params), ([counted]) => Number(counted?.rowCount ?? 0)),
    sequenceAfter: (db: Reader, params: object) =>
      mapMaybe(sequences<{ sequence: number }>(db, params), ([row]) => row?.sequence ?? null),
    byId,
    byIds,
    markAt: (db: Reader, params: object) => mapMaybe(marks<SequenceMark>(db, params), ([mark]) => mark ?? null),
  }
}

/** A CTE finds the last row of each parent object's page first, so that the query reads no further rows. */
function buildParentQueries({ table, conditions }: UntypedSource, parts: ListQueryParts, parent: string) {
  const { filters, query, whole, joinedFor, orderOf, filtered } = parts
  const { column, parentTable: parents } = conditions[parent] as ListCondition
  const names = filters.filter((name) => name !== parent)
  // The query gets the parent's id from a join instead of a parameter.
  const exceptParent = (has: HasFilter) => (name: string) => name !== parent && has(name)
  const order = orderOf((name) => name === parent)
  const parentRows = (p: ListQueryParams, has: HasFilter) =>
    filtered(joinedFor(selectFromUntyped(table), exceptParent(has)), p, exceptParent(has))
      .whereRef(column, '=', 'parents.id')
      .where(order, '>', 0)
  const selectParents = (p: ListQueryParams) =>
    selectFromUntyped(`${parents} as parents`)
      .where('parents.merchantId', '=', p.merchantId)
      .where('parents.id', 'in', listParam(p.parentIds))

  return {
    rows: query([...names, 'isAscending'], (p, has) => {
      const [direction, lastOf] = has('isAscending') ? (['asc', 'max'] as const) : (['desc', 'min'] as const)
      const ends = parentRows(p, has).select(`${order} as position`).orderBy(order, direction).limit(p.limit).as('ends')
      const bound = selectFromUntyped(ends).select((eb) => eb.fn(lastOf, ['ends.position']).as('b'))
      const bounds = withCte(
        (cte) => cte('bounds').materialized(),
        () => selectParents(p).select(['parents.id as parentId', bound.as('bound')]) as never,
      ).selectFrom('bounds') as unknown as UntypedRows
      return filtered(whole(bounds.crossJoin(table)), p, exceptParent(has))
        .whereRef(column, '=', 'bounds.parentId')
        .whereRef(order, has('isAscending') ? '<=' : '>=', 'bounds.bound')
    }),
    counts: query(names, (p, has) =>
      selectParents(p).select([
        'parents.id as id',
        countRows(parentRows(p, has).select(order).limit(p.limit)).as('total'),
      ]),
    ),
  }
}

function countRows(rows: UntypedRows): UntypedRows {
  return selectFromUntyped(rows.as('counted')).select(sql<number>`count(*)`.as('rowCount'))
}
