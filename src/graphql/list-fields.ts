import type { ArgBuilder, InputFieldBuilder, InputRef } from '@pothos/core'
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../context.ts'
import { invalidInput } from '../errors.ts'
import type { FilterKind, Filters } from '../lists/filters.ts'
import type { OwnerFilter } from '../lists/owner.ts'
import type { Slice, SliceRequest } from '../lists/slice.ts'
import type { Types } from './builder.ts'
import { builder } from './builder.ts'
import { connect, sliceArguments } from './connection.ts'
import { enumOf } from './enums.ts'
import { localId } from './global-ids.ts'
import type { GraphqlContext } from './graphql-context.ts'
import { loaderWith } from './loader.ts'

/** Whose things a list shows. */
const OwnerInput = builder.inputType('OwnerFilter', {
  description: "Whose: one customer's, or the merchant's own. Exactly one of the two.",
  isOneOf: true,
  fields: (t) => ({
    customerId: t.id({ description: "That customer's: its global id, or its UUID." }),
    merchant: t.boolean({
      description: "Those that the merchant itself owns, no customer's: `true` is the only value.",
    }),
  }),
})

/** The owner that an operation looks for. */
function ownerOf(filter: typeof OwnerInput.$inferInput | null | undefined): OwnerFilter {
  if (!filter) return 'any'
  if (filter.merchant === false) {
    throw invalidInput([
      { field: 'filter.owner.merchant', code: 'INVALID_PARAMETER', message: 'must be true, or absent' },
    ])
  }
  // An empty id is one that is wrong: taken for none it would show another owner's things.
  return typeof filter.customerId === 'string' ? { customerId: localId('Customer', filter.customerId) } : 'merchant'
}

/** A list, as far as its fields need it. */
type Listed<Row> = {
  readonly filters: Filters
  readonly slice: (context: Context, input: never) => Promise<Slice<Row>>
}

/** What an input object or argument holds that narrows a list. */
type Filter = Readonly<Record<string, unknown>>
type FilterRef = InputRef<Filter>

/** The input type of a list's filters; `known` are those that say whose it is, where that is known already. */
export function filterType(
  name: string,
  { filters }: Pick<Listed<unknown>, 'filters'>,
  { description, known = [] }: { description: string; known?: readonly string[] },
): FilterRef {
  const fields = (t: InputFieldBuilder<Types, 'InputObject'>) => ({
    ...Object.fromEntries(
      Object.entries(filters)
        .filter(([field]) => !known.includes(field))
        .map(([field, { kind, description }]) => [field, filterField(t, kind, description)]),
    ),
    createdFrom: t.field({ type: 'DateTime', description: 'Only what was made at this moment or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Only what was made before this moment.' }),
  })
  return builder.inputType(name, { description, fields }) as unknown as FilterRef
}

function filterField(t: InputFieldBuilder<Types, 'InputObject'>, kind: FilterKind, description: string) {
  if (kind === 'owner') return t.field({ type: OwnerInput, description })
  if (isIdOf(kind)) return t.id({ description })
  if (kind === 'text') return t.string({ description })
  return t.field({ type: enumOf(kind), description })
}

/** The argument that narrows a list: its type, and what it is for. */
type FilterArgument = { readonly filter: FilterRef; readonly filterDescription: string }

type Asked = { readonly [Argument in keyof SliceRequest]?: SliceRequest[Argument] | undefined } & {
  readonly filter?: Filter | null | undefined
}

type Builder = { readonly arg: ArgBuilder<Types> }

function argumentsOf({ arg }: Builder, { filter, filterDescription }: FilterArgument) {
  return { ...sliceArguments(arg), filter: arg({ type: filter, description: filterDescription }) }
}

/** What the operation on a list is asked for. */
function inputOf(filters: Filters, { filter, ...slice }: Asked) {
  const asked = Object.entries(filter ?? {}).map(([field, value]) => {
    const kind = filters[field]?.kind
    const given = value as string | null | undefined
    return [field, kind === 'owner' ? ownerOf(value as never) : isIdOf(kind) ? localId(kind.idOf, given) : value]
  })
  return { ...Object.fromEntries(asked), ...slice }
}

function isIdOf(kind: FilterKind | undefined): kind is { readonly idOf: string } {
  return typeof kind === 'object' && 'idOf' in kind
}

/** The arguments and the resolver of a field that shows a list: of the merchant and its customers, or of the `owner` given. */
export function listing<Row>(
  t: Builder,
  list: Listed<Row>,
  { owner, ...argument }: FilterArgument & { readonly owner?: OwnerFilter },
) {
  return {
    args: argumentsOf(t, argument),
    resolve: async (_: unknown, asked: Asked, context: GraphqlContext, info: GraphQLResolveInfo) => {
      const own = owner === undefined ? {} : { owner }
      return connect(list.slice(context.rows, { ...inputOf(list.filters, asked), ...own } as never), context, info)
    },
  }
}

/** The same of a field that shows the list of each of many parents, with one query for all of them. */
export function listingOfEach<Row>(
  t: Builder,
  list: Pick<Listed<Row>, 'filters'>,
  { slices, ...argument }: FilterArgument & { readonly slices: SlicesOf<Row> },
) {
  const loader = loaderWith(slices)
  return {
    args: argumentsOf(t, argument),
    extensions: { columns: ['id'] },
    resolve: ({ id }: { readonly id: string }, asked: Asked, context: GraphqlContext, info: GraphQLResolveInfo) =>
      connect(loader(context, inputOf(list.filters, asked)).load(id), context, info),
  }
}

type SlicesOf<Row> = (
  context: Context,
  ids: readonly string[],
  input: object,
) => Promise<ReadonlyMap<string, Slice<Row>>>
