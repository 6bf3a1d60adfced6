import { sql } from 'kysely'
import type { MaybePromise } from '../core/maybe-promise.ts'
import { mapMaybe } from '../core/maybe-promise.ts'
import type { Params, Reader, Tx } from '../database/query.ts'
import { insertInto, listParam, query, queryOne, selectFrom, statement } from '../database/query.ts'

/**
 * Identifies a list whose rows can be deleted, so that the sequence numbers have gaps. `list_counts` stores how many
 * rows the list has in each block of 32, 32² and 32³ sequence numbers, and in total. A page is found by skipping whole
 * blocks instead of rows.
 */
export type CountedListKey = { readonly merchantId: string; readonly list: string }

/** The block sizes are sorted largest first. `wholeListBlockSize` means one block for the whole list. */
export const blockSizes = [32_768, 1_024, 32]
export const wholeListBlockSize = 0

/** Sequence numbers fit in 31 bits. */
const maxBlock = 2_147_483_647

const blockBatchSize = 8

/** A query for the page starts at the sequence number `fromSequence`, and skips `skip` rows (fewer than 32). */
export type PageStart = { readonly fromSequence: number; readonly skip: number }

export async function updateListCounts(
  tx: Tx,
  { lists, ...row }: { merchantId: string; lists: readonly string[]; sequence: number; change: number },
): Promise<void> {
  for (const list of lists) await addToBlocks(tx, { ...row, list })
}

export function readListCount(db: Reader, { merchantId, list }: CountedListKey): MaybePromise<number> {
  return mapMaybe(
    findBlockCount(db, { merchantId, list, blockSize: wholeListBlockSize, block: 0 }),
    (row) => row?.rowCount ?? 0,
  )
}

/** Returns `null` if the list has at most `offset` rows. */
export async function findPageStart(
  db: Reader,
  { merchantId, list, total, offset }: CountedListKey & { total: number; offset: number },
): Promise<PageStart | null> {
  let scope: BlockRange = { first: 0, last: maxBlock, rowCount: total }
  let skip = offset
  let fromSequence = 0
  for (const [level, blockSize] of blockSizes.entries()) {
    const position = await findBlock(db, { merchantId, list, blockSize, scope, skip })
    if (!position) return null
    const { block, rowCount } = position
    skip = position.skip
    fromSequence = (block + 1) * blockSize - 1
    const parts = blockSize / (blockSizes[level + 1] ?? blockSize)
    scope = { first: block * parts, last: (block + 1) * parts - 1, rowCount }
  }
  return { fromSequence, skip }
}

type BlockRange = { readonly first: number; readonly last: number; readonly rowCount: number }

type BlockPosition = { readonly block: number; readonly rowCount: number; readonly skip: number }

async function findBlock(
  db: Reader,
  { merchantId, list, blockSize, scope, skip }: CountedListKey & { blockSize: number; scope: BlockRange; skip: number },
): Promise<BlockPosition | null> {
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

/** In SQL, `/` between integers is an integer division. */
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

/**
 * A parent object whose list never had a row is absent from the result.
 *
 * @param parents the parents' ids, by the name of each parent's list
 */
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
