import { z } from 'zod'
import type { Context } from '../context.ts'
import { snakeCase } from '../database/tables.ts'
import type { ErrorCode } from '../errors.ts'
import { invalidInput } from '../errors.ts'
import { createdFields, faultsOf, parse } from '../input.ts'
import type { Filters } from '../lists/filters.ts'
import type { OwnerFilter } from '../lists/owner.ts'
import type { Page } from '../lists/page.ts'
import { ownerOfText, ownerText, ownerTextField } from './owner-text.ts'
import type { Answer, JsonSchema, Reference } from './reference.ts'
import { idField, limitField, pageField } from './reference.ts'
import type { Route } from './route.ts'
import { get, pagination, paginationSchema } from './route.ts'

/** A list, as far as its endpoint needs it. */
type Listed<Row> = {
  readonly filters: Filters
  readonly pageSize: number
  readonly PageInput: z.ZodObject
  readonly page: (context: Context, input: never) => Promise<Page<Row>>
}

type Options<Row> = Pick<Reference, 'name' | 'title' | 'description' | 'example'> & {
  /** A sentence for each filter by time, where it has them. */
  readonly times?: { readonly [Field in keyof typeof createdFields]: string }
  readonly answer: (page: Page<Row>) => Answer
  readonly schemas: () => { readonly [Part in keyof Answer]: JsonSchema }
  /** Whose it is, where that is not for the caller to say. */
  readonly owner?: OwnerFilter
  /** The parameter of the path that names a customer, and what finds that customer's id, or refuses. */
  readonly ofCustomer?: { readonly wire: string; readonly find: (context: Context, id: string) => Promise<string> }
}

/** The endpoint that lists rows page by page, with the filters that the list shows at this door. */
export function listRoute<Row>(path: string, list: Listed<Row>, options: Options<Row>): Route {
  const { owner, ofCustomer, answer } = options
  const { schema, names, fields } = partsOf(list, options)
  const refusals: ErrorCode[] = ofCustomer ? ['RESOURCE_NOT_FOUND'] : []
  const reference = { ...options, fields, refusals, answer: options.schemas }
  return get(path, schema as never, names as never, reference as never, async (context, input) => {
    const asked = input as Record<string, unknown>
    const whose = ofCustomer ? await ownerInPath(ofCustomer, context, parse(schema, asked)) : owner
    return answer(await list.page(context, { ...asked, owner: whose ?? ownerIn(schema, asked) } as never))
  })
}

/** The fields of the endpoint: their schemas, their names on the wire, and what is said of them. */
function partsOf(
  { filters, PageInput, pageSize }: Pick<Listed<unknown>, 'filters' | 'PageInput' | 'pageSize'>,
  { owner, ofCustomer, times }: Pick<Options<never>, 'owner' | 'ofCustomer' | 'times'>,
) {
  const own = {
    schema: {} as Record<string, z.ZodType>,
    names: {} as Record<string, string>,
    fields: {} as Record<string, unknown>,
  }
  const add = (field: string, schema: z.ZodType, name: string, description: unknown) => {
    own.schema[field] = schema
    own.names[field] = name
    own.fields[field] = description
  }
  if (ofCustomer) add('customerId', z.string(), ofCustomer.wire, idField('The id of the customer.'))
  for (const [field, { kind, pageSchema, description, rest }] of Object.entries(filters)) {
    if (rest === null || (kind === 'owner' && (owner !== undefined || ofCustomer))) continue
    const text = rest.description ?? description
    if (kind === 'owner') add(field, ownerText(), 'customer_id', ownerTextField(text))
    else add(field, pageSchema, rest.name ?? snakeCase(field), text)
  }
  for (const [field, description] of Object.entries(times ?? {})) {
    add(field, createdFields[field as keyof typeof createdFields], snakeCase(field), {
      format: 'date-time',
      description,
    })
  }
  add('page', PageInput.shape.page as z.ZodType, 'page', pageField)
  add('limit', PageInput.shape.limit as z.ZodType, 'limit', limitField(pageSize))
  return { ...own, schema: z.object(own.schema) }
}

async function ownerInPath(
  { find }: NonNullable<Options<never>['ofCustomer']>,
  context: Context,
  { customerId }: Record<string, unknown>,
): Promise<OwnerFilter> {
  return { customerId: await find(context, customerId as string) }
}

/** The query spells an owner as text. @throws Refusal INVALID_INPUT, with whatever else is wrong */
function ownerIn(schema: z.ZodType, asked: Record<string, unknown>): OwnerFilter {
  const owner = ownerOfText(asked.owner)
  if (owner === null) throw invalidInput(faultsOf(schema, asked))
  return owner
}

/** What most lists answer: their rows, and where the page stands. */
export function listAnswer<Row>(toJson: (row: Row) => unknown) {
  return (page: Page<Row>): Answer => ({ data: page.items.map(toJson), pagination: pagination(page) })
}

export const listSchemas = (data: () => JsonSchema) => () => ({ data: data(), pagination: paginationSchema() })
