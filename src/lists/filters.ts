import type { z } from 'zod'
import { normalizeCase, optionalOneOf, optionalText, optionalUuid, uuid } from '../core/input.ts'
import { ownerFilter } from './owner-filter.ts'

/**
 * A field by which a list is narrowed, with a sentence for its readers. `rest` is what the REST door has differently: its name
 * where that is not the same in snake case, and its sentence; `null` where that door does not have it.
 */
export type FilterField<Schema extends z.ZodType = z.ZodType, PageSchema extends z.ZodType = z.ZodType> = {
  readonly schema: Schema
  readonly pageSchema: PageSchema
  readonly kind: FilterKind
  readonly description: string
  readonly rest: RestOverrides | null
}

/** What a field holds: whose, text, the id of a kind of node, or one of some values. */
export type FilterKind = 'owner' | 'text' | { readonly idOf: string } | readonly string[]

type RestOverrides = { readonly name?: string; readonly description?: string }

export type FilterFields = Readonly<Record<string, FilterField>>

/** Whose: everyone's, the merchant's own, or one customer's (ruling 18); pages are asked for in REST's words. */
export const filterByOwner = (description: string, rest: RestOverrides | null = {}) => ({
  ...createFilter('owner', ownerFilter(), { description, rest }),
  pageSchema: ownerFilter('must be a UUID, or null for the merchant'),
})

/** One of a list of values, in any case (ruling 19). */
export const filterByEnum = <const Values extends readonly string[]>(
  values: Values,
  description: string,
  rest: RestOverrides | null = {},
) => createFilter(values, optionalOneOf(values), { description, rest })

/** The same where REST takes any text, and one that is no such value matches nothing (ruling 19). */
export const filterByLenientEnum = <const Values extends readonly string[]>(
  values: Values,
  description: string,
  restDescription: string,
) => ({
  ...filterByEnum(values, description, { description: restDescription }),
  pageSchema: optionalText().transform((text) => normalizeCase(values, text)),
})

/** Any text; one that is not known matches nothing. */
export const filterByText = (description: string, rest: RestOverrides | null = {}) =>
  createFilter('text', optionalText(), { description, rest })

/** What rows belong to, by its id. */
export const filterById = (idOf: string, description: string) =>
  createFilter({ idOf }, optionalUuid(), { description, rest: null })

/** The same where there is no list without it. */
export const filterByRequiredId = (idOf: string, description: string) =>
  createFilter({ idOf }, uuid(), { description, rest: null })

function createFilter<Schema extends z.ZodType>(
  kind: FilterKind,
  schema: Schema,
  { description, rest }: Pick<FilterField, 'description' | 'rest'>,
): FilterField<Schema, Schema> {
  return { schema, pageSchema: schema, kind, description, rest }
}

/** What is asked for, as it is parsed. */
export type FilterValues<Fields extends FilterFields> = {
  readonly [Field in keyof Fields]: z.output<Fields[Field]['pageSchema']>
}

/** The fields of a list's input: for slices those of `schema`, for pages those of `pageSchema`. */
export function filterSchemas<Fields extends FilterFields, Which extends 'schema' | 'pageSchema'>(
  filters: Fields,
  which: Which,
) {
  const fields = Object.entries(filters).map(([field, filter]) => [field, filter[which]])
  return Object.fromEntries(fields) as { readonly [Field in keyof Fields]: Fields[Field][Which] }
}
