import type { ObjectRef, OutputRef } from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import { getNamedType, isAbstractType, isObjectType } from 'graphql'
import type { Slice } from '../lists/slice.ts'
import { largestSlice, sliceFields, standardSlice } from '../lists/slice.ts'
import type { Types } from './builder.ts'
import { builder } from './builder.ts'
import type { Preload } from './fields.ts'
import { builtFields, column, madeOrNull } from './fields.ts'
import type { GraphqlContext } from './graphql-context.ts'
import { optional } from './inputs.ts'
import { selectedAt } from './selection.ts'
import { refuseUnder } from './user-errors.ts'

/** A slice as its connection type reads it. */
export type Connection<Item> = {
  readonly nodes: readonly Item[]
  readonly edges: readonly { readonly cursor: string; readonly node: Item }[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
  readonly total: Slice<Item>['total']
}

/** The connection type of a node type, which every list of such nodes has; `items` names them for people. */
export function connectionType<Item>(type: OutputRef<Item>, items: string): ObjectRef<Types, Connection<Item>> {
  const connection = builder.connectionObject(
    {
      type: type as OutputRef<object>,
      name: `${type.name}Connection`,
      description: `A part of a list of ${items}.`,
      fields: builtFields({
        nodes: column('nodes', 'The items alone, for where no cursor of each is needed.', [type as OutputRef<object>]),
        totalCount: madeOrNull(
          'Int',
          null,
          'How many items the whole list has, counted only when asked for; null where it is not kept and there are more than 10,000.',
          ({ total }: Connection<Item>) => total(),
        ),
      }),
    },
    { name: `${type.name}Edge`, description: `One of a list of ${items}, with its place there.` },
  )
  return connection as unknown as ObjectRef<Types, Connection<Item>>
}

/** The arguments that say which part of a list is asked for. */
export const sliceArguments = {
  first: optional(
    `How many items from the start, or after \`after\`: 0 to ${largestSlice}. Without \`first\` and \`last\`: ${standardSlice}.`,
    'Int',
  ),
  after: optional('A cursor of this same list: items that follow it.'),
  last: optional(
    `How many items from the end, or before \`before\`: 0 to ${largestSlice}. Not together with \`first\`.`,
    'Int',
  ),
  before: optional('A cursor of this same list: items that come before it.'),
}

/** A slice as its connection, with everything loaded that the selected fields of its items will ask for. */
export async function connect<Item>(
  slice: Slice<Item> | Promise<Slice<Item>>,
  context: GraphqlContext,
  info: GraphQLResolveInfo,
): Promise<Connection<Item>> {
  const { items, hasNextPage, hasPreviousPage, cursorOf, total } = await Promise.resolve(slice).catch(refuseUnderFilter)
  const { preloads, hasEdges } = selectionOf(info)
  if (items.length > 0) await Promise.all(preloads.map((preload) => preload(items, context)))
  const [first, last] = [items[0], items.at(-1)]
  return {
    nodes: items,
    edges: hasEdges ? items.map((node) => ({ cursor: cursorOf(node), node })) : [],
    pageInfo: {
      hasNextPage,
      hasPreviousPage,
      startCursor: first === undefined ? null : cursorOf(first),
      endCursor: last === undefined ? null : cursorOf(last),
    },
    total,
  }
}

/** All that is no part of the slice stands in the filter. */
const refuseUnderFilter = refuseUnder((field) =>
  field in sliceFields ? field : field === 'owner' ? 'filter.owner.customerId' : `filter.${field}`,
)

type Selection = { readonly preloads: readonly Preload[]; readonly hasEdges: boolean }

/** What is selected of a connection: whether its edges are, and what can be loaded ahead for the fields of its items. */
function selectionOf(info: GraphQLResolveInfo): Selection {
  // Where a field is selected in several places it is that of all of them together.
  const node = info.fieldNodes.length === 1 ? info.fieldNodes[0] : undefined
  const known = node && selections.get(node)
  if (known) return known
  const connection = getNamedType(info.returnType)
  const item = isObjectType(connection) ? getNamedType(connection.getFields().nodes?.type) : null
  const types = isAbstractType(item) ? info.schema.getPossibleTypes(item) : isObjectType(item) ? [item] : []
  const names = selectedAt(info, [['edges', 'node'], ['nodes']])
  const preloads = types.flatMap((type) =>
    [...names].flatMap((name) => (type.getFields()[name]?.extensions.preload as Preload | undefined) ?? []),
  )
  const found = { preloads, hasEdges: selectedAt(info, [[]]).has('edges') }
  if (node) selections.set(node, found)
  return found
}

// Documents are parsed once and answer many requests, so a node of one stands for all of them.
const selections = new WeakMap<object, Selection>()
