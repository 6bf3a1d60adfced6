import type {
  ArgumentNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLNamedType,
  GraphQLSchema,
  OperationDefinitionNode,
  SelectionSetNode,
  ValueNode,
} from 'graphql'
import { getNamedType, getNullableType, isInterfaceType, isListType, isObjectType, Kind } from 'graphql'
import { defaultSliceSize, maxSliceSize } from '../../lists/slice.ts'

/**
 * The cost of an operation is the sum of the prices of all fields. Each price is multiplied by the sizes of the lists
 * that contain the field.
 */
export type OperationCost = (variables: Readonly<Record<string, unknown>>) => number

/** Any other field costs 1. */
const fieldPrices = {
  connection: 10,
  /**
   * One `nodes` field finds up to 100 objects, each in the tables of several types. The field `node` costs only 1,
   * because the limit of aliases allows few `node` fields in one document.
   */
  node: 10,
  /** To fill a page of events, the service may scan many events that the filter excludes. */
  events: 500,
  search: 100,
  /** The service reads the history of each item in the attention queue. */
  attention: 1_000,
  /** The service reads a stored total, or counts the entries of an index. */
  totalCount: 50,
  /** A total with a filter reads up to 10,000 rows. */
  filteredTotal: 1_200,
  /** A webhook delivery has up to twenty attempts, each with a response body of 1 KiB. */
  attempts: 40,
  /** A JSON object can have any size. */
  json: 60,
  /** A mutation commits a transaction and may derive an address. */
  mutation: 1_000,
} as const

/** The assumed length of a list that is neither a connection nor in `listSizeByField`. */
export const defaultListSize = 8

export const listSizeByField: Readonly<Record<string, number>> = {
  'Payout.timeline': 20,
  'WebhookEndpoint.types': 15,
  'WebhookDelivery.attempts': 20,
  'Wallet.pendingDeposits': 20,
}

function isPageType(type: GraphQLNamedType | undefined): boolean {
  return type !== undefined && /(Connection|Page)$/.test(type.name)
}

/**
 * A response never contains more values than the cost of its operation.
 *
 * The size of a connection is the argument `first` or `last`. The size of `nodes` is the number of `ids`. Introspection
 * costs nothing, because `limits.ts` limits introspection separately.
 */
export function operationCost(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): OperationCost {
  const selectionCost = (set: SelectionSetNode, type: GraphQLNamedType | undefined, page: PageCost): CostTerm => {
    return sum(
      set.selections.map((selection) => {
        if (selection.kind === Kind.FIELD) return fieldCost(selection, type, page)
        const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
        const condition = inner?.typeCondition && schema.getType(inner.typeCondition.name.value)
        return inner ? selectionCost(inner.selectionSet, condition ?? type, page) : 0
      }),
    )
  }
  const selectsItems = (set: SelectionSetNode): boolean =>
    set.selections.some((selection) => {
      if (selection.kind === Kind.FIELD) return isItemsField(selection.name.value)
      const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value]
      return inner !== undefined && selectsItems(inner.selectionSet)
    })
  const fieldCost = (field: FieldNode, parent: GraphQLNamedType | undefined, page: PageCost): CostTerm => {
    const name = field.name.value
    if (name === '__schema' || name === '__type') return 0
    const definition = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name] : undefined
    const type = definition && getNamedType(definition.type)
    const isConnection = isPageType(type)
    const size = isConnection ? sliceSize(field) : 1
    const inner = field.selectionSet
      ? selectionCost(field.selectionSet, type, { size, total: totalCountCost(field) })
      : 0
    if (type?.name === 'EventPage') return sum([fieldPrices.events, inner])
    if (type?.name === 'SearchPage') return sum([fieldPrices.search, inner])
    if (type?.name === 'AttentionPage') return sum([fieldPrices.attention, inner])
    if (isConnection) {
      // A connection also reads rows that the query does not select.
      const unselectedRows =
        field.selectionSet && !selectsItems(field.selectionSet) ? combine([size, maxSliceSize], Math.min) : 0
      return sum([fieldPrices.connection, unselectedRows, inner])
    }
    if (findArgument(field, 'ids')) return sum([1, multiply(idCount(field), sum([fieldPrices.node, inner]))])
    if (isPageType(parent)) {
      if (name === 'totalCount') return page.total
      return sum([1, multiply(isItemsField(name) ? page.size : 1, inner)])
    }
    const isList = definition && isListType(getNullableType(definition.type))
    const price = basePriceOf(`${parent?.name}.${name}`, type?.name, parent === schema.getMutationType())
    const length = listSizeByField[`${parent?.name}.${name}`] ?? defaultListSize
    return sum([price, isList ? multiply(length, field.selectionSet ? inner : 1) : inner])
  }
  const root = schema.getRootType(operation.operation) ?? undefined
  const total = selectionCost(operation.selectionSet, root, { size: 1, total: 1 })
  return typeof total === 'number' ? () => total : total
}

