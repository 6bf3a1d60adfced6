import type { Context } from '../operations/context.ts'
import type { FilterFields, FilterValues } from './filters.ts'
import type { ConditionValues } from './list-queries.ts'
import type { CreatedRange } from './time-range.ts'

type CursorContext = Pick<Context, 'db' | 'merchantId'>

/** What tells a list from all others in its cursors; a client may hold cursors from before, with `previousName`. */
export type CursorNames = { readonly name: readonly unknown[]; readonly previousName: readonly unknown[] | null }

/**
 * How cursors named a list before the name followed from its conditions: the members that each filter of that time gave to the
 * name. A filter that is not here rejects such cursors where it is given, so a new one is never added.
 */
export type PreviousCursors<Fields extends FilterFields> = {
  readonly [Field in keyof Fields]?: (value: FilterValues<Fields>[Field], context: CursorContext) => object
}

/** What a request narrows a list to: its filters, the conditions that these come to, and its times. */
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
 * Names a list by its merchant, the conditions of its queries and its times: two lists with one name hold the same rows. A list
 * that can hold no row is named by its filters, so it takes no cursor of another.
 */
export function cursorNames(
  list: CursorSource,
  { filters: asked, conditions: given, created }: ListCriteria,
  context: CursorContext,
): CursorNames {
  const { merchantId } = context
  const { customerId } = context.db
  const nameWith = (members: object) => [
    list.name,
    { merchantId, ...members, ...(customerId !== undefined && { actingAs: customerId }) },
    created,
  ]
  if (given === null) return { name: nameWith({ nothing: asked }), previousName: null }
  const inOrder = Object.keys(list.conditions).map((condition) => [condition, given[condition]])
  const previous = previousMembers(list, asked, context)
  return { name: nameWith(Object.fromEntries(inOrder)), previousName: previous && nameWith(previous) }
}

/** The members of the previous name; `null` where there was none, or not with these filters. */
function previousMembers(
  { previousCursors }: CursorSource,
  asked: ListCriteria['filters'],
  context: CursorContext,
): object | null {
  if (previousCursors === undefined) return null
  const isKnown = Object.entries(asked).every(([field, value]) => value === null || field in previousCursors)
  if (!isKnown) return null
  const members = Object.entries(previousCursors).map(([field, membersOf]) => membersOf?.(asked[field], context))
  return Object.assign({}, ...members)
}
