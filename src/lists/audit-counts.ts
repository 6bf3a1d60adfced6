import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Params } from '../database/query.ts'
import { acrossMerchants, queryWithFilters, selectFrom } from '../database/query.ts'
import { declaredLists } from './declared-lists.ts'
import type { ListCondition } from './list-queries.ts'
import { sequenceColumn } from './list-queries.ts'
import { listNameSegment } from './totals.ts'

/** Maintained counts of declared lists that are not what counting gives, for blocks of one size; an operator's view. */
export const findWrongListCounts = queryWithFilters([], (p: Params<{ blockSize: number; divisor: number }>) =>
  acrossMerchants(
    selectFrom(
      sql<{ id: string }>`(select merchant_id || ' ' || list as id from (
      select merchant_id, list, sequence / ${p.divisor} as block, count(*) as difference
        from (${selectCountedRows()}) as listed group by merchant_id, list, block
      union all
      select merchant_id, list, block, -row_count from list_counts where block_size = ${p.blockSize}
    ) as compared group by merchant_id, list, block having sum(difference) <> 0)`.as('wrong'),
    ).select('wrong.id'),
  ),
)

/** Every row of every counted list, as often as it is counted: in which list, and its number there. */
function selectCountedRows(): RawBuilder<unknown> {
  const selects = declaredLists.flatMap(({ name, table, order, conditions, countedScopes: counted = [] }) =>
    counted.flatMap(({ parent: of, conditionLabels: by }) => {
      const parent = of && (conditions[of.condition] as ListCondition)
      const prefix = parent ? sql`${name + listNameSegment(of.label, '')} || ${sql.ref(parent.column)}` : sql`${name}`
      const narrowed = Object.entries(by).map(
        ([each, label]) =>
          sql`${prefix} || ${listNameSegment(label, '')} || ${sql.ref((conditions[each] as ListCondition).column)}`,
      )
      return [prefix, ...narrowed].map(
        (list) =>
          sql`select ${sql.ref(`${table}.merchantId`)} as merchant_id, ${list} as list,
            ${sql.ref(sequenceColumn({ order, conditions }, (condition) => condition === of?.condition))} as sequence from ${sql.table(table)}`,
      )
    }),
  )
  return sql.join(selects, sql` union all `)
}
