import { invalidInput } from '../../core/errors.ts'
import { parseUuid, timestamp } from '../../core/ids-and-clock.ts'
import type { Slice, SliceableList } from '../../lists/slice.ts'
import { defaultSliceSize } from '../../lists/slice.ts'
import { maxCountedRows } from '../../lists/totals.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { allMerchants } from '../merchants/repository.ts'

/** `id` must begin with a UUID. */
type MerchantListRow = { readonly id: string; readonly merchantId: string; readonly createdAt: string }
type CreatedBeforeFilter = { readonly createdBefore?: string | undefined }
type MerchantSliceArgs = { readonly first?: number | undefined; readonly after?: string | undefined }
type CountLimit = { readonly maxCounted?: number }

type FilteredMerchantList<Item, Input> = {
  readonly list: SliceableList<Context, Input & MerchantSliceArgs & CreatedBeforeFilter, Item>
  readonly filter: Input & CreatedBeforeFilter
}

/** `next` is the cursor of the next page. `total` is `null` if the rows are not counted, or are more than `maxCounted`. */
export type CrossMerchantPage<Item> = {
  readonly items: readonly Item[]
  readonly total: number | null
  readonly next: string | null
}

/**
 * Rows are newest first. Runs at least one query per merchant.
 *
 * @throws DomainError INVALID_INPUT
 */
export async function listAcrossMerchants<Item extends MerchantListRow, Input extends object>(
  service: Service,
  { list, filter }: FilteredMerchantList<Item, Input>,
  { first = defaultSliceSize, after, maxCounted = maxCountedRows }: MerchantSliceArgs & CountLimit,
): Promise<CrossMerchantPage<Item>> {
  const position = after === undefined ? null : decodeCursor(after)
  const contexts = (await allMerchants(service.db, {})).map(({ id }) => createContext(service, id))
  const lists = await Promise.all(
    contexts.map((context) => openMerchantList(context, { list, filter }, { first, position })),
  )
  const items: Item[] = []
  while (items.length <= first) {
    const [newest] = lists.filter(({ head }) => head !== null).toSorted((a, b) => compareRows(a.head, b.head))
    if (!newest?.head) break
    items.push(newest.head)
    newest.head = await newest.next()
  }
  const hasMore = items.length > first
  const page = items.slice(0, first)
  const last = page.at(-1)
  const total = await sumTotals(lists, maxCounted)
  return { items: page, total, next: hasMore && last ? encodeCursor(last) : null }
}

/** Counts no more rows once their number exceeds `maxCounted`. Stored totals may exceed `maxCounted`. */
async function sumTotals(
  lists: readonly { readonly countedSlice: Pick<Slice<unknown>, 'total'> }[],
  maxCounted: number,
): Promise<number | null> {
  let sum = 0
  for (const { countedSlice } of lists) {
    const total = await countedSlice.total(Math.max(0, maxCounted - sum))
    if (total === null) return null
    sum += total
  }
  return sum
}

type RowPosition = Pick<MerchantListRow, 'createdAt' | 'id'>

async function openMerchantList<Item extends MerchantListRow, Input extends object>(
  context: Context,
  { list, filter }: FilteredMerchantList<Item, Input>,
  { first, position }: { first: number; position: RowPosition | null },
) {
  const input = {
    ...filter,
    ...(position && { createdBefore: earlierTime(filter.createdBefore, justAfter(position)) }),
  }
  const firstSlice = await list.slice(context, { ...input, first })
  // On later pages, the filter of `firstSlice` excludes the rows of earlier pages, so a second query counts all rows.
  const countedSlice = position === null ? firstSlice : await list.slice(context, { ...filter, first: 1 })
  const rows = rowsAfter(
    readItems(firstSlice, async (after) => list.slice(context, { ...input, first, after })),
    position,
  )
  const next = async () => (await rows.next()).value ?? null
  return { head: await next(), next, countedSlice }
}

async function* readItems<Item extends MerchantListRow>(
  firstSlice: Slice<Item>,
  read: (after: string) => Promise<Slice<Item>>,
): AsyncGenerator<Item, undefined> {
  for (let slice = firstSlice; ; ) {
    yield* slice.items
    const last = slice.items.at(-1)
    if (!slice.hasNextPage || last === undefined) return
    slice = await read(slice.cursorOf(last))
  }
}

/** Sorts rows with the same creation time by id, because the list of a merchant may sort these rows differently. */
async function* rowsAfter<Item extends MerchantListRow>(
  rows: AsyncIterable<Item>,
  position: RowPosition | null,
): AsyncGenerator<Item, undefined> {
  let sameTime: Item[] = []
  for await (const row of rows) {
    if (position !== null && compareRows(row, position) <= 0) continue
    if (sameTime[0] !== undefined && sameTime[0].createdAt !== row.createdAt) {
      yield* sameTime.toSorted(compareRows)
      sameTime = []
    }
    sameTime.push(row)
  }
  yield* sameTime.toSorted(compareRows)
}

function compareRows(a: RowPosition | null, b: RowPosition | null): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1
  return a.id === b.id ? 0 : a.id > b.id ? -1 : 1
}

function encodeCursor({ createdAt, id }: RowPosition): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url')
}

function decodeCursor(after: string): RowPosition {
  const [createdAt = '', id = ''] = Buffer.from(after, 'base64url').toString('latin1').split(' ')
  if (Number.isFinite(Date.parse(createdAt)) && parseUuid(id.slice(0, 36)) !== null) return { createdAt, id }
  const message = 'must be the `next` of a list of all merchants'
  throw invalidInput([{ field: 'after', code: 'INVALID_PARAMETER', message }])
}

/**
 * Returns the next millisecond, because `createdBefore` is exclusive and rows with the same creation time must be
 * included.
 */
function justAfter({ createdAt }: RowPosition): string {
  return timestamp(Date.parse(createdAt) + 1)
}

function earlierTime(a: string | undefined, b: string): string {
  return a !== undefined && Date.parse(a) < Date.parse(b) ? a : b
}
