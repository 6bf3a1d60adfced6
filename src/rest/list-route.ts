import type { z } from 'zod'
import type { ErrorCode } from '../core/errors.ts'
import type { createdRangeFields } from '../core/input.ts'
import type { FilterFields, OwnerFilter } from '../lists/filters.ts'
import type { Page } from '../lists/list-pages.ts'
import { totalPages } from '../lists/list-pages.ts'
import type { Context } from '../operations/context.ts'
import type { RestInputField } from './input-fields.ts'
import type { JsonType } from './json-types.ts'
import { boolean, integer, text } from './json-types.ts'
import type { RestEndpoint, Route } from './route.ts'
import { get } from './route.ts'
import type { ShapeMembers } from './shape.ts'
import { member, shape } from './shape.ts'

type PaginatedList<Row> = {
  readonly filters: FilterFields
  readonly pageSize: number
  readonly PageInput: z.ZodType
  readonly page: (context: Context, input: never) => Promise<Page<Row>>
}

type ListRouteOptions<Row> = Pick<RestEndpoint<z.ZodType, unknown>, 'name' | 'title' | 'description' | 'example'> & {
  readonly fields?: Readonly<Record<string, RestInputField>>
  readonly errors?: readonly ErrorCode[]
  readonly timeDescriptions?: { readonly [Field in keyof typeof createdRangeFields]: string }
  readonly message?: { readonly of: (input: { readonly owner?: OwnerFilter }) => string; readonly example: string }
  readonly rows: JsonType<readonly Row[]>
  readonly pagination?: ShapeMembers<Page<unknown>>
}

type ListResponse<Row> = Page<Row> & { readonly message?: string }

export function listRoute<Row>(
  path: string,
  { filters, pageSize, PageInput, page }: PaginatedList<Row>,
  { rows, message, pagination, fields, timeDescriptions, ...options }: ListRouteOptions<Row>,
): Route {
  const endpoint: RestEndpoint<z.ZodType, ListResponse<Row>> = {
    input: PageInput,
    operation: message
      ? async (context, input) => ({ ...(await page(context, input as never)), message: message.of(input as object) })
      : (page as RestEndpoint<z.ZodType, ListResponse<Row>>['operation']),
    errors: [],
    ...options,
    fields: {
      ...fields,
      ...filterInputFields(filters),
      ...timeInputFields(timeDescriptions),
      ...pageInputFields(pageSize),
    },
    response: {
      ...(message && {
        message: member(
          ({ message = '' }: ListResponse<Row>) => message,
          text('A message for people.', message.example),
        ),
      }),
      data: member(({ items }) => items, rows),
      pagination: shape('The position of the page in the list.', { ...paginationMembers, ...pagination }),
    },
  }
  return get(path, endpoint)
}

/** Contract, section 4. */
const paginationMembers: ShapeMembers<Page<unknown>> = {
  total: member(({ total }) => total, integer('The number of rows in the whole list.', 1)),
  page: member(({ page }) => page, integer('The number of this page, from 1.', 1)),
  limit: member(({ limit }) => limit, integer('The maximum number of rows in a page.', 20)),
  totalPages: member(totalPages, integer('The number of pages; 0 for an empty list.', 1)),
}

export const adjacentPageMembers: ShapeMembers<Page<unknown>> = {
  hasNextPage: member((page) => page.page < totalPages(page), boolean('Whether there is a next page.', false)),
  hasPreviousPage: member(({ page }) => page > 1, boolean('Whether there is a previous page.', false)),
}

function filterInputFields(filters: FilterFields): Record<string, RestInputField> {
  const fields = Object.entries(filters).flatMap(([field, { kind, description, rest }]) => {
    if (rest === null) return []
    return [[field, { ...(kind === 'owner' && ownerField), description, ...rest }] as const]
  })
  return Object.fromEntries(fields)
}

function timeInputFields(descriptions: ListRouteOptions<never>['timeDescriptions']): Record<string, RestInputField> {
  const fields = Object.entries(descriptions ?? {}).map(([field, description]) => [
    field,
    { format: 'date-time', description },
  ])
  return Object.fromEntries(fields)
}

function pageInputFields(pageSize: number) {
  const number = { type: 'integer', minimum: 1 }
  return {
    page: { ...number, default: 1, description: 'The number of the page, from 1.' },
    limit: { ...number, maximum: 100, default: pageSize, description: 'The maximum number of rows in a page.' },
  }
}

/**
 * An absent or empty filter selects all owners, `null` selects the merchant, and an id selects a customer (ruling 18).
 */
const ownerField = {
  name: 'customer_id',
  anyOf: [{ type: 'string', format: 'uuid' }, { enum: ['null', ''] }],
  read: (text: unknown): OwnerFilter =>
    text === '' ? 'any' : text === 'null' ? 'merchant' : { customerId: text as string },
}
