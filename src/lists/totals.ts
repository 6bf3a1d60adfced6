import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { Reader } from '../database/query.ts'
import type { TableName } from '../database/tables.ts'
import { readCountsByParent, readListCount } from './counted-list.ts'
import type { ConditionValues, ListCondition, RowSource } from './list-queries.ts'
import { sequenceColumn, unqualifiedName } from './list-queries.ts'
import type { NumberedList } from './sequence.ts'
import { latestSequenceNumber } from './sequence.ts'

export const maxCountedRows = 10_000

/** Totals that a request can read without counting. A request with a time range must count its rows. */
export type MaintainedTotals<Name extends string> = {
  /**
   * The gapless sequence that numbers the rows. Rows of this list are never deleted, so the latest number is the total.
   */
  readonly numberedBy?: NumberedList | 'deposits'
  /**
   * Each `CountedScope` stores the number of all rows, or the number of each parent's rows. Counts by value are also
   * stored for each condition in `conditionLabels`.
   */
  readonly countedScopes?: readonly CountedScope<Name>[]
  readonly parentTotals?: { readonly parent: Name; readonly totals: ParentTotalsQuery }
}

type CountedScope<Name extends string> = {
  readonly parent: { readonly condition: Name; readonly label: string } | null
  readonly conditionLabels: { readonly [Each in Name]?: string }
}

type ParentTotalsQuery = (
  db: Reader,
  params: { merchantId: string; ids: readonly string[] },
) => MaybePromise<readonly { readonly id: string; readonly total: number }[]>

export type TotalReader = (db: Reader) => MaybePromise<number>

type TotalsSource = MaintainedTotals<string> & { readonly name: string }

/**
 * Returns `null` if no total is stored for the list. A caller that acts as one customer gets no merchant-wide total,
 * because the total includes the rows of all customers.
 */
export function totalReaderFor(
  list: TotalsSource & { readonly customerCondition?: string },
  { db, merchantId }: { readonly db: Reader; readonly merchantId: string },
  values: ConditionValues<string>,
): TotalReader | null {
  const isAsMerchant =
    db.customerId === undefined || list.customerCondition !== undefined || list.parentTotals !== undefined
  return isAsMerchant ? merchantTotalReader(list, merchantId, values) : null
}

function merchantTotalReader(
  source: TotalsSource,
  merchantId: string,
  values: ConditionValues<string>,
): TotalReader | null {
  const counted = countedListName(source, values)
  if (counted !== null) return (db) => readListCount(db, { merchantId, list: counted })
  const { numberedBy, parentTotals } = source
  const names = givenConditionNames(values)
  if (numberedBy && names.length === 0)
    return (db) => mapMaybe(latestSequenceNumber(db, { merchantId, name: numberedBy }), (end) => end?.latest ?? 0)
  if (parentTotals && names.join() === parentTotals.parent) {
    const ids = [String(values[parentTotals.parent])]
    return (db) => mapMaybe(parentTotals.totals(db, { merchantId, ids }), ([parent]) => parent?.total ?? 0)
  }
  return null
}

/** A parent object without rows is absent from the result. */
export function parentTotalsReader(
  source: TotalsSource,
  params: { merchantId: string; parent: string; parentIds: readonly string[]; values: ConditionValues<string> },
): ((db: Reader) => Promise<ReadonlyMap<string, number>>) | null {
  const { merchantId, parent, parentIds, values } = params
  const parents = new Map<string, string>()
  for (const id of parentIds) {
    const list = countedListName(source, { ...values, [parent]: id })
    if (list !== null) parents.set(list, id)
  }
  if (parents.size > 0) return (db) => readCountsByParent(db, { merchantId, parents })
  const { parentTotals } = source
  if (parentTotals?.parent !== parent || givenConditionNames(values).length > 0) return null
  return async (db) =>
    new Map((await parentTotals.totals(db, { merchantId, ids: parentIds })).map(({ id, total }) => [id, total]))
}

export function countedListName(
  { name, countedScopes = [] }: TotalsSource,
  values: ConditionValues<string>,
): string | null {
  for (const { parent, conditionLabels } of countedScopes) {
    if (parent !== null && values[parent.condition] === undefined) continue
    const others = givenConditionNames(values).filter((each) => each !== parent?.condition)
    const [other] = others
    if (others.length > 1 || (other !== undefined && conditionLabels[other] === undefined)) continue
    const prefix = parent === null ? name : name + listNameSegment(parent.label, values[parent.condition])
    return other === undefined ? prefix : prefix + listNameSegment(conditionLabels[other], values[other])
  }
  return null
}

export function listNameSegment(label: string | undefined, value: unknown): string {
  return `/${label}:${value}`
}

function givenConditionNames(values: ConditionValues<string>): string[] {
  return Object.keys(values).filter((name) => values[name] !== undefined)
}

export function countedListsOfRow(
  source: TotalsSource & Pick<RowSource<TableName, TableName, object, string>, 'order' | 'conditions'>,
  row: object,
): { merchantId: string; lists: string[]; sequence: number }[] {
  const { name, countedScopes = [], order, conditions } = source
  const cells = row as Record<string, unknown>
  const cellOf = (condition: string) => cells[unqualifiedName((conditions[condition] as ListCondition).column)]
  return countedScopes.map(({ parent, conditionLabels }) => {
    const column = sequenceColumn({ order, conditions }, (condition) => condition === parent?.condition)
    const all = parent === null ? name : name + listNameSegment(parent.label, cellOf(parent.condition))
    const filtered = Object.entries(conditionLabels).map(([each, label]) => all + listNameSegment(label, cellOf(each)))
    return {
      merchantId: String(cells.merchantId),
      lists: [all, ...filtered],
      sequence: Number(cells[unqualifiedName(column)]),
    }
  })
}
