import type { MaybePromise } from '../core/maybe-promise.ts'
import { allOrFirstError, mapMaybe } from '../core/maybe-promise.ts'
import type { Reader } from '../database/query.ts'
import { findPageStart } from './counted-list.ts'
import type { DeclaredList, ListContext } from './declaration.ts'
import type { ConditionValues } from './list-queries.ts'
import { isListSorted } from './sequence.ts'
import type { CreatedRange, FindMark } from './time-range.ts'
import { createdBounds, findSpan, fullSpan, hasTimeBounds } from './time-range.ts'
import type { TotalReader } from './totals.ts'
import { countedListName, maxCountedRows, totalReaderFor } from './totals.ts'

type ListPageRequest = CreatedRange & PageParams

type PageParams = { readonly page: number; readonly limit: number }

type PageCriteria = {
  readonly merchantId: string
  readonly conditions: ConditionValues<string>
  readonly created: CreatedRange
}

type PageOffset = { readonly below: number; readonly skip: number }

/**
 * The total and the rows come from one snapshot. A list with neither a gapless sequence nor stored counts ends after
 * `maxCountedRows` rows, because a request must not count or skip more rows.
 */
export async function readPage(
  list: DeclaredList,
  context: ListContext,
  request: ListPageRequest,
): Promise<Page<object>> {
  const { createdFrom, createdBefore, page, limit, ...filters } = request
  const conditions = await list.toConditions(filters, context)
  if (conditions === null) return { items: [], total: 0, page, limit }
  const criteria = { merchantId: context.merchantId, conditions, created: { createdFrom, createdBefore } }
  const total = hasTimeBounds(criteria.created) ? null : totalReaderFor(list, context, conditions)
  return context.db.snapshot((read) =>
    total
      ? readPageWithMaintainedTotal(list, read, criteria, { page, limit, total })
      : readPageWithCountedTotal(list, read, criteria, { page, limit }),
  )
}

function readPageWithMaintainedTotal(
  list: DeclaredList,
  read: Reader,
  criteria: PageCriteria,
  { page, limit, total: readTotal }: PageParams & { readonly total: TotalReader },
): MaybePromise<Page<object>> {
  const { merchantId, conditions } = criteria
  const totalRead = readTotal(read)
  const readRows = ({ below, skip }: PageOffset) =>
    list.queries.rowsOfPages(read, { merchantId, ...conditions, ...fullSpan, below, skip: skip || undefined, limit })
  const offset = pageOffset({ page, limit })
  if (offset === 0) {
    const both = allOrFirstError([totalRead, readRows({ below: fullSpan.below, skip: 0 })])
    return mapMaybe(both, ([total, items]) => ({ items, total, page, limit }))
  }
  return mapMaybe(totalRead, async (total) => {
    const start = offset < total ? await findPageOffset(list, read, criteria, { total, offset }) : null
    return { items: start ? await readRows(start) : [], total, page, limit }
  })
}

async function findPageOffset(
  list: DeclaredList,
  read: Reader,
  { merchantId, conditions }: PageCriteria,
  { total, offset }: { total: number; offset: number },
): Promise<PageOffset | null> {
  const counted = countedListName(list, conditions)
  if (counted === null) return { below: total - offset + 1, skip: 0 }
  const start = await findPageStart(read, { merchantId, list: counted, total, offset })
  return start && { below: start.fromSequence + 1, skip: start.skip }
}

async function readPageWithCountedTotal(
  { queries, importedAs }: DeclaredList,
  read: Reader,
  { merchantId, conditions, created }: PageCriteria,
  { page, limit }: PageParams,
): Promise<Page<object>> {
  const params = { merchantId, ...conditions, ...createdBounds(created) }
  const findMark: FindMark = (fromSequence) => queries.markAt(read, { ...params, fromSequence })
  const span = await findSpan(created, findMark, () => isListSorted(read, merchantId, importedAs))
  const skip = pageOffset({ page, limit })
  const countBelow = (below: number, max: number) => queries.count(read, { ...params, ...span, below, limit: max })
  const isWithinLimit = skip > 0 && skip < maxCountedRows
  const first = isWithinLimit ? await queries.sequenceAfter(read, { ...params, ...span, skip }) : null
  if (skip > 0 && first === null) return { items: [], total: await countBelow(span.below, maxCountedRows), page, limit }
  // Counts only the rows after the skipped rows.
  const below = first === null ? span.below : first + 1
  const rest = maxCountedRows - skip
  const [items, countedRest] = await Promise.all([
    queries.rowsOfPages(read, { ...params, ...span, below, limit: Math.min(limit, rest) }),
    countBelow(below, rest),
  ])
  return { items, total: skip + countedRest, page, limit }
}

export type Page<Item> = {
  readonly items: readonly Item[]
  readonly total: number
  readonly page: number
  readonly limit: number
}

function pageOffset({ page, limit }: { page: number; limit: number }): number {
  return (page - 1) * limit
}

/** An empty list has 0 pages (ruling 16). */
export function totalPages({ total, limit }: Pick<Page<unknown>, 'total' | 'limit'>): number {
  return Math.ceil(total / limit)
}
