import type { SelectQueryBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Columns } from '../database/projection.ts'
import type { Answer, Reader, Rows } from '../database/query.ts'
import { list as among, answerOf, from, queryWithFilters, withTable } from '../database/query.ts'
import type { TableName, Tables } from '../database/tables.ts'

/** A column with its table, such as `wallets.currency`. */
export type ColumnName = { [Table in TableName]: `${Table}.${keyof Tables[Table] & string}` }[TableName]

/** What lets rows through: a column that equals what is given, or is NULL; or that is, or is not, always the same `value`, or one of some. */
export type Condition = {
  readonly column: ColumnName
  readonly operator?: '=' | 'in' | 'not in' | 'is null'
  /** Stands in the query's text, so that an engine knows that an index of such rows alone serves it. */
  readonly value?: readonly string[]
  /** The column by which a list is numbered that has this condition, where it is not the merchant's numbers. */
  readonly order?: ColumnName
  /** The table of those whose ids it compares with, where each of them has a list. */
  readonly parents?: TableName
  /** No list of the kind goes without it. */
  readonly isRequired?: true
}

/** Where the rows of a list come from, how they are read whole, and what orders and narrows them. */
export type RowSource<Table extends TableName, Joined extends TableName, Row, Name extends string> = {
  readonly table: Table
  /** Joins the tables whose columns are told with each row, or stand in conditions. */
  readonly joins?: (rows: Rows<Table>) => Rows<Joined>
  /** Selects whole rows. */
  readonly select: (rows: Rows<Joined>) => SelectQueryBuilder<Tables, Joined, Row>
  /** The column that numbers rows in the order of their creation. */
  readonly order: ColumnName
  readonly createdAt: ColumnName
  readonly conditions: { readonly [Each in Name]: Condition }
  /**
   * Conditions by whose columns, in this order and before the number, one index leads, each with all values that rows can have
   * there. A list that is narrowed by some of them, and by no others, is merged from the index's ranges: one for each set of
   * values that the rest can have, so they should be few.
   */
  readonly mergedBy?: { readonly [Each in NoInfer<Name>]?: readonly string[] }
}

/** What is given for some of the conditions. */
export type Given<Name extends string> = { readonly [Each in Name]?: unknown }

/** Numbers between which rows lie, both exclusive, when they were created, and how many are taken of which end. */
type Range = {
  readonly above: number
  readonly below: number
  readonly limit: number
  readonly isAscending?: true | undefined
  readonly skip?: number | undefined
} & Times

/** From a moment on, and before another. */
export type Times = { readonly createdFrom?: string | undefined; readonly createdBefore?: string | undefined }

/** The same of the lists of many parents, each from one end. */
type EachRange = Pick<Range, 'limit' | 'isAscending'> & Times & { readonly parentIds: readonly string[] }

/** The number and time of a row. */
export type Mark = { readonly sequence: number; readonly createdAt: string }

type Asked = { readonly merchantId: string } & Given<string>

/** What reads rows: whole ones, or the values of columns where these are chosen. */
type Reading<Asked> = (db: Reader, asked: Asked, columns?: Columns) => Answer<object[]>

/** The queries of a list: each is one statement for every set of conditions that is asked for. */
export type ListQueries = {
  /** The rows of a range, newest first unless `isAscending`. */
  readonly rows: Reading<Asked & Range>
  /** The same of pages, with what these tell of each row. */
  readonly rowsOfPages: Reading<Asked & Range>
  /** How many rows a range has, of which at most `limit` are looked at. */
  readonly count: (db: Reader, asked: Asked & Range) => Answer<number>
  /** The number of the row in a range that `skip` newer ones come before. */
  readonly numberAfter: (db: Reader, asked: Asked & Omit<Range, 'limit'>) => Answer<number | null>
  /** The number and time of the row at or below a number. */
  readonly markAt: (db: Reader, asked: Asked & { readonly fromSequence: number }) => Answer<Mark | null>
  /** One of the merchant's rows, if it is there. */
  readonly byId: Reading<{ readonly merchantId: string; readonly id: string }>
  /** Those among `ids`, in any order. */
  readonly byIds: Reading<{ readonly merchantId: string; readonly ids: readonly string[] }>
  /** For each condition that has parents, what asks for the lists of many of them. */
  readonly ofEach: ReadonlyMap<string, EachQueries>
}

type EachQueries = {
  /** The first rows of each parent's list, in any order. */
  readonly rows: Reading<Asked & EachRange>
  /** How many rows each parent's list has, of which at most `limit` are looked at. */
  readonly counts: (db: Reader, asked: Asked & EachRange) => Answer<{ id: string; total: number }[]>
}

