import type { GraphqlContext } from './graphql-context.ts'
import type { Listed, Source } from './loader.ts'

type Awaitable<Value> = Value | Promise<Value>

/** A key that is made of some columns. */
export type MadeKey = { readonly from: readonly string[]; readonly make: (row: never) => string }

/**
 * What a field shows of a row. A plan is made of it, and so is the resolver that graphql-js calls: so they can't differ.
 */
export type Shown =
  /** A column as it is, or as what is made of its value. */
  | { readonly kind: 'column'; readonly column: string; readonly as?: (value: never) => unknown }
  /** What is made of the columns `from`, which are all that `make` is handed. */
  | { readonly kind: 'made'; readonly from: readonly string[]; readonly make: (row: never) => unknown }
  /** The row itself as another type, where it `isThere`. */
  | { readonly kind: 'itself'; readonly from: readonly string[]; readonly isThere: (row: never) => boolean }
  /** What a source has for the key in a column, or that some columns make. */
  | { readonly kind: 'found'; readonly source: Source<unknown>; readonly key: string | MadeKey }
  /** A slice of a list: of the row as its parent, or of whatever is asked for. */
  | {
      readonly kind: 'sliced'
      readonly list: Listed
      readonly parent: Parent | null
      readonly inputOf: (given: never) => object
    }
  /** Something of a slice, or of one of its edges. */
  | {
      readonly kind: 'ofSlice'
      readonly gives: 'items' | 'edges' | 'cursor' | 'total'
      readonly read: (row: never) => unknown
    }
  /** What an operation answers. */
  | { readonly kind: 'asked'; readonly ask: (context: GraphqlContext, given: never) => unknown }
  /** What a source has for the id that the arguments come to; `null` for none. */
  | {
      readonly kind: 'named'
      readonly source: Source<unknown>
      readonly idOf: (context: GraphqlContext, given: never) => Awaitable<string | null>
    }
  /** Nodes of any type by their ids: one, or a list of them. */
  | { readonly kind: 'nodes'; readonly idsOf: (given: never) => string | readonly string[] }

/** A kind of thing that has a list of its own, and what gives those of many. */
export type Parent = { readonly name: string; readonly slices: ReturnType<Listed['slicesOf']> }

/** What tells of which of its types a row of a union or an interface is. */
export type Told = { readonly from: readonly string[]; readonly typeOf: (row: never) => string }
