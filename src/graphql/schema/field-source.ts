import type { SliceRequest } from '../../lists/slice.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { KeyedSource, NodeList } from './loader.ts'

type Awaitable<Value> = Value | Promise<Value>

type ComputedKey = { readonly from: readonly string[]; readonly make: (row: never) => string }

/**
 * Where a field gets its value. Its plan and its resolver for graphql-js both derive from this, so they can't differ.
 * Stored as the extension `fieldSource` of the schema's field.
 */
export type FieldSource = RowFieldSource | ConnectionFieldSource | RootFieldSource

/** The scope that each kind of source requires, on any type. A mutation requires its operation's scope as well. */
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

/** Sources of fields without arguments. */
export type RowFieldSource =
  /** A column, optionally transformed. */
  | { readonly kind: 'column'; readonly column: string; readonly transform?: (value: never) => unknown }
  /** A function of the columns `from`; `compute` receives no others. */
  | { readonly kind: 'computed'; readonly from: readonly string[]; readonly compute: (row: never) => unknown }
  /** The same row as an object of another type, or null. */
  | { readonly kind: 'sameRow'; readonly from: readonly string[]; readonly isPresent: (row: never) => boolean }
  /** The value that `source` has for a key: a column, or a function of some columns. */
  | { readonly kind: 'related'; readonly source: KeyedSource<unknown>; readonly key: string | ComputedKey }
  /** A part of a slice, or of one of its edges. */
  | {
      readonly kind: 'slicePart'
      readonly part: 'items' | 'edges' | 'cursor' | 'total'
      readonly read: (row: never) => unknown
    }

/** A slice of a list: of the rows that belong to a parent row, or of all of the merchant's. */
export type ConnectionFieldSource = {
  readonly kind: 'connection'
  readonly list: NodeList
  readonly parent: ConnectionParent | null
  readonly inputOf: (args: never) => object
  /**
   * Parses the arguments without reading anything, and returns the cursors among them.
   *
   * @throws DomainError INVALID_INPUT with the names of the arguments
   */
  readonly parse: (args: never) => Pick<SliceRequest, 'after' | 'before'>
}

/** Sources of fields of the root types, which may have any arguments. */
type RootFieldSource =
  /** The result of a function. */
  | { readonly kind: 'resolver'; readonly resolve: (context: GraphqlContext, args: never) => unknown }
  /** The node of a source with the id that `idOf` computes from the arguments; null without one. */
  | {
      readonly kind: 'nodeById'
      readonly source: KeyedSource<unknown>
      readonly idOf: (context: GraphqlContext, args: never) => Awaitable<string | null>
    }
  /** Nodes of any type by their ids: one, or a list of them. */
  | { readonly kind: 'nodes'; readonly idsOf: (args: never) => string | readonly string[] }

/** A type of rows that own lists of others; `slices` reads those of many parents in one query. */
type ConnectionParent = { readonly name: string; readonly slices: ReturnType<NodeList['slicesOf']> }

/** Determines the object type of a row of a union or an interface. Stored as the extension `rowType` of the abstract type. */
export type RowTypeResolver = { readonly from: readonly string[]; readonly typeOf: (row: never) => string }
