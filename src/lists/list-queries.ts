import type { SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { Projection } from '../database/projection.ts'
import type { Reader, RowsQuery } from '../database/query.ts'
import { listParam as among, queryWithFilters, selectFrom, withCte } from '../database/query.ts'
import type { TableName, Tables } from '../database/tables.ts'

/** A column with its table, such as `wallets.currency`. */
export type QualifiedColumn = { [Table in TableName]: `${Table}.${keyof Tables[Table] & string}` }[TableName]

/** What lets rows through: a column that equals what is given, or is NULL; or that is, or is not, always the same `value`, or one of some. */
export type ListCondition = {
  readonly column: QualifiedColumn
  readonly operator?: '=' | 'in' | 'not in' | 'is null'
  /** Stands in the query's text, so that an engine knows that an index of such rows alone serves it. */
  readonly value?: readonly string[]
  /** The column by which a list is numbered that has this condition, where it is not the merchant's numbers. */
  readonly order?: QualifiedColumn
  /** The table of those whose ids it compares with, where each of them has a list. */
  readonly parentTable?: TableName
  /** No list of the kind goes without it. */
  readonly isRequired?: true
}

/** Where the rows of a list come from, how they are read whole, and what orders and narrows them. */
export type RowSource<Table extends TableName, Joined extends TableName, Row, Name extends string> = {
  readonly table: Table
  /** Joins the tables whose columns are told with each row, or stand in conditions. */
  readonly joins?: (rows: RowsQuery<Table>) => RowsQuery<Joined>
  /** Selects whole rows. */
  readonly select: (rows: RowsQuery<Joined>) => SelectQueryBuilder<Tables, Joined, Row>
  /** The column that numbers rows in the order of their creation. */
  readonly order: QualifiedColumn
  readonly createdAt: QualifiedColumn
  readonly conditions: { readonly [Each in Name]: ListCondition }
  /**
   * Conditions by whose columns, in this order and before the number, one index leads, each with all values that rows can have
   * there. A list that is narrowed by some of them, and by no others, is merged from the index's ranges: one for each set of
   * values that the rest can have, so they should be few.
   */
  readonly mergedBy?: { readonly [Each in NoInfer<Name>]?: readonly string[] }
}

/** What is given for some of the conditions. */
export type ConditionValues<Name extends string> = { readonly [Each in Name]?: unknown }

/** Numbers between which rows lie, both exclusive, when they were created, and how many are taken of which end. */
type RowRange = {
  readonly above: number
  readonly below: number
  readonly limit: number
  readonly isAscending?: true | undefined
  readonly skip?: number | undefined
} & CreatedBounds

/** From a moment on, and before another. */
export type CreatedBounds = { readonly createdFrom?: string | undefined; readonly createdBefore?: string | undefined }

/** The same of the lists of many parents, each from one end. */
type ParentRowRange = Pick<RowRange, 'limit' | 'isAscending'> &
  CreatedBounds & { readonly parentIds: readonly string[] }

/** The number and time of a row. */
export type SequenceMark = { readonly sequence: number; readonly createdAt: string }

type ConditionParams = { readonly merchantId: string } & ConditionValues<string>

/** What reads rows: whole ones, or the values of columns where these are chosen. */
type ListRowsQuery<Asked> = (db: Reader, asked: Asked, columns?: Projection) => MaybePromise<object[]>

/** The queries of a list: each is one statement for every set of conditions that is asked for. */
export type ListQueries = {
  /** The rows of a range, newest first unless `isAscending`. */
  readonly rows: ListRowsQuery<ConditionParams & RowRange>
  /** The same of pages, with what these tell of each row. */
  readonly rowsOfPages: ListRowsQuery<ConditionParams & RowRange>
  /** How many rows a range has, of which at most `limit` are looked at. */
  readonly count: (db: Reader, asked: ConditionParams & RowRange) => MaybePromise<number>
  /** The number of the row in a range that `skip` newer ones come before. */
  readonly sequenceAfter: (db: Reader, asked: ConditionParams & Omit<RowRange, 'limit'>) => MaybePromise<number | null>
  /** The number and time of the row at or below a number. */
  readonly markAt: (
    db: Reader,
    asked: ConditionParams & { readonly fromSequence: number },
  ) => MaybePromise<SequenceMark | null>
  /** One of the merchant's rows, if it is there. */
  readonly byId: ListRowsQuery<{ readonly merchantId: string; readonly id: string }>
  /** Those among `ids`, in any order. */
  readonly byIds: ListRowsQuery<{ readonly merchantId: string; readonly ids: readonly string[] }>
  /** For each condition that has parents, what asks for the lists of many of them. */
  readonly byParent: ReadonlyMap<string, ParentQueries>
}

type ParentQueries = {
  /** The first rows of each parent's list, in any order. */
  readonly rows: ListRowsQuery<ConditionParams & ParentRowRange>
  /** How many rows each parent's list has, of which at most `limit` are looked at. */
  readonly counts: (
    db: Reader,
    asked: ConditionParams & ParentRowRange,
  ) => MaybePromise<{ id: string; total: number }[]>
}

// Conditions are given by name, so what is built of them has no types; a declaration has, and tests compile every set.
type UntypedRows = SelectQueryBuilder<Record<string, Record<string, unknown>>, string, object>
type UntypedSource = Omit<RowSource<TableName, TableName, unknown, string>, 'joins' | 'select'> & {
  readonly joins?: (rows: never) => unknown
  readonly select: (rows: never) => unknown
  readonly columnsOfPages?: readonly string[]
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
/** Columns with the value that each of them holds. */
type ColumnValues = readonly (readonly [column: QualifiedColumn, value: string])[]
type UntypedQuery = <Result extends object>(db: Reader, asked: object, columns?: Projection) => MaybePromise<Result[]>

/** Builds the queries of a list from what its declaration says of rows and conditions. */
export function buildListQueries(source: UntypedSource): ListQueries {
  const parts = buildQueryParts(source)
  const parents = Object.keys(source.conditions).filter((name) => source.conditions[name]?.parentTable !== undefined)
  return {
    ...buildRangeQueries(source, parts),
    byParent: new Map(parents.map((name) => [name, buildParentQueries(source, parts, name)])),
  }
}

type ListQueryParts = ReturnType<typeof buildQueryParts>

/** The column that numbers a list with some conditions: that of the one which says whose it is, else the list's own. */
export function sequenceColumn(
  { order, conditions }: Pick<UntypedSource, 'order' | 'conditions'>,
  isGiven: (condition: string) => boolean,
): QualifiedColumn {
  const own = Object.keys(conditions).find((name) => conditions[name]?.order !== undefined && isGiven(name))
  return (own === undefined ? undefined : conditions[own]?.order) ?? order
}

/** The column's own name, which rows have it under. */
export function unqualifiedName(column: QualifiedColumn): string {
  return column.slice(column.indexOf('.') + 1)
}

function selectFromUntyped(source: unknown): UntypedRows {
  return selectFrom(source as never) as unknown as UntypedRows
}

/** What all queries of a list are made of. */
function buildQueryParts({
  table,
  order,
  createdAt,
  joins,
  select,
  conditions,
  mergedBy = {},
  columnsOfPages,
}: UntypedSource) {
  const names = Object.keys(conditions)
  const isRequired = (name: string) => conditions[name]?.isRequired === true
  const isOfOther = (column: QualifiedColumn) => !column.startsWith(`${table}.`)
  const join = (rows: UntypedRows) => (joins ? joins(rows as never) : rows) as UntypedRows
  return {
    filters: [...names.filter((name) => !isRequired(name)), 'createdFrom', 'createdBefore'],
    /** A query for each set of filters, beside the conditions that are always given. */
    query: (filters: readonly string[], build: (p: ListQueryParams, has: HasFilter) => unknown) =>
      queryWithFilters(filters, ((p: ListQueryParams, has: HasFilter) =>
        build(
          p,
          (name) => isRequired(name) || (filters.includes(name) && has(name)),
        )) as never) as unknown as UntypedQuery,
    join,
    whole: (rows: UntypedRows) => select(join(rows) as never) as UntypedRows,
    listed:
      columnsOfPages && ((rows: UntypedRows) => rows.select(columnsOfPages.map((column) => `${table}.${column}`))),
    /** The same rows, with the tables that these conditions look at. */
    joinedFor: (rows: UntypedRows, has: HasFilter) => {
      const columns = names.filter(has).map((name) => (conditions[name] as ListCondition).column)
      const isTimed = has('createdFrom') || has('createdBefore')
      return [...columns, ...(isTimed ? [createdAt] : [])].some(isOfOther) ? join(rows) : rows
    },
    orderOf: (has: HasFilter) => sequenceColumn({ order, conditions }, has),
    /** The ranges of an index of which rows are merged, each as what its columns hold beside what is given; else one. */
    rangesOf: (has: HasFilter): readonly ColumnValues[] => {
      const given = names.filter(has)
      if (given.length === 0 || !given.every((name) => name in mergedBy)) return [[]]
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
    /** Those that the conditions and times let through. */
    narrowed: (rows: UntypedRows, p: ListQueryParams, has: HasFilter) => {
      let found = rows.where(`${table}.merchantId`, '=', p.merchantId)
      for (const name of names.filter(has)) {
        const { column, operator = '=', value } = conditions[name] as ListCondition
        if (operator === 'is null') found = found.where(column, 'is', null)
        else found = found.where(column, operator, value?.map((each) => sql.lit(each)) ?? p[name as never])
      }
      if (has('createdFrom')) found = found.where(createdAt, '>=', p.createdFrom)
      if (has('createdBefore')) found = found.where(createdAt, '<', p.createdBefore)
      return found
    },
  }
}

function buildRangeQueries({ table, createdAt, conditions }: UntypedSource, parts: ListQueryParts) {
  const { filters, query, join, whole, listed, joinedFor, orderOf, rangesOf, narrowed } = parts
  const allRows = () => selectFromUntyped(table)
  /** Of these rows those of a range; where there are several of an index, one after the other until they are put in order. */
  const inRange = (rows: UntypedRows, p: ListQueryParams, has: HasFilter) => {
    const found = narrowed(rows, p, has).where(orderOf(has), '>', p.above).where(orderOf(has), '<', p.below)
    return rangesOf(has)
      .map((held) => held.reduce((each, [column, value]) => each.where(column, '=', value), found))
      .reduce((merged, each) => merged.unionAll(each))
  }
  // What is merged has no columns but those that are selected.
  const orderColumn = (has: HasFilter) => (rangesOf(has).length > 1 ? unqualifiedName(orderOf(has)) : orderOf(has))

  const buildRowsQuery = (selected: (rows: UntypedRows, has: HasFilter) => UntypedRows) =>
    query([...filters, 'isAscending', 'skip'], (p, has) => {
      const found = inRange(selected(allRows(), has), p, has)
        .orderBy(orderColumn(has), has('isAscending') ? 'asc' : 'desc')
        .limit(p.limit)
      // Only where rows are passed over: PostgreSQL takes an unknown OFFSET for many, and would rather sort.
      return has('skip') ? found.offset(p.skip) : found
    })
  const rows = buildRowsQuery(whole)
  const counts = query(filters, (p, has) =>
    countRows(inRange(joinedFor(allRows(), has).select(orderOf(has)), p, has).limit(p.limit)),
  )
  const numbers = query(filters, (p, has) =>
    inRange(joinedFor(allRows(), has).select(`${orderOf(has)} as sequence`), p, has)
      .orderBy('sequence', 'desc')
      .limit(1)
      .offset(p.skip),
  )
  const merchantRows = (p: ListQueryParams) => narrowed(whole(allRows()), p, () => false)
  const byId = query([], (p) => merchantRows(p).where(`${table}.id`, '=', p.id))
  const byIds = query([], (p) => merchantRows(p).where(`${table}.id`, 'in', among(p.ids)))
  // Of the conditions only those matter that say which numbers are meant.
  const marks = query(
    filters.filter((name) => conditions[name]?.order !== undefined),
    (p, has) =>
      narrowed(createdAt.startsWith(`${table}.`) ? allRows() : join(allRows()), p, has)
        .where(orderOf(has), '<=', p.fromSequence)
        .select([`${orderOf(has)} as sequence`, createdAt])
        .orderBy(orderOf(has), 'desc')
        .limit(1),
  )
  return {
    rows,
    rowsOfPages: listed ? buildRowsQuery((allRows, has) => listed(joinedFor(allRows, has))) : rows,
    count: (db: Reader, asked: object) =>
      mapMaybe(counts<{ rowCount: number }>(db, asked), ([counted]) => Number(counted?.rowCount ?? 0)),
    sequenceAfter: (db: Reader, asked: object) =>
      mapMaybe(numbers<{ sequence: number }>(db, asked), ([row]) => row?.sequence ?? null),
    byId,
    byIds,
    markAt: (db: Reader, asked: object) => mapMaybe(marks<SequenceMark>(db, asked), ([mark]) => mark ?? null),
  }
}

/**
 * The same for the lists of many parents at once. How far each list goes is found first, so no more rows are read than are
 * answered.
 */
function buildParentQueries({ table, conditions }: UntypedSource, parts: ListQueryParts, parent: string) {
  const { filters, query, whole, joinedFor, orderOf, narrowed } = parts
  const { column, parentTable: parents } = conditions[parent] as ListCondition
  const names = filters.filter((name) => name !== parent)
  /** The conditions but that on the parent, which is no parameter here. */
  const exceptParent = (has: HasFilter) => (name: string) => name !== parent && has(name)
  const order = orderOf((name) => name === parent)
  const parentRows = (p: ListQueryParams, has: HasFilter) =>
    narrowed(joinedFor(selectFromUntyped(table), exceptParent(has)), p, exceptParent(has))
      .whereRef(column, '=', 'parents.id')
      .where(order, '>', 0)
  const selectParents = (p: ListQueryParams) =>
    selectFromUntyped(`${parents} as parents`)
      .where('parents.merchantId', '=', p.merchantId)
      .where('parents.id', 'in', among(p.parentIds))

  return {
    rows: query([...names, 'isAscending'], (p, has) => {
      const [direction, furthest] = has('isAscending') ? (['asc', 'max'] as const) : (['desc', 'min'] as const)
      const ends = parentRows(p, has).select(`${order} as position`).orderBy(order, direction).limit(p.limit).as('ends')
      const bound = selectFromUntyped(ends).select((eb) => eb.fn(furthest, ['ends.position']).as('b'))
      const bounds = withCte(
        (cte) => cte('bounds').materialized(),
        () => selectParents(p).select(['parents.id as parentId', bound.as('bound')]) as never,
      ).selectFrom('bounds') as unknown as UntypedRows
      return narrowed(whole(bounds.crossJoin(table)), p, exceptParent(has))
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