// Conditions are given by name, so what is built of them has no types; a declaration has, and tests compile every set.
type AnyRows = SelectQueryBuilder<Record<string, Record<string, unknown>>, string, object>
type AnySource = Omit<RowSource<TableName, TableName, unknown, string>, 'joins' | 'select'> & {
  readonly joins?: (rows: never) => unknown
  readonly select: (rows: never) => unknown
  readonly columnsOfPages?: readonly string[]
}
type Bound = Required<Omit<Range, 'isAscending' | 'skip'>> & {
  readonly skip: number
  readonly merchantId: string
  readonly fromSequence: number
  readonly id: string
  readonly ids: readonly string[]
  readonly parentIds: readonly string[]
}
type Has = (filter: string) => boolean
/** Columns with the value that each of them holds. */
type Held = readonly (readonly [column: ColumnName, value: string])[]
type AnyQuery = <Result extends object>(db: Reader, asked: object, columns?: Columns) => Answer<Result[]>

/** Builds the queries of a list from what its declaration says of rows and conditions. */
export function listQueries(source: AnySource): ListQueries {
  const parts = partsOf(source)
  const parents = Object.keys(source.conditions).filter((name) => source.conditions[name]?.parents !== undefined)
  return {
    ...rangeQueries(source, parts),
    ofEach: new Map(parents.map((name) => [name, eachQueries(source, parts, name)])),
  }
}

type Parts = ReturnType<typeof partsOf>

/** The column that numbers a list with some conditions: that of the one which says whose it is, else the list's own. */
export function numberingOf(
  { order, conditions }: Pick<AnySource, 'order' | 'conditions'>,
  isGiven: (condition: string) => boolean,
): ColumnName {
  const own = Object.keys(conditions).find((name) => conditions[name]?.order !== undefined && isGiven(name))
  return (own === undefined ? undefined : conditions[own]?.order) ?? order
}

/** The column's own name, which rows have it under. */
export function columnOf(column: ColumnName): string {
  return column.slice(column.indexOf('.') + 1)
}

function rowsOf(source: unknown): AnyRows {
  return from(source as never) as unknown as AnyRows
}

/** What all queries of a list are made of. */
function partsOf({ table, order, createdAt, joins, select, conditions, mergedBy = {}, columnsOfPages }: AnySource) {
  const names = Object.keys(conditions)
  const isRequired = (name: string) => conditions[name]?.isRequired === true
  const isOfOther = (column: ColumnName) => !column.startsWith(`${table}.`)
  const join = (rows: AnyRows) => (joins ? joins(rows as never) : rows) as AnyRows
  return {
    filters: [...names.filter((name) => !isRequired(name)), 'createdFrom', 'createdBefore'],
    /** A query for each set of filters, beside the conditions that are always given. */
    query: (filters: readonly string[], build: (p: Bound, has: Has) => unknown) =>
      queryWithFilters(filters, ((p: Bound, has: Has) =>
        build(p, (name) => isRequired(name) || (filters.includes(name) && has(name)))) as never) as unknown as AnyQuery,
    join,
    whole: (rows: AnyRows) => select(join(rows) as never) as AnyRows,
    listed: columnsOfPages && ((rows: AnyRows) => rows.select(columnsOfPages.map((column) => `${table}.${column}`))),
    /** The same rows, with the tables that these conditions look at. */
    joinedFor: (rows: AnyRows, has: Has) => {
      const columns = names.filter(has).map((name) => (conditions[name] as Condition).column)
      const isTimed = has('createdFrom') || has('createdBefore')
      return [...columns, ...(isTimed ? [createdAt] : [])].some(isOfOther) ? join(rows) : rows
    },
    orderOf: (has: Has) => numberingOf({ order, conditions }, has),
    /** The ranges of an index of which rows are merged, each as what its columns hold beside what is given; else one. */
    rangesOf: (has: Has): readonly Held[] => {
      const given = names.filter(has)
      if (given.length === 0 || !given.every((name) => name in mergedBy)) return [[]]
      const rest = Object.keys(mergedBy).filter((name) => !has(name))
      return rest.reduce<readonly Held[]>(
        (ranges, name) =>
          ranges.flatMap((range) =>
            (mergedBy[name] ?? []).map((value) => [...range, [(conditions[name] as Condition).column, value] as const]),
          ),
        [[]],
      )
    },
    /** Those that the conditions and times let through. */
    narrowed: (rows: AnyRows, p: Bound, has: Has) => {
      let found = rows.where(`${table}.merchantId`, '=', p.merchantId)
      for (const name of names.filter(has)) {
        const { column, operator = '=', value } = conditions[name] as Condition
        if (operator === 'is null') found = found.where(column, 'is', null)
        else found = found.where(column, operator, value?.map((each) => sql.lit(each)) ?? p[name as never])
      }
      if (has('createdFrom')) found = found.where(createdAt, '>=', p.createdFrom)
      if (has('createdBefore')) found = found.where(createdAt, '<', p.createdBefore)
      return found
    },
  }
}

