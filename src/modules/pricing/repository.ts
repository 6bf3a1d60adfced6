import type { SelectQueryBuilder } from 'kysely'
import type { Params, Reader, Tx } from '../../database/query.ts'
import { insertRow, query, selectFrom, sharedQuery, statementOne, updateTable } from '../../database/query.ts'
import type { RowOf, Tables } from '../../database/tables.ts'

type EffectiveDatedTable = 'rates' | 'fees'

type EffectiveDatedQueries<Table extends EffectiveDatedTable, Pair> = {
  readonly inForceWithin: (p: Params<Pair & EffectiveSpan>) => SelectQueryBuilder<Tables, Table, RowOf<Table>>
  readonly rowsFrom: (db: Reader, p: Pair & { at: string }) => Promise<RowOf<Table>[]>
  /** Within each pair, prices are newest first. */
  readonly allRows: (db: Reader, p: object) => Promise<RowOf<Table>[]>
  readonly setCancelled: (tx: Tx, p: RowOf<Table> & { cancelledAt: string }) => Promise<RowOf<Table> | null>
}

/** `start` and `end` are inclusive. */
type EffectiveSpan = { readonly start: string; readonly end: string }

/** The query reads all prices of the minute of `at`, so that all callers in the same minute share one query. */
function buildInForceQuery<Input extends EffectiveSpan, Row extends { readonly effectiveAt: string }>(
  inForceWithin: ReturnType<typeof sharedQuery<Input, Row>>,
): (db: Reader, input: Omit<Input, keyof EffectiveSpan> & { readonly at: string }) => Promise<Row | null> {
  return async (db, { at, ...pair }) => {
    const minute = at.slice(0, '2026-01-01T00:00'.length)
    const span = { start: `${minute}:00.000Z`, end: `${minute}:59.999Z` }
    const rows = await inForceWithin(db, { ...pair, ...span } as unknown as Input)
    return rows.find(({ effectiveAt }) => effectiveAt <= at) ?? null
  }
}

function buildEffectiveDatedQueries<Table extends EffectiveDatedTable, Code extends keyof RowOf<Table> & string>(
  table: Table,
  firstCode: Code,
  secondCode: Code,
): EffectiveDatedQueries<Table, Readonly<Record<Code, string>>> {
  const queries = buildQueries(table as 'rates', firstCode as 'fromCode', secondCode as 'toCode')
  return queries as unknown as EffectiveDatedQueries<Table, Readonly<Record<Code, string>>>
}

function buildQueries(table: 'rates', firstCode: 'fromCode', secondCode: 'toCode') {
  type Pair = { fromCode: string; toCode: string }
  const selectPair = (p: Params<Pair>) =>
    selectFrom(table).selectAll(table).where(firstCode, '=', p[firstCode]).where(secondCode, '=', p[secondCode])
  return {
    inForceWithin: (p: Params<Pair & EffectiveSpan>) => {
      const uncancelled = selectPair(p).where('cancelledAt', 'is', null)
      const firstInForce = uncancelled
        .clearSelect()
        .select((eb) => eb.fn.max('effectiveAt').as('effectiveAt'))
        .where('effectiveAt', '<=', p.start)
      return uncancelled
        .where('effectiveAt', '<=', p.end)
        .where('effectiveAt', '>=', (eb) => eb.fn.coalesce(firstInForce, eb.val(p.start)))
        .orderBy('effectiveAt', 'desc')
    },
    rowsFrom: query((p: Params<Pair & { at: string }>) =>
      selectPair(p).where('effectiveAt', '>=', p.at).orderBy('effectiveAt').orderBy('revision'),
    ),
    allRows: query(() =>
      selectFrom(table)
        .selectAll()
        .orderBy(firstCode)
        .orderBy(secondCode)
        .orderBy('effectiveAt', 'desc')
        .orderBy('revision', 'desc'),
    ),
    setCancelled: statementOne((p: Params<Pair & { effectiveAt: string; revision: number; cancelledAt: string }>) =>
      updateTable(table)
        .set({ cancelledAt: p.cancelledAt })
        .where(firstCode, '=', p[firstCode])
        .where(secondCode, '=', p[secondCode])
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

export const feeInForce = buildInForceQuery(sharedQuery(feeQueries.inForceWithin))
