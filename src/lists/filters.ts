import { z } from 'zod'
import { parseUuid } from '../core/ids-and-clock.ts'
import { normalizeCase, optionalOneOf, optionalText, optionalUuid, rejectField, uuid } from '../core/input.ts'

/**
 * `rest` overrides the filter's name and description in REST. By default, REST uses the filter's name in snake case. If
 * `rest` is `null`, REST does not have the filter.
 */
export type FilterField<Schema extends z.ZodType = z.ZodType, PageSchema extends z.ZodType = z.ZodType> = {
  readonly schema: Schema
  readonly pageSchema: PageSchema
  readonly kind: FilterKind
  readonly description: string
  readonly rest: RestOverrides | null
}

export type FilterKind = 'owner' | 'text' | { readonly idOf: string } | readonly string[]

type RestOverrides = { readonly name?: string; readonly description?: string }

export type FilterFields = Readonly<Record<string, FilterField>>

/**
 * Filters by any owner, the merchant itself, or one customer (ruling 18). REST has a different notation for owners, so
 * `pageSchema` has a different error message.
 */
export const filterByOwner = (description: string, rest: RestOverrides | null = {}) => ({
  ...createFilter('owner', ownerFilter(), { description, rest }),
  pageSchema: ownerFilter('must be a UUID, or null for the merchant'),
})

/** The filter's values are case-insensitive (ruling 19). */
export const filterByEnum = <const Values extends readonly string[]>(
  values: Values,
  description: string,
  rest: RestOverrides | null = {},
) => createFilter(values, optionalOneOf(values), { description, rest })

/** In REST, an unknown value is not an error, but matches no rows (ruling 19). */
export const filterByLenientEnum = <const Values extends readonly string[]>(
  values: Values,
  description: string,
  restDescription: string,
) => ({
  ...filterByEnum(values, description, { description: restDescription }),
  pageSchema: optionalText().transform((text) => normalizeCase(values, text)),
})

export const filterByText = (description: string, rest: RestOverrides | null = {}) =>
  createFilter('text', optionalText(), { description, rest })

export const filterById = (idOf: string, description: string) =>
  createFilter({ idOf }, optionalUuid(), { description, rest: null })

export const filterByRequiredId = (idOf: string, description: string) =>
  createFilter({ idOf }, uuid(), { description, rest: null })

function createFilter<Schema extends z.ZodType>(
  kind: FilterKind,
  schema: Schema,
  { description, rest }: Pick<FilterField, 'description' | 'rest'>,
): FilterField<Schema, Schema> {
  return { schema, pageSchema: schema, kind, description, rest }
}

export type FilterValues<Fields extends FilterFields> = {
  readonly [Field in keyof Fields]: z.output<Fields[Field]['pageSchema']>
}

export function filterSchemas<Fields extends FilterFields, Which extends 'schema' | 'pageSchema'>(
  filters: Fields,
  which: Which,
) {
  const fields = Object.entries(filters).map(([field, filter]) => [field, filter[which]])
  return Object.fromEntries(fields) as { readonly [Field in keyof Fields]: Fields[Field][Which] }
}

export type OwnerFilter = 'any' | 'merchant' | { readonly customerId: string }

/** Absent and null mean `any`. `message` is the error message for an invalid customer id. */
const ownerFilter = (message = 'must name a customer by its UUID') =>
  z
    .custom<OwnerFilter | null>(() => true)
    .optional()
    .transform((owner, context): OwnerFilter => {
      if (owner === undefined || owner === null || owner === 'any') return 'any'
      if (owner === 'merchant') return 'merchant'
      const customerId = parseUuid(owner.customerId)
      return customerId ? { customerId } : rejectField(context, 'INVALID_FORMAT', message)
    })

const nonexistentOwnerId = '00000000-0000-0000-0000-000000000000'

export function ownerIdOf(owner: OwnerFilter, { merchantId }: { merchantId: string }): string | undefined {
  if (owner === 'any') return undefined
  if (owner === 'merchant') return merchantId
  // The merchant's own rows have the merchant's id as `ownerId`. A filter by customer must not match the merchant's own
  // rows.
  return owner.customerId === merchantId ? nonexistentOwnerId : owner.customerId
}

/** Returns conditions for a table in which the merchant's own rows have no customer id. */
export function customerConditions(owner: OwnerFilter): { customerId?: string; isMerchantOwned?: true } {
  if (typeof owner === 'object') return owner
  return owner === 'merchant' ? { isMerchantOwned: true } : {}
}
