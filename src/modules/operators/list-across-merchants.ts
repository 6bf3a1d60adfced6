import { invalidInput } from '../../core/errors.ts'
import { parseUuid, timestamp } from '../../core/ids-and-clock.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { Slice } from '../../lists/slice.ts'
import { defaultSliceSize } from '../../lists/slice.ts'
import type { Context, Service } from '../../operations/context.ts'
import { createContext } from '../../operations/context.ts'
import { allMerchants } from '../merchants/repository.ts'

type MerchantListRow = { readonly id: string; readonly merchantId: string; readonly createdAt: string }
type CreatedBeforeFilter = { readonly createdBefore?: string | undefined }
type MerchantSliceArgs = { readonly first?: number | undefined; readonly after?: string | undefined }

/** A list of which each merchant has one, with what narrows it. */
type FilteredMerchantList<Item, Input> = {
  readonly list: {
    readonly slice: (
      context: Context,
      input: Input & MerchantSliceArgs & CreatedBeforeFilter,
    ) => MaybePromise<Slice<Item>>
  }
  readonly filter: Input & CreatedBeforeFilter
}

/** Some rows of all merchants; `next` is what `after` takes for more, `total` is `null` where it is not counted. */
export type CrossMerchantPage<Item> = {
  readonly items: readonly Item[]
  readonly total: number | null
  readonly next: string | null
}

/**
 * A part of the lists of all merchants put together, newest first; an operator's view, with one query per merchant.
 *
 * @throws Refusal INVALID_INPUT
 */
export async function listAcrossMerchants<Item extends MerchantListRow, Input extends object>(
  service: Service,
  { list, filter }: FilteredMerchantList<Item, Input>,
  { first = defaultSliceSize, after }: MerchantSliceArgs,
): Promise<CrossMerchantPage<Item>> {
  const place = after === undefined ? null : decodeCursor(after)
  const contexts = (await allMerchants(service.db, {})).map(({ id }) => createContext(service, id))
  const lists = await Promise.all(
    contexts.map((context) => openMerchantList(context, { list, filter }, { first, place })),
  )
  const items: Item[] = []
  while (items.length <= first) {
    const [newest] = lists
      .filter(({ head }) => head !== null)
      .toSorted((one, other) => compareRows(one.head, other.head))
    if (!newest?.head) break
    items.push(newest.head)
    newest.head = await newest.next()
  }
  const hasMore = items.length > first
  const shown = items.slice(0, first)
  const last = shown.at(-1)
  const totals = lists.map(({ total }) => total)
  const total = totals.includes(null) ? null : totals.reduce<number>((sum, each) => sum + (each ?? 0), 0)
  return { items: shown, total, next: hasMore && last ? encodeCursor(last) : null }
}

/** A place in all lists: of a time and, because several rows may have that, of an id. */
type RowPosition = Pick<MerchantListRow, 'createdAt' | 'id'>

async function openMerchantList<Item extends MerchantListRow, Input extends object>(
  context: Context,
  { list, filter }: FilteredMerchantList<Item, Input>,
  { first, place }: { first: number; place: RowPosition | null },
) {
  const asked = { ...filter, ...(place && { createdBefore: earlierTime(filter.createdBefore, justAfter(place)) }) }
  const opening = await list.slice(context, { ...asked, first })
  // Without a place that is the whole list; else only what comes behind it was counted.
  const total = await (place === null ? opening : await list.slice(context, { ...filter, first: 1 })).total()
  const rows = rowsAfter(
    readItems(opening, (after) => list.slice(context, { ...asked, first, after })),
    place,
  )
  const next = async () => (await rows.next()).value ?? null
  return { head: await next(), next, total }
}

async function* readItems<Item extends MerchantListRow>(
  opening: Slice<Item>,
  read: (after: string) => MaybePromise<Slice<Item>>,
): AsyncGenerator<Item, undefined> {
  for (let slice = opening; ; ) {
    yield* slice.items
    const last = slice.items.at(-1)
    if (!slice.hasNextPage || last === undefined) return
    slice = await read(slice.cursorOf(last))
  }
}

/** The rows behind a place, those of one time in the order of their ids, in which a list need not have them. */
async function* rowsAfter<Item extends MerchantListRow>(
  rows: AsyncIterable<Item>,
  place: RowPosition | null,
): AsyncGenerator<Item, undefined> {
  let together: Item[] = []
  for await (const row of rows) {
    if (place !== null && compareRows(row, place) <= 0) continue
    if (together[0] !== undefined && together[0].createdAt !== row.createdAt) {
      yield* together.toSorted(compareRows)
      together = []
    }
    together.push(row)
  }
  yield* together.toSorted(compareRows)
}

/** Newest first; what is not there comes last. */
function compareRows(one: RowPosition | null, other: RowPosition | null): number {
  if (one === null || other === null) return Number(one === null) - Number(other === null)
  if (one.createdAt !== other.createdAt) return one.createdAt > other.createdAt ? -1 : 1
  return one.id === other.id ? 0 : one.id > other.id ? -1 : 1
}

function encodeCursor({ createdAt, id }: RowPosition): string {
  return Buffer.from(`${createdAt} ${id}`).toString('base64url')
}

function decodeCursor(after: string): RowPosition {
  const [createdAt = '', id = ''] = Buffer.from(after, 'base64url').toString('latin1').split(' ')
  if (Number.isFinite(Date.parse(createdAt)) && parseUuid(id) !== null) return { createdAt, id }
  const message = 'must be the `next` of a list of all merchants'
  throw invalidInput([{ field: 'after', code: 'INVALID_PARAMETER', message }])
}

/** Just behind the rows of a time, of which some may not have been shown. */
function justAfter({ createdAt }: RowPosition): string {
  return timestamp(Date.parse(createdAt) + 1)
}

function earlierTime(one: string | undefined, other: string): string {
  return one !== undefined && Date.parse(one) < Date.parse(other) ? one : other
}
