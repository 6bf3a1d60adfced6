import type { SliceRequest } from '../../lists/slice.ts'
import type { Scope } from '../../operations/access/scopes.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { KeyedSource, NodeList } from './loader.ts'

type Awaitable<Value> = Value | Promise<Value>

type ComputedKey = { readonly from: readonly string[]; readonly make: (row: never) => string }

/** A field's plan and its graphql-js resolver derive from the field's source. */
export type FieldSource = RowFieldSource | ConnectionFieldSource | RootFieldSource

/** A mutation also requires the scope of its operation. */
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
  | { readonly kind: 'computed'; readonly from: readonly string[]; readonly compute: (row: never) => unknown }
  | { readonly kind: 'sameRow'; readonly from: readonly string[]; readonly isPresent: (row: never) => boolean }
  | { readonly kind: 'related'; readonly source: KeyedSource<unknown>; readonly key: string | ComputedKey }
  | {
      readonly kind: 'slicePart'
      readonly part: 'items' | 'edges' | 'cursor' | 'total'
      readonly read: (row: never) => unknown
    }

export type ConnectionFieldSource = {
  readonly kind: 'connection'
  readonly list: NodeList
  readonly parent: ConnectionParent | null
  readonly inputOf: (args: never) => object
  /**
   * Reads nothing from the database.
   *
   * @throws DomainError INVALID_INPUT with the names of the arguments
   */
  readonly parse: (args: never) => Pick<SliceRequest, 'after' | 'before'>
}

type RootFieldSource =
  | { readonly kind: 'resolver'; readonly resolve: (context: GraphqlContext, args: never) => unknown }
  | {
      readonly kind: 'nodeById'
      readonly source: KeyedSource<unknown>
      readonly idOf: (context: GraphqlContext, args: never) => Awaitable<string | null>
    }
  | { readonly kind: 'nodes'; readonly idsOf: (args: never) => string | readonly string[] }

type ConnectionParent = { readonly name: string; readonly slices: ReturnType<NodeList['slicesOf']> }

/** Determines the object type of a row of an interface or union. */
export type RowTypeResolver = { readonly from: readonly string[]; readonly typeOf: (row: never) => string }
