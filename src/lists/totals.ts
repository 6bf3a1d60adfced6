import type { Answer, Reader } from '../database/query.ts'
import { answerOf } from '../database/query.ts'
import type { TableName } from '../database/tables.ts'
import { countOfList, countsByParent } from './counted-list.ts'
import type { Condition, Given, RowSource } from './queries.ts'
import { columnOf, numberingOf } from './queries.ts'
import type { NumberedList } from './sequence.ts'
import { latestInSequence } from './sequence.ts'

/** Rows are counted up to here; more have no total, so that no request counts a million, nor as many in each of a hundred lists (see `Slice.total`). */
export const countLimit = 10_000

/** Which totals of a list are kept, so that they need not be counted; none of them knows of times. */
export type KeptTotals<Name extends string> = {
  /** All rows have dense numbers in this sequence, and none is ever deleted: the latest number is the total. */
  readonly numberedBy?: NumberedList
  /** Rows are counted as they come and go: all of them, or of each parent, and by each of these conditions alone. */
  readonly counted?: readonly CountedScope<Name>[]
  /** Each parent keeps the total of its own list. */
  readonly keptBy?: { readonly parent: Name; readonly totals: ParentTotals }
}

type CountedScope<Name extends string> = {
  /** The condition on the parent, with what the names of its lists have before its id. */
  readonly of: { readonly condition: Name; readonly label: string } | null
  /** What the names of lists have before a condition's value. */
  readonly by: { readonly [Each in Name]?: string }
}

type ParentTotals = (
  db: Reader,
  asked: { merchantId: string; ids: readonly string[] },
) => Answer<readonly { readonly id: string; readonly total: number }[]>

/** What finds a total that is kept. */
export type KeptTotal = (db: Reader) => Answer<number>

type Source = KeptTotals<string> & { readonly name: string }

/**
 * What finds the total of a list with these conditions, as it is for who asks; `null` where it is not kept. The merchant's own
 * totals count what does not exist for who acts as one customer.
 */
export function keptTotalFor(
  list: Source & { readonly ofCustomer?: string },
  { db, merchantId }: { readonly db: Reader; readonly merchantId: string },
  given: Given<string>,
): KeptTotal | null {
  const isAsMerchant = db.customerId === undefined || list.ofCustomer !== undefined || list.keptBy !== undefined
  return isAsMerchant ? keptTotal(list, merchantId, given) : null
}

/** The same for the merchant itself. */
function keptTotal(source: Source, merchantId: string, given: Given<string>): KeptTotal | null {
  const counted = countedListOf(source, given)
  if (counted !== null) return (db) => countOfList(db, { merchantId, list: counted })
  const { numberedBy, keptBy } = source
  const names = namesOf(given)
  if (numberedBy && names.length === 0)
    return (db) => answerOf(latestInSequence(db, { merchantId, name: numberedBy }), (end) => end?.latest ?? 0)
  if (keptBy && names.join() === keptBy.parent) {
    const ids = [String(given[keptBy.parent])]
    return (db) => answerOf(keptBy.totals(db, { merchantId, ids }), ([kept]) => kept?.total ?? 0)
  }
  return null
}

/** The same of each parent's list; a parent that is not in what it finds has none. */
export function keptTotalsOfEach(
  source: Source,
  asked: { merchantId: string; parent: string; parentIds: readonly string[]; given: Given<string> },
): ((db: Reader) => Promise<ReadonlyMap<string, number>>) | null {
  const { merchantId, parent, parentIds, given } = asked
  const parents = new Map<string, string>()
  for (const id of parentIds) {
    const list = countedListOf(source, { ...given, [parent]: id })
    if (list !== null) parents.set(list, id)
  }
  if (parents.size > 0) return (db) => countsByParent(db, { merchantId, parents })
  const { keptBy } = source
  if (keptBy?.parent !== parent || namesOf(given).length > 0) return null
  return async (db) =>
    new Map((await keptBy.totals(db, { merchantId, ids: parentIds })).map(({ id, total }) => [id, total]))
}

/** The name of the list that is counted for these conditions. */
export function countedListOf({ name, counted = [] }: Source, given: Given<string>): string | null {
  for (const { of, by } of counted) {
    if (of !== null && given[of.condition] === undefined) continue
    const others = namesOf(given).filter((each) => each !== of?.condition)
    const [other] = others
    if (others.length > 1 || (other !== undefined && by[other] === undefined)) continue
    const ofParent = of === null ? name : name + partOfName(of.label, given[of.condition])
    return other === undefined ? ofParent : ofParent + partOfName(by[other], given[other])
  }
  return null
}

/** What the name of a counted list has for each thing that narrows it. */
export function partOfName(label: string | undefined, value: unknown): string {
  return `/${label}:${value}`
}

function namesOf(given: Given<string>): string[] {
  return Object.keys(given).filter((name) => given[name] !== undefined)
}

/** The counted lists that a row is in, each with its number there. */
export function countedListsOf(
  source: Source & Pick<RowSource<TableName, TableName, object, string>, 'order' | 'conditions'>,
  row: object,
): { merchantId: string; lists: string[]; sequence: number }[] {
  const { name, counted = [], order, conditions } = source
  const cells = row as Record<string, unknown>
  const cellOf = (condition: string) => cells[columnOf((conditions[condition] as Condition).column)]
  return counted.map(({ of, by }) => {
    const numbering = numberingOf({ order, conditions }, (condition) => condition === of?.condition)
    const all = of === null ? name : name + partOfName(of.label, cellOf(of.condition))
    const narrowed = Object.entries(by).map(([each, label]) => all + partOfName(label, cellOf(each)))
    return {
      merchantId: String(cells.merchantId),
      lists: [all, ...narrowed],
      sequence: Number(cells[columnOf(numbering)]),
    }
  })
}
