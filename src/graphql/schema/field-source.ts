import type { SliceRequest } from '../../lists/slice.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { KeyedSource, NodeList } from './loader.ts'

type Awaitable<Value> = Value | Promise<Value>

type ComputedKey = { readonly from: readonly string[]; readonly make: (row: never) => string }

/**
 * The source of a field's value. The field's plan and its graphql-js resolver both derive from it. Stored as the schema
 * extension `fieldSource`.
 */
export type FieldSource = RowFieldSource | ConnectionFieldSource | RootFieldSource

/** The scope that a field requires. A mutation also requires its operation's scope. */
export const scopeByFieldSource: Readonly<Record<FieldSource['kind'], Scope | null>> = {
  column: null,
  computed: null,
  sameRow: null,
  slicePart: null,
  related: 'read',
  connection: 'read',
  resolver: 'read',
  nodeById: 'read',
  nodes: 'read',
}

export type RowFieldSource =
  | { readonly kind: 'column'; readonly column: string; readonly transform?: (value: never) => unknown }
  /** `compute` receives only the columns `from`. */
  | { readonly kind: 'computed'; readonly from: readonly string[]; readonly compute: (row: never) => unknown }
  /** The same row as an object of another type; null if `isPresent` returns false. */
  | { readonly kind: 'sameRow'; readonly from: readonly string[]; readonly isPresent: (row: never) => boolean }
  /** The key is a column, or is computed from several columns. */
  | { readonly kind: 'related'; readonly source: KeyedSource<unknown>; readonly key: string | ComputedKey }
  | {
      readonly kind: 'slicePart'
      readonly part: 'items' | 'edges' | 'cursor' | 'total'
      readonly read: (row: never) => unknown
    }

/** A connection of the rows that belong to a parent row, or of all rows of the merchant. */
export type ConnectionFieldSource = {
  readonly kind: 'connection'
  readonly list: NodeList
  readonly parent: ConnectionParent | null
  readonly inputOf: (args: never) => object
  /**
   * Returns the cursors in the arguments, without reading the database.
   *
   * @throws DomainError INVALID_INPUT with the names of the arguments
   */
  readonly parse: (args: never) => Pick<SliceRequest, 'after' | 'before'>
}

/** Root fields can have any arguments. */
type RootFieldSource =
  | { readonly kind: 'resolver'; readonly resolve: (context: GraphqlContext, args: never) => unknown }
  /** Null if `idOf` returns null. */
  | {
      readonly kind: 'nodeById'
      readonly source: KeyedSource<unknown>
      readonly idOf: (context: GraphqlContext, args: never) => Awaitable<string | null>
    }
  /** The nodes may have any type. */
  | { readonly kind: 'nodes'; readonly idsOf: (args: never) => string | readonly string[] }

/** `slices` reads the slices of many parents in one query. */
type ConnectionParent = { readonly name: string; readonly slices: ReturnType<NodeList['slicesOf']> }

/** Stored as the extension `rowType` of the abstract type. */
export type RowTypeResolver = { readonly from: readonly string[]; readonly typeOf: (row: never) => string }
