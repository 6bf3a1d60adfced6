import DataLoader from 'dataloader'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { ProjectedRow, Projection } from '../../database/projection.ts'
import type { ColumnNeeds } from '../../lists/define-list.ts'
import type { Slice } from '../../lists/slice.ts'
import type { Context } from '../../operations/context.ts'
import type { GraphqlContext } from './graphql-context.ts'

/** A list of nodes (`lists/define-list.ts`), as far as fields need it: rows are whole, or the values of chosen columns. */
export type NodeList = {
  readonly columns: (wanted: readonly string[], needs: ColumnNeeds<never>) => Projection
  readonly find: {
    (context: Context, ids: readonly string[], columns: Projection): MaybePromise<readonly ProjectedRow[]>
    (context: Context, ids: readonly string[]): MaybePromise<readonly object[]>
  }
  readonly slice: {
    (context: Context, input: never, columns: Projection): MaybePromise<Slice<ProjectedRow>>
    (context: Context, input: never): MaybePromise<AnySlice>
  }
  readonly slicesOf: (parent: never) => {
    (
      context: Context,
      ids: readonly string[],
      input: object,
      columns: Projection,
    ): MaybePromise<ReadonlyMap<string, Slice<ProjectedRow>>>
    (context: Context, ids: readonly string[], input: object): MaybePromise<ReadonlyMap<string, AnySlice>>
  }
}

/** A slice of rows of whatever form. */
type AnySlice = Omit<Slice<object>, 'cursorOf'> & { readonly cursorOf: (item: never) => string }

/** Where the rows behind a key come from. */
export type KeyedSource<Value> = {
  /** Finds whole rows: what each of the keys stands for. */
  readonly find: (context: GraphqlContext, keys: readonly string[]) => Promise<(key: string) => Value>
  /** The list that the rows are in, of which fewer columns can be read. */
  readonly list?: NodeList
  /** The type that rows of the list must have. */
  readonly only?: string
}

/** A type with the source of its objects by their id. */
export type WithSource<Row> = { readonly source: KeyedSource<Row | null> }

/** Rows of a list by their id: `null` for what is not there or not the merchant's, or of another type than `only`. */
export function sourceOfList<Row extends { readonly id: string }>(
  list: NodeList,
  only?: string,
): KeyedSource<Row | null> {
  const { find } = sourceById(async (context, ids) => (await list.find(context, ids)) as readonly Row[])
  return {
    find: async (context, ids) => {
      const rowOf = await find(context, ids)
      return (id) => {
        const row = rowOf(id)
        return only === undefined || (row as { readonly type?: string } | null)?.type === only ? row : null
      }
    },
    list,
    ...(only !== undefined && { only }),
  }
}

/** Rows by their own id: `null` for what is not there or not the merchant's. */
export function sourceById<Row extends { readonly id: string }>(
  find: (context: Context, ids: readonly string[]) => Promise<readonly Row[]>,
): KeyedSource<Row | null> {
  return {
    find: async (context, ids) => {
      const rows = new Map((await find(context, ids)).map((row) => [row.id, row]))
      return (id) => rows.get(id) ?? null
    },
  }
}

/** The rows that belong to another, in the order in which they are found. */
export function sourceByForeignKey<Row>(
  find: (context: Context, keys: readonly string[]) => Promise<readonly Row[]>,
  keyOf: (row: Row) => string,
): KeyedSource<readonly Row[]> {
  return {
    find: async (context, keys) => {
      const rows = Map.groupBy(await find(context, keys), keyOf)
      return (key) => rows.get(key) ?? []
    },
  }
}

/** Loads by key for one request: one query for all that are asked for together, and none for what is there already. */
export type Loader<Value> = {
  readonly load: (key: string) => Promise<Value>
  /** Loads many in one query, and gives what tells each then. */
  readonly loadAll: (keys: readonly string[]) => Promise<(key: string) => Value>
}

/** The request's loader of whole rows of a source. */
export function loaderOfSource<Value>(context: GraphqlContext, source: KeyedSource<Value>): Loader<Value> {
  return getOrCreateLoader(context, source, (keys) => source.find(context, keys))
}

/** The request's loader for whatever `whose` stands for. */
export function getOrCreateLoader<Value>(
  { loaders }: GraphqlContext,
  whose: object,
  find: (keys: readonly string[]) => Promise<(key: string) => Value>,
): Loader<Value> {
  const known = loaders.get(whose) as Loader<Value> | undefined
  if (known) return known
  const made = createLoader(find)
  loaders.set(whose, made)
  return made
}

function createLoader<Value>(find: (keys: readonly string[]) => Promise<(key: string) => Value>): Loader<Value> {
  const loaded = new Map<string, Value>()
  const loading = new Map<string, Promise<void>>()
  const startLoading = (keys: ReadonlySet<string>): Promise<void> => {
    const begun = find([...keys])
      .then((read) => {
        for (const key of keys) loaded.set(key, read(key))
      })
      .finally(() => {
        for (const key of keys) loading.delete(key)
      })
    for (const key of keys) loading.set(key, begun)
    return begun
  }
  // What is batched are sets of keys, so that a list costs one promise and not one for each of its rows.
  const batches = new DataLoader<readonly string[], void>(
    async (sets) => {
      const missing = new Set<string>()
      // What an earlier batch is still waiting for is not asked for again.
      const awaited = new Set<Promise<void>>()
      for (const key of sets.flat()) {
        const begun = loading.get(key)
        if (begun) awaited.add(begun)
        else if (!loaded.has(key)) missing.add(key)
      }
      if (missing.size > 0) awaited.add(startLoading(missing))
      await Promise.all(awaited)
      return sets.map(() => undefined)
    },
    { cache: false, maxBatchSize: Number.POSITIVE_INFINITY },
  )
  const loadedValue = (key: string) => loaded.get(key) as Value
  return {
    load: (key) => batches.load([key]).then(() => loadedValue(key)),
    loadAll: async (keys) => {
      if (!keys.every((key) => loaded.has(key))) await batches.load(keys)
      return loadedValue
    },
  }
}
