import type { SelectQueryBuilder } from 'kysely'
import type { Params, Reader, Tx } from '../database/query.ts'
import { change, from, query, statementOne } from '../database/query.ts'
import type { RowOf, Tables } from '../database/tables.ts'

/** Tables whose rows hold for a pair of codes from a time on. They are only added, and cancelled before their time. */
type DatedTable = 'rates' | 'fees'

/** The queries of such a table; `Pair` are its columns of codes. */
type DatedQueries<Table extends DatedTable, Pair> = {
  /** The row in force at `at`, the latest that is effective by then. */
  readonly inForce: (p: Params<Pair & { at: string }>) => SelectQueryBuilder<Tables, Table, RowOf<Table>>
  /** The pair's rows from `at` on, cancelled ones too, the next first. */
  readonly rowsFrom: (db: Reader, p: Pair & { at: string }) => Promise<RowOf<Table>[]>
  /** Every row that was ever added, newest first within each pair; an operator's view. */
  readonly allRows: (db: Reader, p: object) => Promise<RowOf<Table>[]>
  /** Cancels a row; `null` when it is cancelled already. */
  readonly setCancelled: (tx: Tx, p: RowOf<Table> & { cancelledAt: string }) => Promise<RowOf<Table> | null>
}

/** Builds the queries of a table whose columns of codes are `one` and `other`. */
export function datedQueries<Table extends DatedTable, Code extends keyof RowOf<Table> & string>(
  table: Table,
  one: Code,
  other: Code,
): DatedQueries<Table, Readonly<Record<Code, string>>> {
  const queries = queriesLikeRates(table as 'rates', one as 'fromCode', other as 'toCode')
  return queries as unknown as DatedQueries<Table, Readonly<Record<Code, string>>>
}

/** The tables are alike but for the names of their codes and what each row says. */
function queriesLikeRates(table: 'rates', one: 'fromCode', other: 'toCode') {
  type Pair = { fromCode: string; toCode: string }
  const ofPair = (p: Params<Pair>) => from(table).selectAll(table).where(one, '=', p[one]).where(other, '=', p[other])
  return {
    inForce: (p: Params<Pair & { at: string }>) =>
      ofPair(p)
        .where('effectiveAt', '<=', p.at)
        .where('cancelledAt', 'is', null)
        .orderBy('effectiveAt', 'desc')
        .limit(1),
    rowsFrom: query((p: Params<Pair & { at: string }>) =>
      ofPair(p).where('effectiveAt', '>=', p.at).orderBy('effectiveAt').orderBy('revision'),
    ),
    allRows: query(() =>
      from(table).selectAll().orderBy(one).orderBy(other).orderBy('effectiveAt', 'desc').orderBy('revision', 'desc'),
    ),
    setCancelled: statementOne((p: Params<Pair & { effectiveAt: string; revision: number; cancelledAt: string }>) =>
      change(table)
        .set({ cancelledAt: p.cancelledAt })
        .where(one, '=', p[one])
        .where(other, '=', p[other])
        .where('effectiveAt', '=', p.effectiveAt)
        .where('revision', '=', p.revision)
        .where('cancelledAt', 'is', null)
        .returningAll(),
    ),
  }
}
