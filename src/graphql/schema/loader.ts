import DataLoader from 'dataloader'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { ProjectedRow, Projection } from '../../database/projection.ts'
import type { ColumnNeeds } from '../../lists/define-list.ts'
import type { Slice } from '../../lists/slice.ts'
import type { Context } from '../../operations/context.ts'
import type { GraphqlContext } from './graphql-context.ts'

/** With a projection, a `find` function returns each row as an array of columns, otherwise as an object. */
export type NodeList = {
  readonly columns: (names: readonly string[], needs: ColumnNeeds<never>) => Projection
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

type AnySlice = Omit<Slice<object>, 'cursorOf'> & { readonly cursorOf: (item: never) => string }

export type KeyedSource<Value> = {
  readonly find: (context: GraphqlContext, keys: readonly string[]) => Promise<(key: string) => Value>
  readonly list?: NodeList
  readonly only?: string
}

export type WithSource<Row> = { readonly source: KeyedSource<Row | null> }

/** The result is null if the row does not exist, belongs to another merchant, or is not of the type `only`. */
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

/** One query loads all keys that are requested in one event-loop iteration. */
export type Loader<Value> = {
  readonly load: (key: string) => Promise<Value>
  readonly loadAll: (keys: readonly string[]) => Promise<(key: string) => Value>
}

export function loaderOfSource<Value>(context: GraphqlContext, source: KeyedSource<Value>): Loader<Value> {
  return getOrCreateLoader(context, source, (keys) => source.find(context, keys))
}

export function getOrCreateLoader<Value>(
  { loaders }: GraphqlContext,
  key: object,
  find: (keys: readonly string[]) => Promise<(key: string) => Value>,
): Loader<Value> {
  const known = loaders.get(key) as Loader<Value> | undefined
  if (known) return known
  const loader = createLoader(find)
  loaders.set(key, loader)
  return loader
}

function createLoader<Value>(find: (keys: readonly string[]) => Promise<(key: string) => Value>): Loader<Value> {
  const loaded = new Map<string, Value>()
  const loading = new Map<string, Promise<void>>()
  const startLoading = (keys: ReadonlySet<string>): Promise<void> => {
    const promise = find([...keys])
      .then((lookup) => {
        for (const key of keys) loaded.set(key, lookup(key))
      })
      .finally(() => {
        for (const key of keys) loading.delete(key)
      })
    for (const key of keys) loading.set(key, promise)
    return promise
  }
  // A batch item is the set of keys of one list, so that a list needs one promise instead of one per row.
  const batches = new DataLoader<readonly string[], void>(
    async (sets) => {
      const missing = new Set<string>()
      // Keys that an earlier batch is loading are not requested again.
      const pending = new Set<Promise<void>>()
      for (const key of sets.flat()) {
        const promise = loading.get(key)
        if (promise) pending.add(promise)
        else if (!loaded.has(key)) missing.add(key)
      }
      if (missing.size > 0) pending.add(startLoading(missing))
      await Promise.all(pending)
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
