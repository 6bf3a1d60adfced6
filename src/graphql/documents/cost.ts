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

/** What an operation costs with these variables: its fields, each times the sizes of the lists that it is in. */
export type OperationCost = (variables: Readonly<Record<string, unknown>>) => number

/** What fields cost that take as long as so many values; any other costs 1. */
const fieldPrices = {
  /** A page of rows is a query of its own. */
  connection: 10,
  /** A node by its id, which may be of any type. */
  node: 10,
  /** Events may have to be looked through for those of some types, or of one customer. */
  events: 500,
  /** A payout that a person must look at has a long history, and another customer's is passed over. */
  attention: 1_000,
  /** A total that is kept, or rows that an index counts. */
  totalCount: 50,
  /** With a filter up to 10,000 rows are read one by one. */
  filteredTotal: 1_200,
  /** Twenty answers of up to 1 KiB are read with them. */
  attempts: 40,
  /** A whole object, with all that is in it. */
  json: 60,
  /** A commit, and with a wallet the derivation of its address. */
  mutation: 1_000,
} as const

/** How many items a list is reckoned to have that is no connection: none of the schema has more, but those below. */
export const defaultListSize = 8

/** Lists that may be longer. */
export const listSizeByField: Readonly<Record<string, number>> = {
  'Payout.timeline': 20,
  'WebhookEndpoint.types': 15,
  'WebhookDelivery.attempts': 20,
  'Wallet.pendingDeposits': 20,
}

/** Whether a type is a part of a list, whose size is asked for. */
function isPageType(name: string | undefined): boolean {
  return name !== undefined && /(Connection|Page)$/.test(name)
}

/**
 * The cost of an operation that is valid, as a function of its variables, because they may hold the sizes of lists.
 *
 * A connection is as large as its `first` or `last` says, `nodes` as many as its `ids`. Looks at the schema cost nothing:
 * `limits.ts` bounds them. No answer holds more values than its operation costs.
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
    const isConnection = isPageType(type?.name)
    const size = isConnection ? sliceSize(field) : 1
    const inner = field.selectionSet
      ? selectionCost(field.selectionSet, type, { size, total: totalCountCost(field) })
      : 0
    if (type?.name === 'EventPage') return sum([fieldPrices.events, inner])
    if (type?.name === 'AttentionPage') return sum([fieldPrices.attention, inner])
    if (isConnection) {
      // The rows of a page are read whether or not they are asked for.
      const unasked = field.selectionSet && !selectsItems(field.selectionSet) ? capSize(size, maxSliceSize) : 0
      return sum([fieldPrices.connection, unasked, inner])
    }
    if (findArgument(field, 'ids')) return sum([1, multiply(idCount(field), sum([fieldPrices.node, inner]))])
    if (parent && isPageType(parent.name)) {
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

/** A number that is known once and for all, or one that depends on the variables. */
type CostTerm = number | OperationCost
type ListSize = CostTerm

/** How many items a page is reckoned to have, and what its total costs. */
type PageCost = { readonly size: ListSize; readonly total: CostTerm }

/** Whether a field of a page is its items. */
function isItemsField(name: string): boolean {
  return name === 'edges' || name === 'nodes'
}

function basePriceOf(place: string, type: string | undefined, isMutation: boolean): number {
  if (isMutation) return fieldPrices.mutation
  if (place === 'WebhookDelivery.attempts') return fieldPrices.attempts
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
  const fixed = terms.filter((term) => typeof term === 'number').reduce((all, term) => all + term, 0)
  const varying = terms.filter((term) => typeof term === 'function')
  if (varying.length === 0) return fixed
  return (variables) => varying.reduce((all, term) => all + term(variables), fixed)
}

function multiply(size: ListSize, inner: CostTerm): CostTerm {
  if (typeof size === 'number' && typeof inner === 'number') return size * inner
  return (variables) => evaluateTerm(size, variables) * evaluateTerm(inner, variables)
}

function capSize(size: ListSize, largest: number): ListSize {
  if (typeof size === 'number') return Math.min(size, largest)
  return (variables) => Math.min(evaluateTerm(size, variables), largest)
}

function evaluateTerm(term: CostTerm, variables: Readonly<Record<string, unknown>>): number {
  return typeof term === 'number' ? term : term(variables)
}

function sliceSize(field: FieldNode): ListSize {
  const given = [findArgument(field, 'first'), findArgument(field, 'last')].filter((each) => each !== undefined)
  if (given.length === 0) return defaultSliceSize
  return given
    .map(({ value }) => sizeFromValue(value, (found) => (typeof found === 'number' ? Math.max(found, 0) : null)))
    .reduce((larger, size) =>
      typeof larger === 'number' && typeof size === 'number'
        ? Math.max(larger, size)
        : (variables) => Math.max(evaluateTerm(larger, variables), evaluateTerm(size, variables)),
    )
}

function idCount(field: FieldNode): ListSize {
  const value = findArgument(field, 'ids')?.value
  if (value?.kind === Kind.LIST) return value.values.length
  return value ? sizeFromValue(value, (found) => (Array.isArray(found) ? found.length : null)) : 1
}

/** The number that a value stands for, now or when the variables are known; where it says nothing, the standard size. */
function sizeFromValue(value: ValueNode, read: (found: unknown) => number | null): ListSize {
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
