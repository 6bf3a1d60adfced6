import type { Slice } from '../slice.ts'
import { slicesOf } from '../slice.ts'
import type { Created } from './created-range.ts'
import { countLimit } from './created-range.ts'

/** What a query for the lists of many parents binds beside its own filters. */
type EachRange = {
  readonly parentIds: readonly string[]
  readonly limit: number
  readonly createdFrom: string | undefined
  readonly createdBefore: string | undefined
}

/** The lists that many parents have, as `sequencedList` describes one; see `each.ts` for the queries. */
export type ListsOfParents<Item> = {
  readonly parentIds: readonly string[]
  readonly parentIdOf: (item: Item) => string
  /** The name of a parent's list, the same as where it is asked for alone. */
  readonly nameOf: (parentId: string) => readonly unknown[]
  readonly sequenceOf: (item: Item) => number
  readonly created: Created
  readonly rows: (range: EachRange & { readonly isAscending: true | undefined }) => Promise<Item[]>
  readonly counts: (range: EachRange) => Promise<readonly { readonly id: string; readonly total: number }[]>
  /** How many rows each list has at all times, where that is kept. */
  readonly keptTotals?: (() => Promise<ReadonlyMap<string, number>>) | null
}

/** The same slice of each parent's list, from as many queries as one list takes. */
export function slicesOfEach<Item>(
  lists: ListsOfParents<Item>,
  { first, last }: { first: number | null; last: number | null },
): Promise<ReadonlyMap<string, Slice<Item>>> {
  const { parentIds, parentIdOf, nameOf, sequenceOf, created, rows, counts, keptTotals } = lists
  const times = { createdFrom: created.createdFrom ?? undefined, createdBefore: created.createdBefore ?? undefined }
  const isTimed = created.createdFrom !== null || created.createdBefore !== null
  return slicesOf<Item>(
    {
      keys: parentIds,
      keyOf: parentIdOf,
      nameOf: (parentId) => [...nameOf(parentId), created],
      sequenceOf,
      rows: ({ limit, isAscending }) => rows({ parentIds, ...times, limit, isAscending: isAscending || undefined }),
      totals: async () => {
        if (keptTotals && !isTimed) return withZeros(parentIds, await keptTotals())
        const counted = await counts({ parentIds, ...times, limit: countLimit + 1 })
        const totals = counted.map(({ id, total }) => [id, Number(total)] as const)
        return new Map(totals.map(([id, total]) => [id, total > countLimit ? null : total]))
      },
    },
    { first, last, after: null, before: null },
  )
}

function withZeros(parentIds: readonly string[], totals: ReadonlyMap<string, number>): Map<string, number> {
  return new Map(parentIds.map((id) => [id, totals.get(id) ?? 0]))
}

/** The slices of several lists that are asked for one by one, because each has cursors of its own. */
export async function sliceByKey<Item>(
  keys: readonly string[],
  slice: (key: string) => Promise<Slice<Item>>,
): Promise<ReadonlyMap<string, Slice<Item>>> {
  return new Map(await Promise.all(keys.map(async (key) => [key, await slice(key)] as const)))
}
