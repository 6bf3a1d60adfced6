import DataLoader from 'dataloader'
import type { GraphqlContext } from './context.ts'

/**
 * Loads rows by key for one request: one query for all that are asked for together, and none for what is there already.
 *
 * What is there is given at once and not as a promise, because an executor pays for every promise of every row.
 */
export type Loader<Value> = {
  readonly load: (key: string) => Value | Promise<Value>
  /** Loads what a list is about to ask for, in one query. */
  readonly preload: (keys: readonly string[]) => Promise<void>
  /** Remembers what another query has brought. */
  readonly prime: (key: string, value: Value) => void
}

/** The loader of the request that a context belongs to. */
export type LoaderOf<Value> = (context: GraphqlContext) => Loader<Value>

/** A loader of rows by their own id: `null` for what is not there or not the merchant's. */
export function loaderById<Row extends { readonly id: string }>(
  find: (context: GraphqlContext, ids: readonly string[]) => Promise<readonly Row[]>,
): LoaderOf<Row | null> {
  return loaderOf<Row | null>(async (context, ids) => {
    const rows = new Map((await find(context, ids)).map((row) => [row.id, row]))
    return (id) => rows.get(id) ?? null
  })
}

/** A loader of the rows that belong to another, in the order in which they are found. */
export function loaderOfMany<Row>(
  find: (context: GraphqlContext, keys: readonly string[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
): LoaderOf<readonly Row[]> {
  return loaderOf<readonly Row[]>(async (context, keys) => {
    const rows = Map.groupBy(await find(context, keys), keyOf)
    return (key) => rows.get(key) ?? []
  })
}

/** A loader that answers `null` or the value of each key. */
export function loaderOf<Value>(
  find: (context: GraphqlContext, keys: readonly string[]) => Promise<(key: string) => Value>,
): LoaderOf<Value> {
  return (context) => {
    const known = context.loaders.get(find) as Loader<Value> | undefined
    if (known) return known
    const made = newLoader((keys) => find(context, keys))
    context.loaders.set(find, made)
    return made
  }
}

function newLoader<Value>(find: (keys: readonly string[]) => Promise<(key: string) => Value>): Loader<Value> {
  const loaded = new Map<string, Value>()
  const load = async (keys: readonly string[]) => {
    const read = await find(keys)
    for (const key of keys) loaded.set(key, read(key))
  }
  const batches = new DataLoader<string, Value>(async (keys) => {
    await load(keys)
    return keys.map((key) => loaded.get(key) as Value)
  })
  return {
    load: (key) => (loaded.has(key) ? (loaded.get(key) as Value) : batches.load(key)),
    preload: async (keys) => {
      const missing = [...new Set(keys)].filter((key) => !loaded.has(key))
      if (missing.length > 0) await load(missing)
    },
    prime: (key, value) => {
      loaded.set(key, value)
    },
  }
}
