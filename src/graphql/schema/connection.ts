import type { ObjectRef, OutputRef } from '@pothos/core'
import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql'
import { isObjectType } from 'graphql'
import type { Slice } from '../../lists/slice.ts'
import { defaultSliceSize, maxSliceSize, sliceFields } from '../../lists/slice.ts'
import type { SchemaTypes } from './builder.ts'
import { builder } from './builder.ts'
import type { FieldSource } from './field-source.ts'
import type { ObjectField } from './fields.ts'
import { buildFields } from './fields.ts'
import { optional } from './inputs.ts'
import { rethrowWithFieldNames } from './user-errors.ts'

/** An item with the slice that it stands in. */
type ConnectionEdge = { readonly slice: Slice<object>; readonly item: object }

/** The connection type of a node type, whose objects are slices; every list of such nodes has it. `items` names them for people. */
export function connectionType<Item>(type: OutputRef<Item>, items: string): ObjectRef<SchemaTypes, Slice<Item>> {
  const connection = connectionTypes.get(type) ?? createConnectionType(type, items)
  connectionTypes.set(type, connection)
  return connection as ObjectRef<SchemaTypes, Slice<Item>>
}

const connectionTypes = new Map<unknown, unknown>()

function createConnectionType<Item>(type: OutputRef<Item>, items: string): ObjectRef<SchemaTypes, Slice<Item>> {
  const nodes: ObjectField<Slice<object>> = {
    type: [type as OutputRef<object>],
    isNullable: false,
    description: 'The items alone, for where no cursor of each is needed.',
    ...resolveFromSlice('items', ({ items }: Slice<object>) => items),
  }
  const totalCount: ObjectField<Slice<object>> = {
    type: 'Int',
    isNullable: true,
    description:
      'How many items the whole list has, counted only when asked for; null where it is not kept and there are more than 10,000.',
    ...resolveFromSlice('total', ({ total }: Slice<object>) => total()),
  }
  const connection = builder.connectionObject(
    {
      type: type as OutputRef<object>,
      name: `${type.name}Connection`,
      description: `A part of a list of ${items}.`,
      fields: buildFields({ nodes, totalCount }),
    },
    { name: `${type.name}Edge`, description: `One of a list of ${items}, with its place there.` },
  )
  return connection as unknown as ObjectRef<SchemaTypes, Slice<Item>>
}

/** The arguments that say which part of a list is asked for. */
export const sliceArguments = {
  first: optional(
    `How many items from the start, or after \`after\`: 0 to ${maxSliceSize}. Without \`first\` and \`last\`: ${defaultSliceSize}.`,
    'Int',
  ),
  after: optional('A cursor of this same list: items that follow it.'),
  last: optional(
    `How many items from the end, or before \`before\`: 0 to ${maxSliceSize}. Not together with \`first\`.`,
    'Int',
  ),
  before: optional('A cursor of this same list: items that come before it.'),
}

/** Refuses with the names of a list's arguments: all that is no part of the slice stands in the filter. */
export const rethrowWithArgumentNames = rethrowWithFieldNames((field) =>
  field in sliceFields ? field : field === 'owner' ? 'filter.owner.customerId' : `filter.${field}`,
)

/** Something of a slice or an edge, as plans and graphql-js take it. */
function resolveFromSlice<Source>(
  gives: (FieldSource & { kind: 'ofSlice' })['part'],
  read: (source: Source) => unknown,
) {
  return { fieldSource: { kind: 'ofSlice', part: gives, read } satisfies FieldSource, resolve: read }
}

function resolvePageFlag(name: 'hasNextPage' | 'hasPreviousPage') {
  return {
    fieldSource: { kind: 'column', column: name } satisfies FieldSource,
    resolve: (slice: Slice<object>) => slice[name],
  }
}

function resolveCursorAt(end: 0 | -1) {
  return resolveFromSlice('cursor', ({ items, cursorOf }: Slice<object>) => {
    const item = items.at(end)
    return item === undefined ? null : cursorOf(item)
  })
}

const wholeSliceSource: FieldSource = { kind: 'itself', from: [], isPresent: () => true }

/** What the plugin's own fields show. */
const relayPluginFields: Readonly<
  Record<string, Readonly<Record<string, { fieldSource: FieldSource; resolve: (of: never) => unknown }>>>
> = {
  Connection: {
    edges: resolveFromSlice('edges', (slice: Slice<object>): ConnectionEdge[] =>
      slice.items.map((item) => ({ slice, item })),
    ),
    pageInfo: { fieldSource: wholeSliceSource, resolve: (slice: Slice<object>) => slice },
  },
  Edge: {
    cursor: resolveFromSlice('cursor', ({ slice, item }: ConnectionEdge) => slice.cursorOf(item)),
    node: resolveFromSlice('items', ({ item }: ConnectionEdge) => item),
  },
  PageInfo: {
    hasNextPage: resolvePageFlag('hasNextPage'),
    hasPreviousPage: resolvePageFlag('hasPreviousPage'),
    startCursor: resolveCursorAt(0),
    endCursor: resolveCursorAt(-1),
  },
}

/** Has the fields that the plugin makes of connections, edges and pages read slices, as those that are declared do. */
export function attachSliceResolvers(schema: GraphQLSchema): GraphQLSchema {
  for (const type of Object.values(schema.getTypeMap())) {
    const [kind = ''] = /(Connection|Edge|PageInfo)$/.exec(type.name) ?? []
    if (!isObjectType(type)) continue
    for (const [name, { fieldSource, resolve }] of Object.entries(relayPluginFields[kind] ?? {})) {
      const field = type.getFields()[name]
      if (!field) throw new Error(`${type.name} has no field ${name}`)
      field.extensions = { ...field.extensions, shown: fieldSource }
      field.resolve = resolve as unknown as GraphQLFieldResolver<unknown, unknown>
    }
  }
  return schema
}
