import { sql } from 'kysely'
import type { Page } from '../page.ts'
import { offsetOf } from '../page.ts'
import type { Params, Reader, Tx } from './query.ts'
import { from, into, query, queryOne, statement } from './query.ts'

/**
 * Lists whose rows may leave: how to know their length and find any page without counting or skipping rows.
 *
 * Each row has a sequence number. For every list we keep how many of its rows lie within each block of 64 numbers, each
 * block of 64², of 64³, and altogether. The row at a distance from the newest is then found by passing over whole
 * blocks, the largest first: a few hundred narrow rows at a million, where an OFFSET would walk over all of them.
 */
export type CountedList = { readonly merchantId: string; readonly list: string }

/** Sizes of the blocks, the largest first; `wholeList` is the one block that holds everything. */
export const blockSizes = [262_144, 4_096, 64]
export const wholeList = 0

/** Where a page begins: at or below this sequence number, after passing over `skip` (fewer than 64) rows of the list. */
export type PageStart = { readonly fromSequence: number; readonly skip: number }

/**
 * A page of a counted list: `rows` fetches up to `limit` rows at or below a sequence number, newest first.
 *
 * The total and the rows come from one snapshot.
 */
export async function pageOfList<Item>(
  db: Reader,
  { merchantId, list, page, limit }: CountedList & { page: number; limit: number },
  rows: (start: PageStart & { limit: number }) => Promise<Item[]>,
): Promise<Page<Item>> {
  const total = await countOfList(db, { merchantId, list })
  const offset = offsetOf({ page, limit })
  const start = offset === 0 ? newest : offset < total ? await seekInList(db, { merchantId, list, offset }) : null
  return { items: start && total > 0 ? await rows({ ...start, limit }) : [], total, page, limit }
}

const newest: PageStart = { fromSequence: 2_147_483_647, skip: 0 }

/** Counts the row with this number in each list (`change` 1) or no longer (-1). */
export async function countInLists(
  tx: Tx,
  {
    merchantId,
    lists,
    sequence,
    change,
  }: { merchantId: string; lists: readonly string[]; sequence: number; change: number },
): Promise<void> {
  for (const list of lists) {
    for (const blockSize of [wholeList, ...blockSizes]) {
      await addToBlock(tx, { merchantId, list, blockSize, block: blockOf(sequence, blockSize), change })
    }
  }
}

/** How many rows the list has. */
export async function countOfList(db: Reader, { merchantId, list }: CountedList): Promise<number> {
  const row = await blockCount(db, { merchantId, list, blockSize: wholeList, block: 0 })
  return row?.rowCount ?? 0
}

/** Where the page begins that follows the `offset` newest rows; `null` beyond the end. */
export async function seekInList(
  db: Reader,
  { merchantId, list, offset }: CountedList & { offset: number },
): Promise<PageStart | null> {
  let skip = offset
  let above: { size: number; block: number } | null = null
  for (const blockSize of blockSizes) {
    const blocks = await blocksDownFrom(db, {
      merchantId,
      list,
      blockSize,
      first: above ? (above.block * above.size) / blockSize : 0,
      last: above ? ((above.block + 1) * above.size) / blockSize - 1 : 2_147_483_647,
    })
    const found = blocks.find(({ rowCount }) => {
      if (skip < rowCount) return true
      skip -= rowCount
      return false
    })
    if (!found) return null
    above = { size: blockSize, block: found.block }
  }
  return above && { fromSequence: (above.block + 1) * above.size - 1, skip }
}

/** The block of this size that holds a sequence number. */
export function blockOf(sequence: number, blockSize: number): number {
  return blockSize === wholeList ? 0 : Math.floor(sequence / blockSize)
}

const addToBlock = statement((p: Params<CountedList & { blockSize: number; block: number; change: number }>) =>
  into('listCounts')
    .values({ merchantId: p.merchantId, list: p.list, blockSize: p.blockSize, block: p.block, rowCount: p.change })
    .onConflict((conflict) =>
      conflict
        .columns(['merchantId', 'list', 'blockSize', 'block'])
        .doUpdateSet({ rowCount: sql`list_counts.row_count + excluded.row_count` }),
    ),
)

const blockCount = queryOne((p: Params<CountedList & { blockSize: number; block: number }>) =>
  from('listCounts')
    .select('rowCount')
    .where('merchantId', '=', p.merchantId)
    .where('list', '=', p.list)
    .where('blockSize', '=', p.blockSize)
    .where('block', '=', p.block),
)

const blocksDownFrom = query((p: Params<CountedList & { blockSize: number; first: number; last: number }>) =>
  from('listCounts')
    .select(['block', 'rowCount'])
    .where('merchantId', '=', p.merchantId)
    .where('list', '=', p.list)
    .where('blockSize', '=', p.blockSize)
    .where('block', '>=', p.first)
    .where('block', '<=', p.last)
    .orderBy('block', 'desc'),
)
