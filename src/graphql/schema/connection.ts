import type { ObjectRef, OutputRef } from '@pothos/core'
import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql'
import { isObjectType } from 'graphql'
import type { Slice } from '../../lists/slice.ts'
import { largestSlice, sliceFields, standardSlice } from '../../lists/slice.ts'
import type { Types } from './builder.ts'
import { builder } from './builder.ts'
import type { Shown } from './field-source.ts'
import type { Field } from './fields.ts'
import { builtFields } from './fields.ts'
import { optional } from './inputs.ts'
import { refuseUnder } from './user-errors.ts'

/** An item with the slice that it stands in. */
type Edge = { readonly slice: Slice<object>; readonly item: object }

/** The connection type of a node type, whose objects are slices; every list of such nodes has it. `items` names them for people. */
export function connectionType<Item>(type: OutputRef<Item>, items: string): ObjectRef<Types, Slice<Item>> {
  const connection = connections.get(type) ?? newConnectionType(type, items)
  connections.set(type, connection)
  return connection as ObjectRef<Types, Slice<Item>>
}

const connections = new Map<unknown, unknown>()

function newConnectionType<Item>(type: OutputRef<Item>, items: string): ObjectRef<Types, Slice<Item>> {
  const nodes: Field<Slice<object>> = {
    type: [type as OutputRef<object>],
    isNullable: false,
    description: 'The items alone, for where no cursor of each is needed.',
    ...ofSlice('items', ({ items }: Slice<object>) => items),
  }
  const totalCount: Field<Slice<object>> = {
    type: 'Int',
    isNullable: true,
    description:
      'How many items the whole list has, counted only when asked for; null where it is not kept and there are more than 10,000.',
    ...ofSlice('total', ({ total }: Slice<object>) => total()),
  }
  const connection = builder.connectionObject(
    {
      type: type as OutputRef<object>,
      name: `${type.name}Connection`,
      description: `A part of a list of ${items}.`,
      fields: builtFields({ nodes, totalCount }),
    },
    { name: `${type.name}Edge`, description: `One of a list of ${items}, with its place there.` },
  )
  return connection as unknown as ObjectRef<Types, Slice<Item>>
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

/** Refuses with the names of a list's arguments: all that is no part of the slice stands in the filter. */
export const refuseByListArgument = refuseUnder((field) =>
  field in sliceFields ? field : field === 'owner' ? 'filter.owner.customerId' : `filter.${field}`,
)

/** Something of a slice or an edge, as plans and graphql-js take it. */
function ofSlice<Source>(gives: (Shown & { kind: 'ofSlice' })['gives'], read: (source: Source) => unknown) {
  return { shown: { kind: 'ofSlice', gives, read } satisfies Shown, resolve: read }
}

function flag(name: 'hasNextPage' | 'hasPreviousPage') {
  return { shown: { kind: 'column', column: name } satisfies Shown, resolve: (slice: Slice<object>) => slice[name] }
}

function cursorAt(end: 0 | -1) {
  return ofSlice('cursor', ({ items, cursorOf }: Slice<object>) => {
    const item = items.at(end)
    return item === undefined ? null : cursorOf(item)
  })
}

const whole: Shown = { kind: 'itself', from: [], isThere: () => true }

/** What the plugin's own fields show. */
const fieldsOfPlugin: Readonly<
  Record<string, Readonly<Record<string, { shown: Shown; resolve: (of: never) => unknown }>>>
> = {
  Connection: {
    edges: ofSlice('edges', (slice: Slice<object>): Edge[] => slice.items.map((item) => ({ slice, item }))),
    pageInfo: { shown: whole, resolve: (slice: Slice<object>) => slice },
  },
  Edge: {
    cursor: ofSlice('cursor', ({ slice, item }: Edge) => slice.cursorOf(item)),
    node: ofSlice('items', ({ item }: Edge) => item),
  },
  PageInfo: {
    hasNextPage: flag('hasNextPage'),
    hasPreviousPage: flag('hasPreviousPage'),
    startCursor: cursorAt(0),
    endCursor: cursorAt(-1),
  },
}

/** Has the fields that the plugin makes of connections, edges and pages read slices, as those that are declared do. */
export function withSlices(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    const [kind = ''] = /(Connection|Edge|PageInfo)$/.exec(type.name) ?? []
    if (!isObjectType(type)) continue
    for (const [name, { shown, resolve }] of Object.entries(fieldsOfPlugin[kind] ?? {})) {
      const field = type.getFields()[name]
      if (!field) throw new Error(`${type.name} has no field ${name}`)
      field.extensions = { ...field.extensions, shown }
      field.resolve = resolve as unknown as GraphQLFieldResolver<unknown, unknown>
    }
  }
  return schema
}
