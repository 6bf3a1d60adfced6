import DataLoader from 'dataloader'
import type { Context } from '../context.ts'
import type { GraphqlContext } from './graphql-context.ts'

/**
 * Loads rows by key for one request: one query for all that are asked for together, and none for what is there already.
 *
 * What is there is given at once and not as a promise, because an executor pays for every promise of every row.
 */
export type Loader<Value> = {
  readonly load: (key: string) => Value | Promise<Value>
  /** Loads what a list is about to ask for, in one query. */
  readonly preload: (keys: readonly string[]) => Promise<void>
}

/** The loader of the request that a context belongs to. */
export type LoaderOf<Value> = (context: GraphqlContext) => Loader<Value>

/** A type with the loader of its objects by their id. */
export type Loaded<Row> = { readonly loader: LoaderOf<Row | null> }

/**
 * A loader of something of each of many rows that depends on arguments, such as a slice of a list: one query for all rows
 * that ask with the same ones.
 */
export function loaderWith<Arguments extends object, Value>(
  find: (context: Context, keys: readonly string[], given: Arguments) => Promise<ReadonlyMap<string, Value>>,
): (context: GraphqlContext, given: Arguments) => Loader<Value> {
  return (context, given) => {
    const loaders = (context.loaders.get(find) ?? new Map()) as Map<string, Loader<Value>>
    context.loaders.set(find, loaders)
    const name = JSON.stringify(given)
    const known = loaders.get(name)
    if (known) return known
    const made = newLoader(async (keys) => {
      const found = await find(context.rows, keys, given)
      return (key) => found.get(key) as Value
    })
    loaders.set(name, made)
    return made
  }
}

/** A loader of rows by their own id: `null` for what is not there or not the merchant's. */
export function loaderById<Row extends { readonly id: string }>(
  find: (context: Context, ids: readonly string[]) => Promise<readonly Row[]>,
): LoaderOf<Row | null> {
  return loaderOf<Row | null>(async (context, ids) => {
    const rows = new Map((await find(context.rows, ids)).map((row) => [row.id, row]))
    return (id) => rows.get(id) ?? null
  })
}

/** A loader of the rows that belong to another, in the order in which they are found. */
export function loaderOfMany<Row>(
  find: (context: Context, keys: readonly string[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
): LoaderOf<readonly Row[]> {
  return loaderOf<readonly Row[]>(async (context, keys) => {
    const rows = Map.groupBy(await find(context.rows, keys), keyOf)
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
  // What is batched are sets of keys, so that a list costs one promise and not one for each of its rows.
  const batches = new DataLoader<readonly string[], void>(
    async (sets) => {
      const missing = [...new Set(sets.flat())].filter((key) => !loaded.has(key))
      const read = missing.length > 0 ? await find(missing) : null
      if (read) for (const key of missing) loaded.set(key, read(key))
      return sets.map(() => undefined)
    },
    { cache: false, maxBatchSize: Number.POSITIVE_INFINITY },
  )
  return {
    load: (key) =>
      loaded.has(key) ? (loaded.get(key) as Value) : batches.load([key]).then(() => loaded.get(key) as Value),
    preload: async (keys) => {
      const missing = keys.filter((key) => !loaded.has(key))
      if (missing.length > 0) await batches.load(missing)
    },
  }
}
