import type { RawBuilder } from 'kysely'
import { expressionBuilder, sql } from 'kysely'
import type { Params, Reader } from './query.ts'
import { list, queryWithFilters } from './query.ts'

/** The lists that the rows of one table have in another, such as the wallets of each customer. */
type ListsOfEach<Filter extends string> = {
  /** The table of whatever has a list. */
  readonly parents: string
  /** The table of what is in the lists, called `items` in conditions, and which of its columns says in whose list a row is. */
  readonly table: string
  readonly parentColumn: string
  /** The column by which a list is ordered, from 1 on; by merchant, `parentColumn` and this an index leads to a row. */
  readonly sequenceColumn: string
  /** The column that names a row. */
  readonly idColumn: string
  /** What lets a row through, by the name of the parameter that it compares with. */
  readonly conditions: { readonly [Name in Filter]: (parameter: unknown) => RawBuilder<unknown> }
}

type Given<Filter extends string> = { readonly [Name in Filter]?: unknown }

type EachParams = { readonly merchantId: string; readonly parentIds: readonly string[]; readonly limit: number }

/**
 * The names of up to `limit` rows of each parent, the newest or, when `isAscending`, the oldest, in any order: one query for
 * all parents.
 *
 * How far each list goes is found first, so no more rows are read than are answered.
 */
export function idsOfEach<Filter extends string>(lists: ListsOfEach<Filter>) {
  const filters: readonly (Filter | 'isAscending')[] = [...filtersOf(lists), 'isAscending']
  const build = (p: Params<EachParams & Record<Filter, unknown>>, has: (filter: Filter | 'isAscending') => boolean) => {
    const { parents, table, parentColumn, sequenceColumn, idColumn } = columnsOf(lists)
    const [direction, furthest, beyond] = has('isAscending')
      ? [sql`asc`, sql`max`, sql`<=`]
      : [sql`desc`, sql`min`, sql`>=`]
    const conditions = conditionsOf(lists, p, has)
    return sql<{ id: string }>`
      with bounds as materialized (
        select parents.id as parent_id, (
          select ${furthest}(ends.position) from (
            select items.${sequenceColumn} as position from ${table} as items
            where items.merchant_id = ${p.merchantId} and items.${parentColumn} = parents.id
              and items.${sequenceColumn} > 0 ${conditions}
            order by items.${sequenceColumn} ${direction} limit ${p.limit}
          ) as ends
        ) as bound
        from ${parents} as parents
        where parents.merchant_id = ${p.merchantId} and ${isAmong(p.parentIds)}
      )
      select items.${idColumn} as id from bounds cross join ${table} as items
      where items.merchant_id = ${p.merchantId} and items.${parentColumn} = bounds.parent_id
        and items.${sequenceColumn} ${beyond} bounds.bound ${conditions}`
  }
  return queryOfEach<{ id: string }, Filter | 'isAscending'>(filters, build)
}

/** The conditions of times that lists have whose own rows say when they were created. */
export const createdConditions = {
  createdFrom: (moment: unknown) => sql`items.created_at >= ${moment}`,
  createdBefore: (moment: unknown) => sql`items.created_at < ${moment}`,
}

/** How many rows each parent's list has, of which at most `limit` are looked at: one query for all parents. */
export function countsOfEach<Filter extends string>(lists: ListsOfEach<Filter>) {
  const build = (p: Params<EachParams & Record<Filter, unknown>>, has: (filter: Filter) => boolean) => {
    const { parents, table, parentColumn, sequenceColumn } = columnsOf(lists)
    return sql<{ id: string; total: number }>`
      select parents.id as id, (
        select count(*) from (
          select 1 from ${table} as items
          where items.merchant_id = ${p.merchantId} and items.${parentColumn} = parents.id
            and items.${sequenceColumn} > 0 ${conditionsOf(lists, p, has)}
          limit ${p.limit}
        ) as counted
      ) as total
      from ${parents} as parents
      where parents.merchant_id = ${p.merchantId} and ${isAmong(p.parentIds)}`
  }
  return queryOfEach<{ id: string; total: number }, Filter>(filtersOf(lists), build)
}

function queryOfEach<Row, Filter extends string>(
  filters: readonly Filter[],
  build: (p: Params<EachParams & Record<Filter, unknown>>, has: (filter: Filter) => boolean) => RawBuilder<Row>,
): (db: Reader, params: EachParams & Given<Filter>) => Promise<Row[]> {
  // Raw SQL is compiled like any other query; only its type does not say so.
  return queryWithFilters(filters, build as never) as never
}

function isAmong(parentIds: readonly string[]) {
  return expressionBuilder<{ parents: { id: string } }, 'parents'>()('parents.id', 'in', list(parentIds))
}

function filtersOf<Filter extends string>({ conditions }: ListsOfEach<Filter>): Filter[] {
  return Object.keys(conditions) as Filter[]
}

function columnsOf({ parents, table, parentColumn, sequenceColumn, idColumn }: ListsOfEach<string>) {
  return {
    parents: sql.table(parents),
    table: sql.table(table),
    parentColumn: sql.ref(parentColumn),
    sequenceColumn: sql.ref(sequenceColumn),
    idColumn: sql.ref(idColumn),
  }
}

function conditionsOf<Filter extends string>(
  { conditions }: ListsOfEach<Filter>,
  p: Record<Filter, unknown>,
  has: (filter: Filter) => boolean,
): RawBuilder<unknown> {
  const given = (Object.keys(conditions) as Filter[]).filter(has)
  return sql.join(
    given.map((filter) => sql`and ${conditions[filter](p[filter])}`),
    sql` `,
  )
}
