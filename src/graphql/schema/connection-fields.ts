import type { ObjectRef, OutputRef } from '@pothos/core'
import { invalidInput } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { FilterField, FilterFields, OwnerFilter } from '../../lists/filters.ts'
import type { Slice, SliceRequest } from '../../lists/slice.ts'
import type { Context } from '../../operations/context.ts'
import type { SchemaTypes } from './builder.ts'
import { connectionType, rethrowWithArgumentNames, sliceArguments } from './connection.ts'
import { enumTypeOf } from './enums.ts'
import type { SliceFieldSource } from './field-source.ts'
import type { ObjectField } from './fields.ts'
import { addField, addQuery } from './fields.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { DeclaredInput, GraphqlInputField, GraphqlInputFields } from './inputs.ts'
import { inputType, optional, optionalId, withLocalIds } from './inputs.ts'
import type { NodeList } from './loader.ts'
import { getOrCreateLoader } from './loader.ts'

/** Whose things a list shows. */
const OwnerInput = inputType(
  'OwnerFilter',
  "Whose: one customer's, or the merchant's own. Exactly one of the two.",
  {
    customerId: optionalId('Customer', "That customer's: its global id, or its UUID."),
    merchant: optional("Those that the merchant itself owns, no customer's: `true` is the only value.", 'Boolean'),
  },
  { isOneOf: true },
)

/** The owner that an operation looks for. */
function toOwnerFilter(filter: typeof OwnerInput.$inferInput | null | undefined): OwnerFilter {
  if (!filter) return 'any'
  if (filter.merchant === false) {
    throw invalidInput([
      { field: 'filter.owner.merchant', code: 'INVALID_PARAMETER', message: 'must be true, or absent' },
    ])
  }
  // An empty id is one that is wrong: taken for none it would show another owner's things.
  return typeof filter.customerId === 'string' ? { customerId: filter.customerId } : 'merchant'
}

/** A list of rows, as far as its fields need it. */
type ConnectionSource<Row, Parent extends string> = NodeList & {
  readonly slice: (context: Context, input: never) => MaybePromise<Slice<Row>>
  readonly slicesOf: (parent: Parent) => ReturnType<NodeList['slicesOf']>
  readonly sliceParser: (parent: Parent | null) => (input: object) => SliceRequest
}

type FilterInput = DeclaredInput<GraphqlInputFields>

/** The input type of a list's filters: `which` of its rows it lets through, but for the `known` ones, which say whose it is. */
export function filterType(
  name: string,
  { filters }: { readonly filters: FilterFields },
  { which, known = [] }: { which: string; known?: readonly string[] },
): FilterInput {
  const own = Object.entries(filters).filter(([field]) => !known.includes(field))
  return inputType(name, `${which}: those that every field here lets through.`, {
    ...Object.fromEntries(own.map(([field, filter]) => [field, filterField(filter)])),
    createdFrom: optional('Only what was made at this moment or later.', 'DateTime'),
    createdBefore: optional('Only what was made before this moment.', 'DateTime'),
  })
}

function filterField({ kind, description }: FilterField): GraphqlInputField {
  if (kind === 'owner') return optional(description, OwnerInput)
  if (kind === 'text') return optional(description)
  return 'idOf' in kind ? optionalId(kind.idOf, description) : optional(description, enumTypeOf(kind))
}

/**
 * Where a list is shown, what of it, and by what that is narrowed, where it is by anything: among the queries or as a field `on` a type; everyone's, of one
 * `owner`, or of each `parent`.
 */
type ConnectionPlacement<Parent extends string> = {
  readonly summary: string
  readonly filter: FilterInput | null
} & ConnectionOwnership<Parent>

type ConnectionOwnership<Parent extends string> =
  | { readonly on?: ObjectRef<SchemaTypes, unknown>; readonly owner?: OwnerFilter }
  | { readonly on: ObjectRef<SchemaTypes, { readonly id: string }>; readonly parent: NoInfer<Parent> }

/**
 * Shows a list of nodes as a connection, by one name in several places.
 *
 * @param items what people call the nodes, and `called` what they do for short
 */
export function addConnection<Shown, Row extends Shown, Parent extends string>(
  name: string,
  list: ConnectionSource<Row, Parent>,
  {
    of,
    items,
    called = items,
    places,
  }: { of: OutputRef<Shown>; items: string; called?: string; places: readonly ConnectionPlacement<Parent>[] },
): void {
  const type = connectionType(of, items)
  for (const { summary: shows, filter, ...whose } of places) {
    const description = `${shows}, newest first.`
    const args = {
      ...sliceArguments,
      ...(filter && { filter: optional(`Which ${called} to list; all without it.`, filter) }),
    }
    const own = 'owner' in whose && whose.owner !== undefined ? { owner: whose.owner } : {}
    const parent = 'parent' in whose ? whose.parent : null
    const parse = list.sliceParser(parent)
    const toInput = (asked: ConnectionArgs) => ({ ...toListInput(filter?.declared ?? {}, asked), ...own })
    const sliced: SliceFieldSource = {
      kind: 'sliced',
      list,
      parent: parent === null ? null : { name: parent, slices: list.slicesOf(parent) },
      inputOf: toInput,
      parse: (asked: ConnectionArgs) => parseWithArgumentNames(() => parse(toInput(asked))),
    }
    const field: ObjectField<unknown> = {
      type,
      // Where its rows can't be read, the row that it is a field of is still shown.
      isNullable: parent !== null,
      description,
      args,
      fieldSource: sliced,
      resolve: sliceResolver(sliced),
    }
    if (whose.on) addField(whose.on, name, field)
    else addQuery(name, field)
  }
}

/** What a caller asks of a list. */
type ConnectionArgs = { readonly [Argument in keyof SliceRequest]?: SliceRequest[Argument] } & {
  readonly filter?: Readonly<Record<string, unknown>> | null
}

/** Resolves the slice of a list for graphql-js, with one query for those of many parents that are asked for alike. */
function sliceResolver(sliced: SliceFieldSource): ObjectField<unknown>['resolve'] {
  const { list, parent, inputOf } = sliced
  if (parent === null) {
    const slice = async (context: GraphqlContext, input: object) => list.slice(context, input as never)
    return async (_, asked, context) => slice(context, inputOf(asked)).catch(rethrowWithArgumentNames)
  }
  return async (row, asked, context) => {
    const input = inputOf(asked)
    const alike = (context.loaders.get(sliced) ?? new Map()) as Map<string, object>
    context.loaders.set(sliced, alike)
    const name = JSON.stringify(input)
    const whose = alike.get(name) ?? {}
    alike.set(name, whose)
    const find = async (ids: readonly string[]) => {
      const slices = await parent.slices(context, ids, input)
      return (id: string) => slices.get(id)
    }
    return getOrCreateLoader(context, whose, find)
      .load((row as { id: string }).id)
      .catch(rethrowWithArgumentNames)
  }
}

function parseWithArgumentNames<Parsed>(parse: () => Parsed): Parsed {
  try {
    return parse()
  } catch (error) {
    return rethrowWithArgumentNames(error)
  }
}

/** What the operation on a list is asked for: whatever narrows it, beside which part of it. */
function toListInput(fields: GraphqlInputFields, { filter, ...slice }: ConnectionArgs): object {
  if (!filter) return slice
  const { owner, ...others } = withLocalIds(fields, filter)
  return { ...others, ...(owner !== undefined && { owner: toOwnerFilter(owner as never) }), ...slice }
}
