import type { ObjectRef, OutputType, UnionRef } from '@pothos/core'
import { brandWithType } from '@pothos/core'
import { invalidInput } from '../errors.ts'
import { parseUuid } from '../ids.ts'
import type { Types } from './builder.ts'
import { builder, idDescription } from './builder.ts'
import type { Field, ObjectDeclaration } from './fields.ts'
import { addQuery, askedOrNull, builtFields } from './fields.ts'
import { addUnion, globalId, parseGlobalId } from './global-ids.ts'
import type { GraphqlContext } from './graphql-context.ts'
import { requiredId, wordsOf } from './inputs.ts'
import type { Loaded } from './loader.ts'

const nodeTypes = new Map<string, FindNode>()

/** Finds a node by the local part of its global id: `null` for what is not there, not visible, or no id. */
type FindNode = (context: GraphqlContext, id: string) => Promise<object | null> | object | null

const Node = builder.nodeInterfaceRef()

/** The most nodes that one field fetches. */
const mostNodes = 100

/** The type of nodes, with what loads them. */
export type NodeType<Row> = ObjectRef<Types, Row> & Loaded<Row>

/** By what a row is told from others, and how that is read; `null` for what can't be one. */
type Key<Row> = { readonly of: (row: Row) => string; readonly read: (text: string) => string | null }

type NodeDeclaration<Row> = ObjectDeclaration<Row> &
  Loaded<Row> &
  // A row has a UUID, or says what it has instead.
  (Row extends { readonly id: string } ? { readonly key?: Key<Row> } : { readonly key: Key<Row> })

const uuidKey: Key<{ readonly id: string }> = { of: ({ id }) => id, read: parseUuid }

/** Declares a type of rows that `node` and `nodes` find by their id. */
export function nodeType<Row extends object>(
  name: string,
  { description, table, fields, loader, key = uuidKey as never }: NodeDeclaration<Row>,
): NodeType<Row> {
  const type = builder.objectRef<Row>(name).implement({
    description,
    extensions: { table },
    interfaces: [Node],
    fields: builtFields({ id: idField(name, key), ...fields }),
  })
  nodeTypes.set(name, (context, text) => {
    const id = key.read(text)
    return id === null ? null : loader(context).load(id)
  })
  return Object.assign(type, { loader })
}

function idField<Row>(type: string, key: Key<Row>): Field<Row> {
  const resolve = (row: Row) => globalId(type, key.of(row))
  return { type: 'ID', isNullable: false, description: idDescription, columns: ['id'], resolve }
}

type UnionDeclaration<Row> = Loaded<Row> & {
  readonly description: string
  readonly types: readonly { readonly name: string }[]
  /** Of which of them a row is. */
  readonly typeOf: (row: Row) => { readonly name: string }
}

/** Declares a union of node types, whose ids are those of any of them. */
export function nodeUnion<Row>(
  name: string,
  { description, types, typeOf, loader }: UnionDeclaration<Row>,
): UnionRef<Types, Row> & Loaded<Row> {
  addUnion(
    name,
    types.map(({ name }) => name),
  )
  const resolveType = (row: Row) => typeOf(row).name
  const type = builder.unionType(name, { description, types, resolveType } as never)
  return Object.assign(type, { loader }) as never
}

/** Adds the query of one node by its id. */
export function addNodeQuery<Row>(
  name: string,
  type: Loaded<Row> & OutputType<Types> & { readonly name: string },
): void {
  const noun = wordsOf(type.name)
  const description = `One ${noun}; null when it does not exist or is not visible.`
  addQuery(
    name,
    askedOrNull(type, description, { id: requiredId(type.name) }, (context, { id }) => {
      const uuid = parseUuid(id)
      return uuid === null ? null : type.loader(context).load(uuid)
    }),
  )
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
