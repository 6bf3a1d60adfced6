import type { SelectQueryBuilder } from 'kysely'
import type { MaybePromise, Params, Reader, Tx } from '../../database/query.ts'
import { insertRow, mapMaybe, query, selectFrom, sharedQuery, statementOne, updateTable } from '../../database/query.ts'
import type { RowOf, Tables } from '../../database/tables.ts'

/** Tables whose rows hold for a pair of codes from a time on. They are only added, and cancelled before their time. */
type EffectiveDatedTable = 'rates' | 'fees'

/** The queries of such a table; `Pair` are its columns of codes. */
type EffectiveDatedQueries<Table extends EffectiveDatedTable, Pair> = {
  /** The rows in force from `start` to `end`, the latest first. */
  readonly inForceWithin: (p: Params<Pair & EffectiveSpan>) => SelectQueryBuilder<Tables, Table, RowOf<Table>>
  /** The pair's rows from `at` on, cancelled ones too, the next first. */
  readonly rowsFrom: (db: Reader, p: Pair & { at: string }) => Promise<RowOf<Table>[]>
  /** Every row that was ever added, newest first within each pair; an operator's view. */
  readonly allRows: (db: Reader, p: object) => Promise<RowOf<Table>[]>
  /** Cancels a row; `null` when it is cancelled already. */
  readonly setCancelled: (tx: Tx, p: RowOf<Table> & { cancelledAt: string }) => Promise<RowOf<Table> | null>
}

/** Two moments, both included. */
type EffectiveSpan = { readonly start: string; readonly end: string }

/**
 * What finds the row in force at a time, the latest that is effective by then; `null` where there is none.
 *
 * It asks for all that are in force within that minute, so that whoever asks at another moment of it asks the same (see
 * `sharedQuery`).
 *
 * @param inForceWithin asks for the pair's rows in force in a span, the latest first
 */
function buildInForceQuery<Asked extends EffectiveSpan, Row extends { readonly effectiveAt: string }>(
  inForceWithin: (db: Reader, asked: Asked) => MaybePromise<readonly Row[]>,
): (db: Reader, asked: Omit<Asked, keyof EffectiveSpan> & { readonly at: string }) => MaybePromise<Row | null> {
  return (db, { at, ...pair }) => {
    const minute = at.slice(0, '2026-01-01T00:00'.length)
    const span = { start: `${minute}:00.000Z`, end: `${minute}:59.999Z` }
    const rows = inForceWithin(db, { ...pair, ...span } as unknown as Asked)
    return mapMaybe(rows, (rows) => rows.find(({ effectiveAt }) => effectiveAt <= at) ?? null)
  }
}

/** Builds the queries of a table whose columns of codes are `one` and `other`. */
function buildEffectiveDatedQueries<Table extends EffectiveDatedTable, Code extends keyof RowOf<Table> & string>(
  table: Table,
  one: Code,
  other: Code,
): EffectiveDatedQueries<Table, Readonly<Record<Code, string>>> {
  const queries = buildQueries(table as 'rates', one as 'fromCode', other as 'toCode')
  return queries as unknown as EffectiveDatedQueries<Table, Readonly<Record<Code, string>>>
}

/** The tables are alike but for the names of their codes and what each row says. */
function buildQueries(table: 'rates', one: 'fromCode', other: 'toCode') {
  type Pair = { fromCode: string; toCode: string }
  const selectPair = (p: Params<Pair>) =>
    selectFrom(table).selectAll(table).where(one, '=', p[one]).where(other, '=', p[other])
  return {
    inForceWithin: (p: Params<Pair & EffectiveSpan>) => {
      const standing = selectPair(p).where('cancelledAt', 'is', null)
      const first = standing
        .clearSelect()
        .select((eb) => eb.fn.max('effectiveAt').as('effectiveAt'))
        .where('effectiveAt', '<=', p.start)
      return standing
        .where('effectiveAt', '<=', p.end)
        .where('effectiveAt', '>=', (eb) => eb.fn.coalesce(first, eb.val(p.start)))
        .orderBy('effectiveAt', 'desc')
    },
    rowsFrom: query((p: Params<Pair & { at: string }>) =>
      selectPair(p).where('effectiveAt', '>=', p.at).orderBy('effectiveAt').orderBy('revision'),
    ),
    allRows: query(() =>
      selectFrom(table)
        .selectAll()
        .orderBy(one)
        .orderBy(other)
        .orderBy('effectiveAt', 'desc')
        .orderBy('revision', 'desc'),
    ),
    setCancelled: statementOne((p: Params<Pair & { effectiveAt: string; revision: number; cancelledAt: string }>) =>
      updateTable(table)
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

const rateQueries = buildEffectiveDatedQueries('rates', 'fromCode', 'toCode')
export const { rowsFrom: ratesEffectiveFrom, allRows: allRates, setCancelled: setRateCancelled } = rateQueries

export const insertRate = insertRow('rates')

/** Finds the rate in force at `at`, with the decimal places of `toCode`; `null` if the pair has none. */
export const rateInForce = buildInForceQuery(
  sharedQuery((p: Params<{ fromCode: string; toCode: string; start: string; end: string }>) =>
    rateQueries
      .inForceWithin(p)
      .innerJoin('assetCodes', 'assetCodes.code', 'rates.toCode')
      .select('assetCodes.minorUnitPlaces'),
  ),
)

const feeQueries = buildEffectiveDatedQueries('fees', 'assetCode', 'recipientCurrency')
export const { rowsFrom: feesEffectiveFrom, allRows: allFees, setCancelled: setFeeCancelled } = feeQueries

export const insertFee = insertRow('fees')

/** Finds the fee in force at `at`; `null` if the pair has none. */
export const feeInForce = buildInForceQuery(sharedQuery(feeQueries.inForceWithin))
