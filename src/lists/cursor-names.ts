import type { Context } from '../operations/context.ts'
import type { FilterFields, FilterValues } from './filters.ts'
import type { ConditionValues } from './list-queries.ts'
import type { CreatedRange } from './time-range.ts'

type CursorContext = Pick<Context, 'db' | 'merchantId'>

/** `previousName` is the list's name in cursors of an earlier version, which the list still accepts. */
export type CursorNames = { readonly name: readonly unknown[]; readonly previousName: readonly unknown[] | null }

/**
 * Each function returns what an earlier version stored in cursors for a filter. If a request has a filter that the
 * earlier version lacked, the list rejects cursors of the earlier version.
 */
export type PreviousCursors<Fields extends FilterFields> = {
  readonly [Field in keyof Fields]?: (value: FilterValues<Fields>[Field], context: CursorContext) => object
}

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
 * Lists with the same rows have the same name. If no row can match the filters, the list's name contains the filters,
 * so that the list rejects cursors of other lists.
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
