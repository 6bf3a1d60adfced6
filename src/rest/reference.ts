import type { ErrorCode } from '../errors.ts'

/** What a handler answers; the envelope is made of it in this order (ruling 1). */
export type Answer = { readonly message?: string; readonly data?: unknown; readonly pagination?: unknown }

/** The same where the operation is done once for each key. */
export type Replayable = Answer & { readonly isReplayed?: boolean }

/** What `/openapi.json` and `/docs` say of an endpoint beside what its route and its operation's schema say themselves. */
export type Reference<Input = Record<string, unknown>> = {
  /** The name that programs know it by. */
  readonly name: string
  /** What it does, in a few words. */
  readonly title: string
  readonly description: string
  /** A sentence for each field of the input, or more of its schema: a field that the input gains does not compile without. */
  readonly fields: { readonly [Field in keyof Required<Input>]: string | Described }
  /** An input that is answered with success. */
  readonly example: Partial<Input>
  /** What the operation itself can refuse with, beside what the door does for every endpoint of its method. */
  readonly refusals: readonly ErrorCode[]
  /** The schemas of what the handler answers, made when they are asked for. */
  readonly answer: () => { readonly [Part in keyof Answer]: JsonSchema }
}

/** A schema of JSON Schema 2020-12, which is what OpenAPI 3.1 has, of the keywords that are used here. */
export type JsonSchema = {
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly pattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly enum?: readonly unknown[]
  readonly default?: unknown
  readonly items?: JsonSchema
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: false
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly examples?: readonly unknown[]
}

type Described = JsonSchema & { readonly description: string }
type Schema = Described & { readonly type: string }
type NullableSchema = Described & { readonly type: readonly [string, 'null'] }

/** The schema of each member of an object: one that it gains, or that may be null from now on, does not compile without. */
export type SchemasOf<Json> = {
  readonly [Member in keyof Json]-?: unknown extends Json[Member]
    ? JsonSchema
    : null extends Json[Member]
      ? NullableSchema
      : Schema
}

/** Text of any form; the example is there for readers. */
export const text = (description: string, example: string): Schema => ({
  type: 'string',
  description,
  examples: [example],
})

export const uuid = (description: string, example = '01980c5e-7a10-7c3f-9d2b-4e5f60718293'): Schema => ({
  ...text(description, example),
  format: 'uuid',
})

/** A moment in UTC with milliseconds. */
export const timestamp = (description: string, example = '2026-03-02T09:30:00.000Z'): Schema => ({
  ...text(description, example),
  format: 'date-time',
})

/** A decimal string of eight places. */
export const amount = (description: string, example: string): Schema => ({
  ...text(description, example),
  pattern: String.raw`^\d+\.\d{8}$`,
})

/** One of a list of values; the first of them is shown unless another is named. */
export const oneOf = (description: string, values: readonly string[], example = values[0] ?? ''): Schema => ({
  ...text(description, example),
  enum: values,
})

export const integer = (description: string, example: number): Schema => ({
  type: 'integer',
  minimum: 0,
  description,
  examples: [example],
})

export const truth = (description: string, example: boolean): Schema => ({
  type: 'boolean',
  description,
  examples: [example],
})

export const orNull = ({ type, enum: values, ...schema }: Schema): NullableSchema => ({
  ...schema,
  type: [type, 'null'],
  ...(values && { enum: [...values, null] }),
})

/** The same where null is what readers are shown. */
export const mostlyNull = (schema: Schema): NullableSchema => ({ ...orNull(schema), examples: [null] })

export const listOf = (description: string, items: JsonSchema): Schema => ({ type: 'array', description, items })

/** An object that has all of these members, but for those that are optional, and no others. */
export function object<Json>(
  description: string,
  properties: SchemasOf<Json>,
  { title, optional = [] }: { title?: string; optional?: readonly (keyof Json)[] } = {},
): Schema {
  const names = Object.keys(properties)
  return {
    type: 'object',
    ...(title !== undefined && { title }),
    description,
    properties: properties as Record<string, JsonSchema>,
    required: names.filter((name) => !optional.some((each) => each === name)),
    additionalProperties: false,
  }
}

/** The fields that every list with pages takes. */
export const pageField = { type: 'integer', minimum: 1, default: 1, description: 'Which page, counted from 1.' }

export const limitField = (standard: number) => ({
  type: 'integer',
  minimum: 1,
  maximum: 100,
  default: standard,
  description: 'How many a page has at most.',
})

/** What is said of an endpoint that the contract does not have. */
export const addition = 'It is an addition to the contract.'

/** The form of a field that takes an id. */
export const idField = (description: string) => ({ format: 'uuid', description })
