import type { Context } from '../operations/context.ts'
import type { FilterFields, FilterValues } from './filters.ts'
import type { ConditionValues } from './list-queries.ts'
import type { CreatedRange } from './time-range.ts'

type CursorContext = Pick<Context, 'db' | 'merchantId'>

/** Identifies a list in its cursors. Clients may still hold cursors of an earlier version, which have `previousName`. */
export type CursorNames = { readonly name: readonly unknown[]; readonly previousName: readonly unknown[] | null }

/**
 * How an earlier version named a list in cursors, before the name was derived from conditions: the members that each filter of that
 * time added to the name. With a filter that is missing here such cursors are rejected, so new filters are never added.
 */
export type PreviousCursors<Fields extends FilterFields> = {
  readonly [Field in keyof Fields]?: (value: FilterValues<Fields>[Field], context: CursorContext) => object
}

/** What a request selects of a list: its filters, the conditions derived from them, and its times. */
export type ListCriteria = {
  readonly filters: Readonly<Record<string, unknown>>
  readonly conditions: ConditionValues<string> | null
  readonly created: CreatedRange
}

type CursorSource = {
  readonly name: string
  readonly conditions: Readonly<Record<string, unknown>>
  readonly previousCursors?: PreviousCursors<FilterFields>
}

/**
 * Names a list by its merchant, the conditions of its queries and its times: lists with the same name have the same rows. A list
 * that is known to be empty is named by its filters, so it accepts no cursor of another list.
 */
export function cursorNames(
  list: CursorSource,
  { filters, conditions, created }: ListCriteria,
  context: CursorContext,
): CursorNames {
  const { merchantId } = context
  const { customerId } = context.db
  const nameWith = (members: object) => [
    list.name,
    { merchantId, ...members, ...(customerId !== undefined && { actingAs: customerId }) },
    created,
  ]
  if (conditions === null) return { name: nameWith({ nothing: filters }), previousName: null }
  const inOrder = Object.keys(list.conditions).map((condition) => [condition, conditions[condition]])
  const previous = previousMembers(list, filters, context)
  return { name: nameWith(Object.fromEntries(inOrder)), previousName: previous && nameWith(previous) }
}

/** Returns the members of the previous name; `null` if the list or one of the filters had none. */
function previousMembers(
  { previousCursors }: CursorSource,
  filters: ListCriteria['filters'],
  context: CursorContext,
): object | null {
  if (previousCursors === undefined) return null
  const isKnown = Object.entries(filters).every(([field, value]) => value === null || field in previousCursors)
  if (!isKnown) return null
  const members = Object.entries(previousCursors).map(([field, membersOf]) => membersOf?.(filters[field], context))
  return Object.assign({}, ...members)
}
