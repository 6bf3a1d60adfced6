import type { z } from 'zod'
import type { ErrorCode } from '../core/errors.ts'
import type { createdRangeFields } from '../core/input.ts'
import type { FilterFields } from '../lists/filters.ts'
import type { OwnerFilter } from '../lists/owner-filter.ts'
import type { Page } from '../lists/page.ts'
import { totalPages } from '../lists/page.ts'
import type { Context } from '../operations/context.ts'
import type { RestInputField } from './input-fields.ts'
import type { JsonType } from './json-types.ts'
import { boolean, integer, text } from './json-types.ts'
import type { RestEndpoint, Route } from './route.ts'
import { get } from './route.ts'
import type { ShapeMembers } from './shape.ts'
import { member, shape } from './shape.ts'

/** A list, as far as its endpoint needs it. */
type PaginatedList<Row> = {
  readonly filters: FilterFields
  readonly pageSize: number
  readonly PageInput: z.ZodType
  readonly page: (context: Context, input: never) => Promise<Page<Row>>
}

type ListRouteOptions<Row> = Pick<RestEndpoint<z.ZodType, unknown>, 'name' | 'title' | 'description' | 'example'> & {
  /** The fields that it takes besides, and what it refuses with for them. */
  readonly fields?: Readonly<Record<string, RestInputField>>
  readonly errors?: readonly ErrorCode[]
  /** A sentence for each filter by time, where it has them. */
  readonly timeDescriptions?: { readonly [Field in keyof typeof createdRangeFields]: string }
  /** The sentence of the answer, where it has one, by what is asked for. */
  readonly message?: { readonly of: (input: { readonly owner?: OwnerFilter }) => string; readonly example: string }
  readonly rows: JsonType<readonly Row[]>
  /** What is said of the page beside its numbers. */
  readonly pagination?: ShapeMembers<Page<unknown>>
}

type ListResponse<Row> = Page<Row> & { readonly message?: string }

/** The endpoint that lists rows page by page, with the filters that the list shows at this door. */
export function listRoute<Row>(
  path: string,
  { filters, pageSize, PageInput, page }: PaginatedList<Row>,
  { rows, message, pagination, fields, timeDescriptions: times, ...options }: ListRouteOptions<Row>,
): Route {
  const endpoint: RestEndpoint<z.ZodType, ListResponse<Row>> = {
    input: PageInput,
    operation: message
      ? async (context, input) => ({ ...(await page(context, input as never)), message: message.of(input as object) })
      : (page as RestEndpoint<z.ZodType, ListResponse<Row>>['operation']),
    errors: [],
    ...options,
    fields: { ...fields, ...filterInputFields(filters), ...timeInputFields(times), ...pageInputFields(pageSize) },
    response: {
      ...(message && {
        message: member(
          ({ message = '' }: ListResponse<Row>) => message,
          text('A sentence for people.', message.example),
        ),
      }),
      data: member(({ items }) => items, rows),
      pagination: shape('Where the page stands in the list.', { ...paginationMembers, ...pagination }),
    },
  }
  return get(path, endpoint)
}

/** The pagination object that every list has (contract 4). */
const paginationMembers: ShapeMembers<Page<unknown>> = {
  total: member(({ total }) => total, integer('How many the whole list has.', 1)),
  page: member(({ page }) => page, integer('Which page this is, counted from 1.', 1)),
  limit: member(({ limit }) => limit, integer('How many a page has at most.', 20)),
  totalPages: member(totalPages, integer('How many pages there are; 0 for an empty list.', 1)),
}

/** Which pages there are beside the one that is shown. */
export const adjacentPageMembers: ShapeMembers<Page<unknown>> = {
  hasNextPage: member((page) => page.page < totalPages(page), boolean('Whether a page follows.', false)),
  hasPreviousPage: member(({ page }) => page > 1, boolean('Whether a page comes before.', false)),
}

function filterInputFields(filters: FilterFields): Record<string, RestInputField> {
  const shown = Object.entries(filters).flatMap(([field, { kind, description, rest }]) => {
    if (rest === null) return []
    const said = { description, ...rest }
    return [[field, kind === 'owner' ? { ...ownerField, ...said } : said] as const]
  })
  return Object.fromEntries(shown)
}

function timeInputFields(times: ListRouteOptions<never>['timeDescriptions']): Record<string, RestInputField> {
  const said = Object.entries(times ?? {}).map(([field, description]) => [field, { format: 'date-time', description }])
  return Object.fromEntries(said)
}

function pageInputFields(pageSize: number) {
  const number = { type: 'integer', minimum: 1 }
  return {
    page: { ...number, default: 1, description: 'Which page, counted from 1.' },
    limit: { ...number, maximum: 100, default: pageSize, description: 'How many a page has at most.' },
  }
}

/** How a query spells whose: absent or empty for all, `null` for the merchant's own, else a customer (ruling 18). */
const ownerField = {
  name: 'customer_id',
  anyOf: [{ type: 'string', format: 'uuid' }, { enum: ['null', ''] }],
  read: (text: unknown): OwnerFilter =>
    text === '' ? 'any' : text === 'null' ? 'merchant' : { customerId: text as string },
}
