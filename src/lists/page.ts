/** One page of a list, with the length of the whole list at the same moment. */
export type Page<Item> = {
  readonly items: readonly Item[]
  readonly total: number
  readonly page: number
  readonly limit: number
}

/** How many rows lie before a page. */
export function pageOffset({ page, limit }: { page: number; limit: number }): number {
  return (page - 1) * limit
}

/** How many pages the list has; 0 when it is empty (ruling 16). */
export function totalPages({ total, limit }: Pick<Page<unknown>, 'total' | 'limit'>): number {
  return Math.ceil(total / limit)
}
