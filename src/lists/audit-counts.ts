import type { RawBuilder } from 'kysely'
import { sql } from 'kysely'
import type { Params } from '../database/query.ts'
import { acrossMerchants, queryWithFilters, selectFrom } from '../database/query.ts'
import { declaredLists } from './declaration.ts'
import type { ListCondition } from './list-queries.ts'
import { sequenceColumn } from './list-queries.ts'
import { listNameSegment } from './totals.ts'

/** Finds lists whose stored row counts differ from their rows, for one block size. */
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

/** A row that several lists count is selected once for each list. */
function selectCountedRows(): RawBuilder<unknown> {
  const selects = declaredLists.flatMap(({ name, table, order, conditions, countedScopes = [] }) =>
    countedScopes.flatMap(({ parent, conditionLabels }) => {
      const onParent = parent && (conditions[parent.condition] as ListCondition)
      const prefix = onParent
        ? sql`${name + listNameSegment(parent.label, '')} || ${sql.ref(onParent.column)}`
        : sql`${name}`
      const filtered = Object.entries(conditionLabels).map(
        ([each, label]) =>
          sql`${prefix} || ${listNameSegment(label, '')} || ${sql.ref((conditions[each] as ListCondition).column)}`,
      )
      return [prefix, ...filtered].map(
        (list) =>
          sql`select ${sql.ref(`${table}.merchantId`)} as merchant_id, ${list} as list,
            ${sql.ref(sequenceColumn({ order, conditions }, (condition) => condition === parent?.condition))} as sequence from ${sql.table(table)}`,
      )
    }),
  )
  return sql.join(selects, sql` union all `)
}
