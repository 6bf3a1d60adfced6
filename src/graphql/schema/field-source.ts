import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { SliceRequest } from '../../lists/slice.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { KeyedSource, NodeList } from './loader.ts'

/** A key that is made of some columns. */
type ComputedKey = { readonly from: readonly string[]; readonly make: (row: never) => string }

/**
 * What a field shows of a row. A plan is made of it, and so is the resolver that graphql-js calls: so they can't differ.
 */
export type FieldSource = RowFieldSource | SliceFieldSource | RootFieldSource

/** The scope that each kind of field needs, whatever it is a field of. A mutation's own scope is its operation's. */
export const scopeByFieldSource: Readonly<Record<FieldSource['kind'], Scope | null>> = {
  column: null,
  made: null,
  itself: null,
  ofSlice: null,
  found: 'read',
  sliced: 'read',
  asked: 'read',
  named: 'read',
  nodes: 'read',
}

/** What a field without arguments shows. */
export type RowFieldSource =
  /** A column as it is, or as what is made of its value. */
  | { readonly kind: 'column'; readonly column: string; readonly transform?: (value: never) => unknown }
  /** What is made of the columns `from`, which are all that `make` is handed. */
  | { readonly kind: 'made'; readonly from: readonly string[]; readonly make: (row: never) => unknown }
  /** The row itself as another type, where it `isThere`. */
  | { readonly kind: 'itself'; readonly from: readonly string[]; readonly isPresent: (row: never) => boolean }
  /** What a source has for the key in a column, or that some columns make. */
  | { readonly kind: 'found'; readonly source: KeyedSource<unknown>; readonly key: string | ComputedKey }
  /** Something of a slice, or of one of its edges. */
  | {
      readonly kind: 'ofSlice'
      readonly part: 'items' | 'edges' | 'cursor' | 'total'
      readonly read: (row: never) => unknown
    }

/** A slice of a list: of the row as its parent, or of whatever is asked for. */
export type SliceFieldSource = {
  readonly kind: 'sliced'
  readonly list: NodeList
  readonly parent: SliceParent | null
  readonly inputOf: (given: never) => object
  /**
   * Parses the arguments without reading anything, and gives the cursors among them.
   *
   * @throws Refusal INVALID_INPUT under the arguments' names
   */
  readonly parse: (given: never) => Pick<SliceRequest, 'after' | 'before'>
}

/** What a field of the queries or the mutations shows, which may take any arguments. */
type RootFieldSource =
  /** What an operation answers. */
  | { readonly kind: 'asked'; readonly ask: (context: GraphqlContext, given: never) => unknown }
  /** What a source has for the id that the arguments come to; `null` for none. */
  | {
      readonly kind: 'named'
      readonly source: KeyedSource<unknown>
      readonly idOf: (context: GraphqlContext, given: never) => MaybePromise<string | null>
    }
  /** Nodes of any type by their ids: one, or a list of them. */
  | { readonly kind: 'nodes'; readonly idsOf: (given: never) => string | readonly string[] }

/** A kind of thing that has a list of its own, and what gives those of many. */
type SliceParent = { readonly name: string; readonly slices: ReturnType<NodeList['slicesOf']> }

/** What tells of which of its types a row of a union or an interface is. */
export type RowTypeResolver = { readonly from: readonly string[]; readonly typeOf: (row: never) => string }
