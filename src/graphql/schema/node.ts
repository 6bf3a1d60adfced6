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

/** Where the nodes of each type come from, and what the local part of their global ids stands for. */
export const nodeSources = new Map<string, NodeSource>()

/** `read` is the key that a text says; `null` for what can't be one. */
export type NodeSource = {
  readonly source: KeyedSource<object | null>
  readonly parseKey: (text: string) => string | null
}

const Node = builder.nodeInterfaceRef()

/** The most nodes that one field fetches. */
const maxNodes = 100

/** The type of nodes, with what loads them. */
export type NodeType<Row> = ObjectRef<SchemaTypes, Row> & WithSource<Row>

/** By what a row is told from others: the columns that it is made of, and how it is read; `null` for what can't be one. */
type NodeKey<Row> = {
  readonly from: readonly (keyof Row & string)[]
  readonly keyOf: (row: Row) => string
  readonly parse: (text: string) => string | null
}

type NodeDeclaration<Row> = ObjectDeclaration<Row> &
  WithSource<Row> &
  // A row has a UUID, or says what it has instead.
  (Row extends { readonly id: string } ? { readonly key?: NodeKey<Row> } : { readonly key: NodeKey<Row> })

const uuidKey: NodeKey<{ readonly id: string }> = { from: ['id'], keyOf: ({ id }) => id, parse: parseUuid }

/** Declares a type of rows that `node` and `nodes` find by their id. */
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

function idField<Row>(type: string, { from, keyOf: of }: NodeKey<Row>): ObjectField<Row> {
  const make = (row: Row) => toGlobalId(type, of(row))
  // There is one of nearly every row of an answer.
  const ofUuid: FieldSource = { kind: 'column', column: 'id', transform: (id: string) => toGlobalId(type, id) }
  return {
    type: 'ID',
    isNullable: false,
    description: idDescription,
    fieldSource: (of as unknown) === uuidKey.keyOf ? ofUuid : { kind: 'made', from, make },
    resolve: make,
  }
}

type NodeUnionDeclaration<Row> = WithSource<Row> & {
  readonly description: string
  readonly types: readonly { readonly name: string }[]
  /** The columns that say of which of them a row is, and which that is. */
  readonly from: readonly (keyof Row & string)[]
  readonly typeOf: (row: Row) => { readonly name: string }
}

/** Declares a union of node types, whose ids are those of any of them. */
export function nodeUnion<Row>(
  name: string,
  { description, types, from, typeOf, source }: NodeUnionDeclaration<Row>,
): UnionRef<SchemaTypes, Row> & WithSource<Row> {
  registerUnion(
    name,
    types.map(({ name }) => name),
  )
  const resolveType = (row: Row) => typeOf(row).name
  const told: RowTypeResolver = { from, typeOf: resolveType }
  const type = builder.unionType(name, { description, types, resolveType, extensions: { told } } as never)
  return Object.assign(type, { source }) as never
}

/** Adds the query of one node by its id. */
export function addNodeQuery<Row>(
  name: string,
  type: WithSource<Row> & OutputType<SchemaTypes> & { readonly name: string },
): void {
  const noun = humanizeTypeName(type.name)
  const description = `One ${noun}; null when it does not exist or is not visible.`
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
    description: 'Anything by its global id, or by its UUID; null for what does not exist or is not visible.',
    args: { id: t.arg.id({ required: true, description: 'A global id, or a UUID.' }) },
    extensions: { shown: nodeFieldSource },
    resolve: (_, { id }, context) => findNode(context, id),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: `Several things by their ids, at most ${maxNodes}, in the order of the ids; null for each that does not exist or is not visible.`,
    args: { ids: t.arg.idList({ required: true, description: `At most ${maxNodes} global ids or UUIDs.` }) },
    extensions: { shown: nodesFieldSource },
    resolve: (_, { ids }, context) => Promise.all(requireNodeLimit(ids).map((id) => findNode(context, id))),
  }),
}))

function requireNodeLimit(ids: readonly string[]): readonly string[] {
  if (ids.length <= maxNodes) return ids
  throw invalidInput([{ field: 'ids', code: 'INVALID_PARAMETER', message: `must have at most ${maxNodes} items` }])
}

/** What an id may stand for: a type of nodes, and the key there. */
export type NodeReference = { readonly type: string; readonly key: string }

/** What a global id stands for. A bare UUID does not say what it is of: it may be of any type. */
export function nodeCandidatesOf(given: string): NodeReference[] {
  const parsed = parseGlobalId(given)
  const uuid = parseUuid(given)
  const candidates = parsed ? [parsed] : uuid ? [...nodeSources.keys()].map((type) => ({ type, id: uuid })) : []
  return candidates.flatMap(({ type, id }) => {
    const key = nodeSources.get(type)?.parseKey(id) ?? null
    return key === null ? [] : [{ type, key }]
  })
}

async function findNode(context: GraphqlContext, given: string): Promise<object | null> {
  const found = await Promise.all(
    nodeCandidatesOf(given).map(async ({ type, key }) => {
      const { source } = nodeSources.get(type) as NodeSource
      const node = await loaderOfSource(context, source).load(key)
      if (node) brandWithType(node, type as never)
      return node
    }),
  )
  return found.find((node) => node !== null) ?? null
}
