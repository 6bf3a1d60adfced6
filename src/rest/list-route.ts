import type { z } from 'zod'
import type { ErrorCode } from '../core/errors.ts'
import type { createdFields } from '../core/input.ts'
import type { Filters } from '../lists/filters.ts'
import type { OwnerFilter } from '../lists/owner.ts'
import type { Page } from '../lists/page.ts'
import { totalPages } from '../lists/page.ts'
import type { Context } from '../operations/context.ts'
import type { Form } from './forms.ts'
import { integer, text, truth } from './forms.ts'
import type { InputField } from './reference.ts'
import type { Endpoint, Route } from './route.ts'
import { get } from './route.ts'
import type { Members } from './shape.ts'
import { from, shape } from './shape.ts'

/** A list, as far as its endpoint needs it. */
type Listed<Row> = {
  readonly filters: Filters
  readonly pageSize: number
  readonly PageInput: z.ZodType
  readonly page: (context: Context, input: never) => Promise<Page<Row>>
}

type Options<Row> = Pick<Endpoint<z.ZodType, unknown>, 'name' | 'title' | 'description' | 'example'> & {
  /** The fields that it takes besides, and what it refuses with for them. */
  readonly fields?: Readonly<Record<string, InputField>>
  readonly refusals?: readonly ErrorCode[]
  /** A sentence for each filter by time, where it has them. */
  readonly times?: { readonly [Field in keyof typeof createdFields]: string }
  /** The sentence of the answer, where it has one, by what is asked for. */
  readonly message?: { readonly of: (input: { readonly owner?: OwnerFilter }) => string; readonly example: string }
  readonly rows: Form<readonly Row[]>
  /** What is said of the page beside its numbers. */
  readonly pagination?: Members<Page<unknown>>
}

type Answered<Row> = Page<Row> & { readonly message?: string }

/** The endpoint that lists rows page by page, with the filters that the list shows at this door. */
export function listRoute<Row>(
  path: string,
  { filters, pageSize, PageInput, page }: Listed<Row>,
  { rows, message, pagination, fields, times, ...options }: Options<Row>,
): Route {
  const endpoint: Endpoint<z.ZodType, Answered<Row>> = {
    input: PageInput,
    operation: message
      ? async (context, input) => ({ ...(await page(context, input as never)), message: message.of(input as object) })
      : (page as Endpoint<z.ZodType, Answered<Row>>['operation']),
    refusals: [],
    ...options,
    fields: { ...fields, ...fieldsOf(filters), ...timesOf(times), ...placeOf(pageSize) },
    answer: {
      ...(message && {
        message: from(({ message = '' }: Answered<Row>) => message, text('A sentence for people.', message.example)),
      }),
      data: from(({ items }) => items, rows),
      pagination: shape('Where the page stands in the list.', { ...numbers, ...pagination }),
    },
  }
  return get(path, endpoint)
}

/** The pagination object that every list has (contract 4). */
const numbers: Members<Page<unknown>> = {
  total: from(({ total }) => total, integer('How many the whole list has.', 1)),
  page: from(({ page }) => page, integer('Which page this is, counted from 1.', 1)),
  limit: from(({ limit }) => limit, integer('How many a page has at most.', 20)),
  totalPages: from(totalPages, integer('How many pages there are; 0 for an empty list.', 1)),
}

/** Which pages there are beside the one that is shown. */
export const neighbours: Members<Page<unknown>> = {
  hasNextPage: from((page) => page.page < totalPages(page), truth('Whether a page follows.', false)),
  hasPreviousPage: from(({ page }) => page > 1, truth('Whether a page comes before.', false)),
}

function fieldsOf(filters: Filters): Record<string, InputField> {
  const shown = Object.entries(filters).flatMap(([field, { kind, description, rest }]) => {
    if (rest === null) return []
    const said = { description, ...rest }
    return [[field, kind === 'owner' ? { ...ownerField, ...said } : said] as const]
  })
  return Object.fromEntries(shown)
}

function timesOf(times: Options<never>['times']): Record<string, InputField> {
  const said = Object.entries(times ?? {}).map(([field, description]) => [field, { format: 'date-time', description }])
  return Object.fromEntries(said)
}

function placeOf(pageSize: number) {
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
