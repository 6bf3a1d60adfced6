import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { Reader } from '../database/query.ts'
import type { TableName } from '../database/tables.ts'
import { readCountsByParent, readListCount } from './counted-list.ts'
import type { ConditionValues, ListCondition, RowSource } from './list-queries.ts'
import { sequenceColumn, unqualifiedName } from './list-queries.ts'
import type { NumberedList } from './sequence.ts'
import { latestSequenceNumber } from './sequence.ts'

/** Rows are counted up to here; more have no total, so that no request counts a million, nor as many in each of a hundred lists (see `Slice.total`). */
export const maxCountedRows = 10_000

/** Which totals of a list are kept, so that they need not be counted; none of them knows of times. */
export type MaintainedTotals<Name extends string> = {
  /** All rows have dense numbers in this sequence, and none is ever deleted: the latest number is the total. */
  readonly numberedBy?: NumberedList
  /** Rows are counted as they come and go: all of them, or of each parent, and by each of these conditions alone. */
  readonly countedScopes?: readonly CountedScope<Name>[]
  /** Each parent keeps the total of its own list. */
  readonly parentTotals?: { readonly parent: Name; readonly totals: ParentTotalsQuery }
}

type CountedScope<Name extends string> = {
  /** The condition on the parent, with what the names of its lists have before its id. */
  readonly parent: { readonly condition: Name; readonly label: string } | null
  /** What the names of lists have before a condition's value. */
  readonly conditionLabels: { readonly [Each in Name]?: string }
}

type ParentTotalsQuery = (
  db: Reader,
  asked: { merchantId: string; ids: readonly string[] },
) => MaybePromise<readonly { readonly id: string; readonly total: number }[]>

/** What finds a total that is kept. */
export type TotalReader = (db: Reader) => MaybePromise<number>

type TotalsSource = MaintainedTotals<string> & { readonly name: string }

/**
 * What finds the total of a list with these conditions, as it is for who asks; `null` where it is not kept. The merchant's own
 * totals count what does not exist for who acts as one customer.
 */
export function totalReaderFor(
  list: TotalsSource & { readonly ofCustomer?: string },
  { db, merchantId }: { readonly db: Reader; readonly merchantId: string },
  given: ConditionValues<string>,
): TotalReader | null {
  const isAsMerchant = db.customerId === undefined || list.ofCustomer !== undefined || list.parentTotals !== undefined
  return isAsMerchant ? merchantTotalReader(list, merchantId, given) : null
}

/** The same for the merchant itself. */
function merchantTotalReader(
  source: TotalsSource,
  merchantId: string,
  given: ConditionValues<string>,
): TotalReader | null {
  const counted = countedListName(source, given)
  if (counted !== null) return (db) => readListCount(db, { merchantId, list: counted })
  const { numberedBy, parentTotals: keptBy } = source
  const names = givenConditionNames(given)
  if (numberedBy && names.length === 0)
    return (db) => mapMaybe(latestSequenceNumber(db, { merchantId, name: numberedBy }), (end) => end?.latest ?? 0)
  if (keptBy && names.join() === keptBy.parent) {
    const ids = [String(given[keptBy.parent])]
    return (db) => mapMaybe(keptBy.totals(db, { merchantId, ids }), ([kept]) => kept?.total ?? 0)
  }
  return null
}

/** The same of each parent's list; a parent that is not in what it finds has none. */
export function parentTotalsReader(
  source: TotalsSource,
  asked: { merchantId: string; parent: string; parentIds: readonly string[]; given: ConditionValues<string> },
): ((db: Reader) => Promise<ReadonlyMap<string, number>>) | null {
  const { merchantId, parent, parentIds, given } = asked
  const parents = new Map<string, string>()
  for (const id of parentIds) {
    const list = countedListName(source, { ...given, [parent]: id })
    if (list !== null) parents.set(list, id)
  }
  if (parents.size > 0) return (db) => readCountsByParent(db, { merchantId, parents })
  const { parentTotals: keptBy } = source
  if (keptBy?.parent !== parent || givenConditionNames(given).length > 0) return null
  return async (db) =>
    new Map((await keptBy.totals(db, { merchantId, ids: parentIds })).map(({ id, total }) => [id, total]))
}

/** The name of the list that is counted for these conditions. */
export function countedListName(
  { name, countedScopes: counted = [] }: TotalsSource,
  given: ConditionValues<string>,
): string | null {
  for (const { parent: of, conditionLabels: by } of counted) {
    if (of !== null && given[of.condition] === undefined) continue
    const others = givenConditionNames(given).filter((each) => each !== of?.condition)
    const [other] = others
    if (others.length > 1 || (other !== undefined && by[other] === undefined)) continue
    const ofParent = of === null ? name : name + listNameSegment(of.label, given[of.condition])
    return other === undefined ? ofParent : ofParent + listNameSegment(by[other], given[other])
  }
  return null
}

/** What the name of a counted list has for each thing that narrows it. */
export function listNameSegment(label: string | undefined, value: unknown): string {
  return `/${label}:${value}`
}

function givenConditionNames(given: ConditionValues<string>): string[] {
  return Object.keys(given).filter((name) => given[name] !== undefined)
}

/** The counted lists that a row is in, each with its number there. */
export function countedListsOfRow(
  source: TotalsSource & Pick<RowSource<TableName, TableName, object, string>, 'order' | 'conditions'>,
  row: object,
): { merchantId: string; lists: string[]; sequence: number }[] {
  const { name, countedScopes: counted = [], order, conditions } = source
  const cells = row as Record<string, unknown>
  const cellOf = (condition: string) => cells[unqualifiedName((conditions[condition] as ListCondition).column)]
  return counted.map(({ parent: of, conditionLabels: by }) => {
    const numbering = sequenceColumn({ order, conditions }, (condition) => condition === of?.condition)
    const all = of === null ? name : name + listNameSegment(of.label, cellOf(of.condition))
    const narrowed = Object.entries(by).map(([each, label]) => all + listNameSegment(label, cellOf(each)))
    return {
      merchantId: String(cells.merchantId),
      lists: [all, ...narrowed],
      sequence: Number(cells[unqualifiedName(numbering)]),
    }
  })
}
