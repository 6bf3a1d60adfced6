import { sql } from 'kysely'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { Params, Reader, Tx } from '../database/query.ts'
import { insertInto, listParam, query, queryOne, selectFrom, statement } from '../database/query.ts'

/**
 * Lists whose rows may leave: how to know their length and find any page without counting or skipping rows.
 *
 * Each row has a sequence number. For every list we keep how many of its rows lie within each block of 32 numbers, each
 * block of 32², of 32³, and altogether. The row at a distance from the newest is then found by passing over whole
 * blocks, the largest first: a few hundred narrow rows at a million, where an OFFSET would walk over all of them.
 */
export type CountedListKey = { readonly merchantId: string; readonly list: string }

/** Sizes of the blocks, the largest first; `wholeList` is the one block that holds everything. */
export const blockSizes = [32_768, 1_024, 32]
export const wholeListBlockSize = 0

/** Beyond any block: sequence numbers fit in 31 bits. */
const maxBlock = 2_147_483_647

/** Blocks that one query reads: the one that is looked for is rarely further from the nearer end. */
const blockBatchSize = 8

/** Where a page begins: at or below this sequence number, after passing over `skip` (fewer than 32) rows of the list. */
export type PageStart = { readonly fromSequence: number; readonly skip: number }

/** Counts the row with this number in each list (`change` 1) or no longer (-1). */
export async function updateListCounts(
  tx: Tx,
  { lists, ...row }: { merchantId: string; lists: readonly string[]; sequence: number; change: number },
): Promise<void> {
  for (const list of lists) await addToBlocks(tx, { ...row, list })
}

/** How many rows the list has. */
export function readListCount(db: Reader, { merchantId, list }: CountedListKey): MaybePromise<number> {
  return mapMaybe(
    findBlockCount(db, { merchantId, list, blockSize: wholeListBlockSize, block: 0 }),
    (row) => row?.rowCount ?? 0,
  )
}

/** Where the page begins that follows the `offset` newest of `total` rows; `null` beyond the end. */
export async function findPageStart(
  db: Reader,
  { merchantId, list, total, offset }: CountedListKey & { total: number; offset: number },
): Promise<PageStart | null> {
  let scope: BlockRange = { first: 0, last: maxBlock, rowCount: total }
  let skip = offset
  let fromSequence = 0
  for (const [level, blockSize] of blockSizes.entries()) {
    const found = await findBlock(db, { merchantId, list, blockSize, scope, skip })
    if (!found) return null
    skip = found.skip
    fromSequence = (found.block + 1) * blockSize - 1
    const parts = blockSize / (blockSizes[level + 1] ?? blockSize)
    scope = { first: found.block * parts, last: (found.block + 1) * parts - 1, rowCount: found.rowCount }
  }
  return { fromSequence, skip }
}

/** Blocks of one size, the first to the last, that together hold `rowCount` rows of the list. */
type BlockRange = { readonly first: number; readonly last: number; readonly rowCount: number }

type FoundBlock = { readonly block: number; readonly rowCount: number; readonly skip: number }

/** The block that holds the row after `skip` newer ones of the scope, looked for from whichever end is nearer. */
async function findBlock(
  db: Reader,
  { merchantId, list, blockSize, scope, skip }: CountedListKey & { blockSize: number; scope: BlockRange; skip: number },
): Promise<FoundBlock | null> {
  const isNearEnd = skip * 2 > scope.rowCount
  const blocksFrom = isNearEnd ? blocksAscending : blocksDescending
  let rest = isNearEnd ? scope.rowCount - 1 - skip : skip
  let { first, last } = scope
  while (first <= last) {
    const blocks = await blocksFrom(db, { merchantId, list, blockSize, first, last, limit: blockBatchSize })
    for (const { block, rowCount } of blocks) {
      if (rest < rowCount) return { block, rowCount, skip: isNearEnd ? rowCount - 1 - rest : rest }
      rest -= rowCount
    }
    const reached = blocks.length === blockBatchSize ? blocks.at(-1) : undefined
    if (reached === undefined) return null
    if (isNearEnd) first = reached.block + 1
    else last = reached.block - 1
  }
  return null
}

/** Adds to the block of each size that holds a sequence number: integers are divided, so the quotient is whole. */
const addToBlocks = statement((p: Params<CountedListKey & { sequence: number; change: number }>) =>
  insertInto('listCounts')
    .values(
      [wholeListBlockSize, ...blockSizes].map((blockSize) => ({
        merchantId: p.merchantId,
        list: p.list,
        blockSize,
        block: blockSize === wholeListBlockSize ? 0 : sql<number>`${p.sequence} / ${sql.lit(blockSize)}`,
        rowCount: p.change,
      })),
    )
    .onConflict((conflict) =>
      conflict
        .columns(['merchantId', 'list', 'blockSize', 'block'])
        .doUpdateSet({ rowCount: sql`list_counts.row_count + excluded.row_count` }),
    ),
)

const findBlockCount = queryOne((p: Params<CountedListKey & { blockSize: number; block: number }>) =>
  selectFrom('listCounts')
    .select('rowCount')
    .where('merchantId', '=', p.merchantId)
    .where('list', '=', p.list)
    .where('blockSize', '=', p.blockSize)
    .where('block', '=', p.block),
)

type BlockRangeParams = CountedListKey & { blockSize: number; first: number; last: number; limit: number }

const blocksDescending = query((p: Params<BlockRangeParams>) => selectBlocks(p).orderBy('block', 'desc'))

const blocksAscending = query((p: Params<BlockRangeParams>) => selectBlocks(p).orderBy('block'))

function selectBlocks(p: BlockRangeParams) {
  return selectFrom('listCounts')
    .select(['block', 'rowCount'])
    .where('merchantId', '=', p.merchantId)
    .where('list', '=', p.list)
    .where('blockSize', '=', p.blockSize)
    .where('block', '>=', p.first)
    .where('block', '<=', p.last)
    .limit(p.limit)
}

/** How many rows each parent's list has, by the parent; one whose list never had any is not there. */
export async function readCountsByParent(
  db: Reader,
  { merchantId, parents }: { merchantId: string; parents: ReadonlyMap<string, string> },
): Promise<ReadonlyMap<string, number>> {
  const counts = await findListCounts(db, { merchantId, lists: [...parents.keys()] })
  return new Map(counts.map(({ list, rowCount }) => [parents.get(list) ?? '', rowCount]))
}

const findListCounts = query((p: Params<{ merchantId: string; lists: readonly string[] }>) =>
  selectFrom('listCounts')
    .select(['list', 'rowCount'])
    .where('merchantId', '=', p.merchantId)
    .where('list', 'in', listParam(p.lists))
    .where('blockSize', '=', wholeListBlockSize)
    .where('block', '=', 0),
)
