import { brandWithType } from '@pothos/core'
import { invalidInput } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import { builder } from './builder.ts'
import { globalId, parseGlobalId } from './global-ids.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { LoaderOf } from './loader.ts'

/** Finds a node by the local part of its global id: `null` for what is not there, not visible, or no id. */
type FindNode = (context: GraphqlContext, id: string) => Promise<object | null> | object | null

const nodeTypes = new Map<string, FindNode>()

export const Node = builder.nodeInterfaceRef()

/** The most nodes that one field fetches. */
export const mostNodes = 100

/** Makes rows of a type nodes that `node` and `nodes` find by their UUID. */
export function addNodeType<Row extends object>(type: string, loader: LoaderOf<Row | null>): void {
  addNodeTypeWith(type, (context, id) => {
    const uuid = parseUuid(id)
    return uuid === null ? null : loader(context).load(uuid)
  })
}

/** The same for nodes whose id is no UUID. */
export function addNodeTypeWith(type: string, find: FindNode): void {
  nodeTypes.set(type, find)
}

/** The `id` of a node type. */
export function nodeId<Row>(type: string, idOf: (row: Row) => string) {
  return {
    type: 'ID' as const,
    description: 'The global id: opaque, unique among all types, and the same for ever.',
    extensions: { columns: ['id'] },
    resolve: (row: Row) => globalId(type, idOf(row)),
  }
}

/** How an argument that takes an id describes itself. */
export function idDescription(noun: string): string {
  return `The ${noun}: its global id, or its UUID.`
}

builder.queryFields((t) => ({
  node: t.field({
    type: Node,
    nullable: true,
    description: 'Anything by its global id, or by its UUID; null for what does not exist or is not visible.',
    args: { id: t.arg.id({ required: true, description: 'A global id, or a UUID.' }) },
    resolve: (_, { id }, context) => findNode(context, id),
  }),
  nodes: t.field({
    type: [Node],
    nullable: { list: false, items: true },
    description: `Several things by their ids, at most ${mostNodes}, in the order of the ids; null for each that does not exist or is not visible.`,
    args: { ids: t.arg.idList({ required: true, description: `At most ${mostNodes} global ids or UUIDs.` }) },
    resolve: (_, { ids }, context) => {
      if (ids.length > mostNodes) {
        throw invalidInput([
          { field: 'ids', code: 'INVALID_PARAMETER', message: `must have at most ${mostNodes} items` },
        ])
      }
      return Promise.all(ids.map((id) => findNode(context, id)))
    },
  }),
}))

async function findNode(context: GraphqlContext, given: string): Promise<object | null> {
  const parsed = parseGlobalId(given)
  const uuid = parseUuid(given)
  // A bare UUID does not say what it is of: it is looked for among all types, in one query each.
  const candidates = parsed
    ? [[parsed.type, parsed.id] as const]
    : uuid
      ? [...nodeTypes.keys()].map((type) => [type, uuid] as const)
      : []
  const found = await Promise.all(
    candidates.map(async ([type, id]) => {
      const node = await nodeTypes.get(type)?.(context, id)
      if (node) brandWithType(node, type as never)
      return node ?? null
    }),
  )
  return found.find((node) => node !== null) ?? null
}