type CostTerm = number | OperationCost
type ListSize = CostTerm

type PageCost = { readonly size: ListSize; readonly total: CostTerm }

function isItemsField(name: string): boolean {
  return name === 'edges' || name === 'nodes'
}

function basePriceOf(coordinate: string, type: string | undefined, isMutation: boolean): number {
  if (isMutation) return fieldPrices.mutation
  if (coordinate === 'WebhookDelivery.attempts') return fieldPrices.attempts
  return type === 'JSON' ? fieldPrices.json : 1
}

function totalCountCost(field: FieldNode): CostTerm {
  const value = findArgument(field, 'filter')?.value
  if (value === undefined || value.kind === Kind.NULL) return fieldPrices.totalCount
  if (value.kind !== Kind.VARIABLE) return fieldPrices.filteredTotal
  const name = value.name.value
  return (variables) => (variables[name] == null ? fieldPrices.totalCount : fieldPrices.filteredTotal)
}

function sum(terms: readonly CostTerm[]): CostTerm {
  return combine(terms, (...values) => values.reduce((total, value) => total + value, 0))
}

function multiply(size: ListSize, inner: CostTerm): CostTerm {
  return combine([size, inner], (count, price) => count * price)
}

/** Computes the cost in advance if no term depends on the variables. */
function combine<Terms extends readonly CostTerm[]>(
  terms: Terms,
  compute: (...values: { [Place in keyof Terms]: number }) => number,
): CostTerm {
  const evaluate: OperationCost = (variables) =>
    compute(...(terms.map((term) => (typeof term === 'number' ? term : term(variables))) as never))
  return terms.some((term) => typeof term === 'function') ? evaluate : evaluate({})
}

function sliceSize(field: FieldNode): ListSize {
  const sizeArguments = [findArgument(field, 'first'), findArgument(field, 'last')].filter((each) => each !== undefined)
  if (sizeArguments.length === 0) return defaultSliceSize
  const sizes = sizeArguments.map(({ value }) =>
    sizeFromValue(value, (size) => (typeof size === 'number' ? Math.max(size, 0) : null)),
  )
  return combine(sizes, Math.max)
}

function idCount(field: FieldNode): ListSize {
  const value = findArgument(field, 'ids')?.value
  if (value?.kind === Kind.LIST) return value.values.length
  return value ? sizeFromValue(value, (ids) => (Array.isArray(ids) ? ids.length : null)) : 1
}

function sizeFromValue(value: ValueNode, read: (value: unknown) => number | null): ListSize {
  if (value.kind === Kind.INT) return read(Number(value.value)) ?? defaultSliceSize
  if (value.kind === Kind.VARIABLE) {
    const name = value.name.value
    return (variables) => read(variables[name]) ?? defaultSliceSize
  }
  return defaultSliceSize
}

function findArgument(field: FieldNode, name: string): ArgumentNode | undefined {
  return field.arguments?.find((each) => each.name.value === name)
}
