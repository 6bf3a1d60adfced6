import type { ObjectRef, OutputRef } from '@pothos/core'
import { invalidInput } from '../../core/errors.ts'
import type { MaybePromise } from '../../core/maybe-promise.ts'
import type { FilterField, FilterFields, OwnerFilter } from '../../lists/filters.ts'
import type { Slice, SliceRequest } from '../../lists/slice.ts'
import type { Context } from '../../operations/context.ts'
import type { SchemaTypes } from './builder.ts'
import { connectionType, rethrowWithArgumentNames, sliceArguments } from './connection.ts'
import { enumTypeOf } from './enums.ts'
import type { ConnectionFieldSource } from './field-source.ts'
import type { ObjectField } from './fields.ts'
import { addField, addQuery } from './fields.ts'
import type { GraphqlContext } from './graphql-context.ts'
import type { DeclaredInput, GraphqlInputField, GraphqlInputFields } from './inputs.ts'
import { inputType, optional, optionalId, withLocalIds } from './inputs.ts'
import type { NodeList } from './loader.ts'
import { getOrCreateLoader } from './loader.ts'

const OwnerInput = inputType(
  'OwnerFilter',
  'The owner: one customer, or the merchant. Exactly one of the two.',
  {
    customerId: optionalId('Customer', 'A customer: its global id, or its UUID.'),
    merchant: optional('The merchant itself: `true` is the only value.', 'Boolean'),
  },
  { isOneOf: true },
)

function toOwnerFilter(filter: typeof OwnerInput.$inferInput | null | undefined): OwnerFilter {
  if (!filter) return 'any'
  if (filter.merchant === false) {
    throw invalidInput([
      { field: 'filter.owner.merchant', code: 'INVALID_PARAMETER', message: 'must be true, or absent' },
    ])
  }
  // If an empty customer id counted as absent, the list would contain the merchant's own rows. The list rejects an
  // empty id as invalid.
  return typeof filter.customerId === 'string' ? { customerId: filter.customerId } : 'merchant'
}

type ConnectionSource<Row, Parent extends string> = NodeList & {
  readonly slice: (context: Context, input: never) => MaybePromise<Slice<Row>>
  readonly slicesOf: (parent: Parent) => ReturnType<NodeList['slicesOf']>
  readonly sliceParser: (parent: Parent | null) => (input: object) => SliceRequest
}

type FilterInput = DeclaredInput<GraphqlInputFields>

/** @param which the start of the type's description; `known` are filters that the parent field sets */
export function filterType(
  name: string,
  { filters }: { readonly filters: FilterFields },
  { which, known = [] }: { which: string; known?: readonly string[] },
): FilterInput {
  const own = Object.entries(filters).filter(([field]) => !known.includes(field))
  return inputType(name, `${which}: those that match every field.`, {
    ...Object.fromEntries(own.map(([field, filter]) => [field, filterField(filter)])),
    createdFrom: optional('Created at this time or later.', 'DateTime'),
    createdBefore: optional('Created before this time.', 'DateTime'),
  })
}

function filterField({ kind, description }: FilterField): GraphqlInputField {
  if (kind === 'owner') return optional(description, OwnerInput)
  if (kind === 'text') return optional(description)
  return 'idOf' in kind ? optionalId(kind.idOf, description) : optional(description, enumTypeOf(kind))
}

type ConnectionPlacement<Parent extends string> = {
  readonly summary: string
  readonly filter: FilterInput | null
} & ConnectionOwnership<Parent>

type ConnectionOwnership<Parent extends string> =
  | { readonly on?: ObjectRef<SchemaTypes, unknown>; readonly owner?: OwnerFilter }
  | { readonly on: ObjectRef<SchemaTypes, { readonly id: string }>; readonly parent: NoInfer<Parent> }

/** @param items the plural noun for the nodes; `called` is a shorter noun for the filter's description */
export function addConnection<Node, Row extends Node, Parent extends string>(
  name: string,
  list: ConnectionSource<Row, Parent>,
  {
    of,
    items,
    called = items,
    places,
  }: { of: OutputRef<Node>; items: string; called?: string; places: readonly ConnectionPlacement<Parent>[] },
): void {
  const type = connectionType(of, items)
  for (const { summary, filter, ...ownership } of places) {
    const description = `${summary}, newest first.`
    const args = {
      ...sliceArguments,
      ...(filter && { filter: optional(`Which ${called} to list; by default all.`, filter) }),
    }
    const owner = 'owner' in ownership && ownership.owner !== undefined ? { owner: ownership.owner } : {}
    const parent = 'parent' in ownership ? ownership.parent : null
    const parse = list.sliceParser(parent)
    const inputOf = (args: ConnectionArgs) => ({ ...toListInput(filter?.declared ?? {}, args), ...owner })
    const fieldSource: ConnectionFieldSource = {
      kind: 'connection',
      list,
      parent: parent === null ? null : { name: parent, slices: list.slicesOf(parent) },
      inputOf,
      parse: (args: ConnectionArgs) => parseWithArgumentNames(() => parse(inputOf(args))),
    }
    const field: ObjectField<unknown> = {
      type,
      // A connection of a parent object is nullable, so that the response contains the parent even if reading the list
      // fails.
      isNullable: parent !== null,
      description,
      args,
      fieldSource,
      resolve: connectionResolver(fieldSource),
    }
    if (ownership.on) addField(ownership.on, name, field)
    else addQuery(name, field)
  }
}

type ConnectionArgs = { readonly [Argument in keyof SliceRequest]?: SliceRequest[Argument] } & {
  readonly filter?: Readonly<Record<string, unknown>> | null
}

/** Parent objects with equal arguments share one query. */
function connectionResolver(source: ConnectionFieldSource): ObjectField<unknown>['resolve'] {
  const { list, parent, inputOf } = source
  if (parent === null) {
    const slice = async (context: GraphqlContext, input: object) => list.slice(context, input as never)
    return async (_, args, context) => slice(context, inputOf(args)).catch(rethrowWithArgumentNames)
  }
  return async (row, args, context) => {
    const input = inputOf(args)
    const keyByInput = (context.loaders.get(source) ?? new Map()) as Map<string, object>
    context.loaders.set(source, keyByInput)
    const inputText = JSON.stringify(input)
    const loaderKey = keyByInput.get(inputText) ?? {}
    keyByInput.set(inputText, loaderKey)
    const find = async (ids: readonly string[]) => {
      const slices = await parent.slices(context, ids, input)
      return (id: string) => slices.get(id)
    }
    return getOrCreateLoader(context, loaderKey, find)
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

function toListInput(fields: GraphqlInputFields, { filter, ...slice }: ConnectionArgs): object {
  if (!filter) return slice
  const { owner, ...others } = withLocalIds(fields, filter)
  return { ...others, ...(owner !== undefined && { owner: toOwnerFilter(owner as never) }), ...slice }
}