function rangeQueries({ table, createdAt, conditions }: AnySource, parts: Parts) {
  const { filters, query, join, whole, listed, joinedFor, orderOf, rangesOf, narrowed } = parts
  const all = () => rowsOf(table)
  /** Of these rows those of a range; where there are several of an index, one after the other until they are put in order. */
  const inRange = (rows: AnyRows, p: Bound, has: Has) => {
    const found = narrowed(rows, p, has).where(orderOf(has), '>', p.above).where(orderOf(has), '<', p.below)
    return rangesOf(has)
      .map((held) => held.reduce((each, [column, value]) => each.where(column, '=', value), found))
      .reduce((merged, each) => merged.unionAll(each))
  }
  // What is merged has no columns but those that are selected.
  const placeOf = (has: Has) => (rangesOf(has).length > 1 ? columnOf(orderOf(has)) : orderOf(has))

  const rowsWith = (selected: (rows: AnyRows, has: Has) => AnyRows) =>
    query([...filters, 'isAscending', 'skip'], (p, has) => {
      const found = inRange(selected(all(), has), p, has)
        .orderBy(placeOf(has), has('isAscending') ? 'asc' : 'desc')
        .limit(p.limit)
      // Only where rows are passed over: PostgreSQL takes an unknown OFFSET for many, and would rather sort.
      return has('skip') ? found.offset(p.skip) : found
    })
  const rows = rowsWith(whole)
  const counts = query(filters, (p, has) =>
    countOf(inRange(joinedFor(all(), has).select(orderOf(has)), p, has).limit(p.limit)),
  )
  const numbers = query(filters, (p, has) =>
    inRange(joinedFor(all(), has).select(`${orderOf(has)} as sequence`), p, has)
      .orderBy('sequence', 'desc')
      .limit(1)
      .offset(p.skip),
  )
  const own = (p: Bound) => narrowed(whole(all()), p, () => false)
  const byId = query([], (p) => own(p).where(`${table}.id`, '=', p.id))
  const byIds = query([], (p) => own(p).where(`${table}.id`, 'in', among(p.ids)))
  // Of the conditions only those matter that say which numbers are meant.
  const marks = query(
    filters.filter((name) => conditions[name]?.order !== undefined),
    (p, has) =>
      narrowed(createdAt.startsWith(`${table}.`) ? all() : join(all()), p, has)
        .where(orderOf(has), '<=', p.fromSequence)
        .select([`${orderOf(has)} as sequence`, createdAt])
        .orderBy(orderOf(has), 'desc')
        .limit(1),
  )
  return {
    rows,
    rowsOfPages: listed ? rowsWith((all, has) => listed(joinedFor(all, has))) : rows,
    count: (db: Reader, asked: object) =>
      answerOf(counts<{ rowCount: number }>(db, asked), ([counted]) => Number(counted?.rowCount ?? 0)),
    numberAfter: (db: Reader, asked: object) =>
      answerOf(numbers<{ sequence: number }>(db, asked), ([row]) => row?.sequence ?? null),
    byId,
    byIds,
    markAt: (db: Reader, asked: object) => answerOf(marks<Mark>(db, asked), ([mark]) => mark ?? null),
  }
}

/**
 * The same for the lists of many parents at once. How far each list goes is found first, so no more rows are read than are
 * answered.
 */
function eachQueries({ table, conditions }: AnySource, parts: Parts, parent: string) {
  const { filters, query, whole, joinedFor, orderOf, narrowed } = parts
  const { column, parents } = conditions[parent] as Condition
  const names = filters.filter((name) => name !== parent)
  /** The conditions but that on the parent, which is no parameter here. */
  const others = (has: Has) => (name: string) => name !== parent && has(name)
  const order = orderOf((name) => name === parent)
  const own = (p: Bound, has: Has) =>
    narrowed(joinedFor(rowsOf(table), others(has)), p, others(has))
      .whereRef(column, '=', 'parents.id')
      .where(order, '>', 0)
  const parentsOf = (p: Bound) =>
    rowsOf(`${parents} as parents`)
      .where('parents.merchantId', '=', p.merchantId)
      .where('parents.id', 'in', among(p.parentIds))

  return {
    rows: query([...names, 'isAscending'], (p, has) => {
      const [direction, furthest] = has('isAscending') ? (['asc', 'max'] as const) : (['desc', 'min'] as const)
      const ends = own(p, has).select(`${order} as position`).orderBy(order, direction).limit(p.limit).as('ends')
      const bound = rowsOf(ends).select((eb) => eb.fn(furthest, ['ends.position']).as('b'))
      const bounds = withTable(
        (cte) => cte('bounds').materialized(),
        () => parentsOf(p).select(['parents.id as parentId', bound.as('bound')]) as never,
      ).selectFrom('bounds') as unknown as AnyRows
      return narrowed(whole(bounds.crossJoin(table)), p, others(has))
        .whereRef(column, '=', 'bounds.parentId')
        .whereRef(order, has('isAscending') ? '<=' : '>=', 'bounds.bound')
    }),
    counts: query(names, (p, has) =>
      parentsOf(p).select(['parents.id as id', countOf(own(p, has).select(order).limit(p.limit)).as('total')]),
    ),
  }
}

function countOf(rows: AnyRows): AnyRows {
  return rowsOf(rows.as('counted')).select(sql<number>`count(*)`.as('rowCount'))
}
