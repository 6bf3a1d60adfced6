import type { ObjectRef, OutputType, UnionRef } from '@pothos/core'
import { brandWithType } from '@pothos/core'
import { invalidInput } from '../../core/errors.ts'
import { parseUuid } from '../../core/ids-and-clock.ts'
import type { SchemaTypes } from './builder.ts'
import { builder, idDescription } from './builder.ts'
import type { FieldSource, RowTypeResolver } from './field-source.ts'
import type { ObjectDeclaration, ObjectField } from './fields.ts'
import { addQuery, buildFields, nodeQueryField } from './fields.ts'
import { parseGlobalId, registerUnion, toGlobalId } from './global-ids.ts'
import type { GraphqlContext } from './graphql-context.ts'
import { humanizeTypeName, requiredId } from './inputs.ts'
import type { KeyedSource, WithSource } from './loader.ts'
import { loaderOfSource } from './loader.ts'

export const nodeSources = new Map<string, NodeSource>()

export type NodeSource = {
  readonly source: KeyedSource<object | null>
  readonly parseKey: (text: string) => string | null
}

const Node = builder.nodeInterfaceRef()

const maxNodes = 100

export type NodeType<Row> = ObjectRef<SchemaTypes, Row> & WithSource<Row>

type NodeKey<Row> = {
  readonly from: readonly (keyof Row & string)[]
  readonly keyOf: (row: Row) => string
  readonly parse: (text: string) => string | null
}

type NodeDeclaration<Row> = ObjectDeclaration<Row> &
  WithSource<Row> &
  // `key` is optional for rows whose `id` is a UUID.
  (Row extends { readonly id: string } ? { readonly key?: NodeKey<Row> } : { readonly key: NodeKey<Row> })

const uuidKey: NodeKey<{ readonly id: string }> = { from: ['id'], keyOf: ({ id }) => id, parse: parseUuid }

export function nodeType<Row extends object>(
  name: string,
  { description, fields, source, key = uuidKey as never }: NodeDeclaration<Row>,
): NodeType<Row> {
  const type = builder.objectRef<Row>(name).implement({
    description,
    interfaces: [Node],
    fields: buildFields({ id: idField(name, key), ...fields }),
  })
  nodeSources.set(name, { source, parseKey: key.parse })
  return Object.assign(type, { source })
}

function idField<Row>(type: string, { from, keyOf }: NodeKey<Row>): ObjectField<Row> {
  const compute = (row: Row) => toGlobalId(type, keyOf(row))
  // Reading a column is faster than computing a value, and nearly every row in a response has an id.
  const uuidSource: FieldSource = { kind: 'column', column: 'id', transform: (id: string) => toGlobalId(type, id) }
  return {
    type: 'ID',
    isNullable: false,
    description: idDescription,
    fieldSource: (keyOf as unknown) === uuidKey.keyOf ? uuidSource : { kind: 'computed', from, compute },
    resolve: compute,
  }
}

type RowUnionDeclaration<Row> = {
  readonly description: string
  readonly types: readonly { readonly name: string }[]
  readonly from: readonly (keyof Row & string)[]
  readonly typeOf: (row: Row) => { readonly name: string }
}

export function nodeUnion<Row>(
  name: string,
  { source, ...declaration }: RowUnionDeclaration<Row> & WithSource<Row>,
): UnionRef<SchemaTypes, Row> & WithSource<Row> {
  registerUnion(
    name,
    declaration.types.map(({ name }) => name),
  )
  return Object.assign(rowUnion(name, declaration), { source }) as never
}

/** Declares a union whose rows cannot be found by one key. */
export function rowUnion<Row>(
  name: string,
  { description, types, from, typeOf }: RowUnionDeclaration<Row>,
): UnionRef<SchemaTypes, Row> {
  const resolveType = (row: Row) => typeOf(row).name
  const rowType: RowTypeResolver = { from, typeOf: resolveType }
  return builder.unionType(name, { description, types, resolveType, extensions: { rowType } } as never) as never
}

export function addNodeQuery<Row>(
  name: string,
  type: WithSource<Row> & OutputType<SchemaTypes> & { readonly name: string },
): void {
  const noun = humanizeTypeName(type.name)
  const description = `One ${noun}; null if it does not exist or is not visible.`
  addQuery(
    name,
    nodeQueryField(type, description, { id: requiredId(type.name) }, ({ id }) => parseUuid(id)),
  )
}

const nodeFieldSource: FieldSource = { kind: 'nodes', idsOf: ({ id }: { readonly id: string }) => id }
const nodesFieldSource: FieldSource = {
  kind: 'nodes',
  idsOf: ({ ids }: { readonly ids: readonly string[] }) => requireNodeLimit(ids),
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description: 'A node by its global id or its UUID; null if it does not exist or is not visible.',
    args: { id: t.arg.id({ required: true, description: 'A global id, or a UUID.' }) },
    extensions: { fieldSource: nodeFieldSource },
    resolve: (_, { id }, context) => findNode(context, id),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: `Up to ${maxNodes} nodes by their ids, in the same order; null for each that does not exist or is not visible.`,
    args: { ids: t.arg.idList({ required: true, description: `At most ${maxNodes} global ids or UUIDs.` }) },
    extensions: { fieldSource: nodesFieldSource },
    resolve: (_, { ids }, context) => Promise.all(requireNodeLimit(ids).map((id) => findNode(context, id))),
  }),
}))

function requireNodeLimit(ids: readonly string[]): readonly string[] {
  if (ids.length <= maxNodes) return ids
  throw invalidInput([{ field: 'ids', code: 'INVALID_PARAMETER', message: `must have at most ${maxNodes} items` }])
}

export type NodeReference = { readonly type: string; readonly key: string }

/** Returns one node for a global id, or one node of each type for a UUID. */
export function nodeCandidatesOf(nodeId: string): NodeReference[] {
  const parsed = parseGlobalId(nodeId)
  const uuid = parseUuid(nodeId)
  const candidates = parsed ? [parsed] : uuid ? [...nodeSources.keys()].map((type) => ({ type, id: uuid })) : []
  return candidates.flatMap(({ type, id }) => {
    const key = nodeSources.get(type)?.parseKey(id) ?? null
    return key === null ? [] : [{ type, key }]
  })
}

async function findNode(context: GraphqlContext, nodeId: string): Promise<object | null> {
  const nodes = await Promise.all(
    nodeCandidatesOf(nodeId).map(async ({ type, key }) => {
      const { source } = nodeSources.get(type) as NodeSource
      const node = await loaderOfSource(context, source).load(key)
      if (node) brandWithType(node, type as never)
      return node
    }),
  )
  return nodes.find((node) => node !== null) ?? null
}
