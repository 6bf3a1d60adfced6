import type { MaybePromise } from '../core/maybe-promise.ts'
import { allOrFirstError, mapMaybe } from '../core/maybe-promise.ts'
import type { Reader } from '../database/query.ts'
import { findPageStart } from './counted-list.ts'
import type { DeclaredList, ListContext } from './declaration.ts'
import type { ConditionValues } from './list-queries.ts'
import type { Page } from './page.ts'
import { pageOffset } from './page.ts'
import type { CreatedRange } from './time-range.ts'
import { createdBounds, findSpan, fullSpan, hasTimeBounds, isEmptySpan } from './time-range.ts'
import type { TotalReader } from './totals.ts'
import { countedListName, maxCountedRows, totalReaderFor } from './totals.ts'

/** A parsed request for a page: its times, its place, and whatever else the list's filters ask for. */
type ListPageRequest = CreatedRange & PageParams

type PageParams = { readonly page: number; readonly limit: number }

/** The list that a page is of: its conditions and times. */
type PageCriteria = {
  readonly merchantId: string
  readonly conditions: ConditionValues<string>
  readonly created: CreatedRange
}

/** Where a page begins: at the newest rows below a number, after passing over some of them. */
type PageOffset = { readonly below: number; readonly skip: number }

/**
 * A page of a declared list, newest first; its total and its rows are of the same moment.
 *
 * Where rows are numbered densely or counted, any page is found without passing over those before it. Any other list ends
 * after `countLimit` rows: no more are counted for its total, nor passed over for its last page.
 */
export async function readPage(
  list: DeclaredList,
  context: ListContext,
  asked: ListPageRequest,
): Promise<Page<object>> {
  const { createdFrom, createdBefore, page, limit, ...filters } = asked
  const given = await list.conditionsOf(filters, context)
  if (given === null) return { items: [], total: 0, page, limit }
  const narrowed = { merchantId: context.merchantId, conditions: given, created: { createdFrom, createdBefore } }
  const total = hasTimeBounds(narrowed.created) ? null : totalReaderFor(list, context, given)
  return context.db.snapshot((read) =>
    total
      ? readPageWithMaintainedTotal(list, read, narrowed, { page, limit, total })
      : readPageWithCountedTotal(list, read, narrowed, { page, limit }),
  )
}

function readPageWithMaintainedTotal(
  list: DeclaredList,
  read: Reader,
  narrowed: PageCriteria,
  { page, limit, total: count }: PageParams & { readonly total: TotalReader },
): MaybePromise<Page<object>> {
  const { merchantId, conditions: given } = narrowed
  const counting = count(read)
  const readRows = ({ below, skip }: PageOffset) =>
    list.queries.rowsOfPages(read, { merchantId, ...given, ...fullSpan, below, skip: skip || undefined, limit })
  const offset = pageOffset({ page, limit })
  if (offset === 0) {
    const both = allOrFirstError([counting, readRows({ below: fullSpan.below, skip: 0 })])
    return mapMaybe(both, ([total, items]) => ({ items, total, page, limit }))
  }
  return mapMaybe(counting, async (total) => {
    const start = offset < total ? await findPageOffset(list, read, narrowed, { total, offset }) : null
    return { items: start ? await readRows(start) : [], total, page, limit }
  })
}

/** Dense numbers say it themselves; else the counts in blocks lead there. */
async function findPageOffset(
  list: DeclaredList,
  read: Reader,
  { merchantId, conditions: given }: PageCriteria,
  { total, offset }: { total: number; offset: number },
): Promise<PageOffset | null> {
  const counted = countedListName(list, given)
  if (counted === null) return { below: total - offset + 1, skip: 0 }
  const found = await findPageStart(read, { merchantId, list: counted, total, offset })
  return found && { below: found.fromSequence + 1, skip: found.skip }
}

async function readPageWithCountedTotal(
  { queries }: DeclaredList,
  read: Reader,
  { merchantId, conditions: given, created }: PageCriteria,
  { page, limit }: PageParams,
): Promise<Page<object>> {
  const asked = { merchantId, ...given, ...createdBounds(created) }
  const span = await findSpan(created, (fromSequence) => queries.markAt(read, { ...asked, fromSequence }))
  if (isEmptySpan(span)) return { items: [], total: 0, page, limit }
  const skip = pageOffset({ page, limit })
  const countBelow = (below: number, most: number) => queries.count(read, { ...asked, ...span, below, limit: most })
  const isWithin = skip > 0 && skip < maxCountedRows
  const first = isWithin ? await queries.sequenceAfter(read, { ...asked, ...span, skip }) : null
  if (skip > 0 && first === null) return { items: [], total: await countBelow(span.below, maxCountedRows), page, limit }
  // What is passed over has been counted so.
  const below = first === null ? span.below : first + 1
  const rest = maxCountedRows - skip
  const [items, others] = await Promise.all([
    queries.rowsOfPages(read, { ...asked, ...span, below, limit: Math.min(limit, rest) }),
    countBelow(below, rest),
  ])
  return { items, total: skip + others, page, limit }
}
