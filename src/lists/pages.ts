import { allInOrder } from '../core/errors.ts'
import type { Answer, Reader } from '../database/query.ts'
import { answerOf } from '../database/query.ts'
import { seekInList } from './counted-list.ts'
import type { AnyList, Asking } from './declaration.ts'
import type { Page } from './page.ts'
import { offsetOf } from './page.ts'
import type { Given } from './queries.ts'
import type { Created } from './time-range.ts'
import { everything, isEmpty, isTimed, spanOf, timesOf } from './time-range.ts'
import type { KeptTotal } from './totals.ts'
import { countedListOf, countLimit, keptTotalFor } from './totals.ts'

/** A parsed request for a page: its times, its place, and whatever else the list's filters ask for. */
type PageAsked = Created & Place

type Place = { readonly page: number; readonly limit: number }

/** The list that a page is of: its conditions and times. */
type Narrowed = { readonly merchantId: string; readonly given: Given<string>; readonly created: Created }

/** Where a page begins: at the newest rows below a number, after passing over some of them. */
type Start = { readonly below: number; readonly skip: number }

/**
 * A page of a declared list, newest first; its total and its rows are of the same moment.
 *
 * Where rows are numbered densely or counted, any page is found without passing over those before it. Any other list ends
 * after `countLimit` rows: no more are counted for its total, nor passed over for its last page.
 */
export async function pageOf(list: AnyList, context: Asking, asked: PageAsked): Promise<Page<object>> {
  const { createdFrom, createdBefore, page, limit, ...filters } = asked
  const given = await list.conditionsOf(filters, context)
  if (given === null) return { items: [], total: 0, page, limit }
  const narrowed = { merchantId: context.merchantId, given, created: { createdFrom, createdBefore } }
  const total = isTimed(narrowed.created) ? null : keptTotalFor(list, context, given)
  return context.db.snapshot((read) =>
    total ? keptPage(list, read, narrowed, { page, limit, total }) : rangePage(list, read, narrowed, { page, limit }),
  )
}

function keptPage(
  list: AnyList,
  read: Reader,
  narrowed: Narrowed,
  { page, limit, total: count }: Place & { readonly total: KeptTotal },
): Answer<Page<object>> {
  const { merchantId, given } = narrowed
  const counting = count(read)
  const rows = ({ below, skip }: Start) =>
    list.queries.rowsOfPages(read, { merchantId, ...given, ...everything, below, skip: skip || undefined, limit })
  const offset = offsetOf({ page, limit })
  if (offset === 0) {
    const both = allInOrder([counting, rows({ below: everything.below, skip: 0 })])
    return answerOf(both, ([total, items]) => ({ items, total, page, limit }))
  }
  return answerOf(counting, async (total) => {
    const start = offset < total ? await startOf(list, read, narrowed, { total, offset }) : null
    return { items: start ? await rows(start) : [], total, page, limit }
  })
}

/** Dense numbers say it themselves; else the counts in blocks lead there. */
async function startOf(
  list: AnyList,
  read: Reader,
  { merchantId, given }: Narrowed,
  { total, offset }: { total: number; offset: number },
): Promise<Start | null> {
  const counted = countedListOf(list, given)
  if (counted === null) return { below: total - offset + 1, skip: 0 }
  const found = await seekInList(read, { merchantId, list: counted, total, offset })
  return found && { below: found.fromSequence + 1, skip: found.skip }
}

async function rangePage(
  { queries }: AnyList,
  read: Reader,
  { merchantId, given, created }: Narrowed,
  { page, limit }: Place,
): Promise<Page<object>> {
  const asked = { merchantId, ...given, ...timesOf(created) }
  const span = await spanOf(created, (fromSequence) => queries.markAt(read, { ...asked, fromSequence }))
  if (isEmpty(span)) return { items: [], total: 0, page, limit }
  const skip = offsetOf({ page, limit })
  const counted = (below: number, most: number) => queries.count(read, { ...asked, ...span, below, limit: most })
  const isWithin = skip > 0 && skip < countLimit
  const first = isWithin ? await queries.numberAfter(read, { ...asked, ...span, skip }) : null
  if (skip > 0 && first === null) return { items: [], total: await counted(span.below, countLimit), page, limit }
  // What is passed over has been counted so.
  const below = first === null ? span.below : first + 1
  const rest = countLimit - skip
  const [items, others] = await Promise.all([
    queries.rowsOfPages(read, { ...asked, ...span, below, limit: Math.min(limit, rest) }),
    counted(below, rest),
  ])
  return { items, total: skip + others, page, limit }
}
