import type { Amount } from '../core/money/amount.ts'
import { formatAmount } from '../core/money/amount.ts'
import { escapeJsonString } from '../core/net/escape-json.ts'
import type { JsonSchema } from './input-fields.ts'

/** A kind of value in answers: what its schema says, and how it is written. */
export type JsonType<Value> = {
  readonly schema: JsonSchema
  /** Whether it stands between quotation marks. */
  readonly isQuoted: boolean
  /** What stands in the answer for a value, but for quotation marks; `null` where that is the value itself. */
  readonly write: ((value: Value) => string) | null
}

/** Text in which nothing is ever escaped, because it is made here: an id, a time, an amount, one of our own values. */
export const plainText = (description: string, example: string, more: JsonSchema = {}): JsonType<string> => ({
  schema: { type: 'string', description, examples: [example], ...more },
  isQuoted: true,
  write: null,
})

/** Text of any form; the example is there for readers. */
export const text = (...said: Parameters<typeof plainText>): JsonType<string> => ({
  ...plainText(...said),
  write: escapeJsonString,
})

export const uuid = (description: string, example = '01980c5e-7a10-7c3f-9d2b-4e5f60718293') =>
  plainText(description, example, { format: 'uuid' })

/** A moment in UTC with milliseconds. */
export const timestamp = (description: string, example = '2026-03-02T09:30:00.000Z') =>
  plainText(description, example, { format: 'date-time' })

/** A decimal string of eight places. */
export const decimal = (description: string, example: string) =>
  plainText(description, example, { pattern: String.raw`^\d+\.\d{8}$` })

/** The same of an amount. */
export const amount = (...said: Parameters<typeof decimal>): JsonType<Amount> => ({
  ...decimal(...said),
  write: formatAmount,
})

/** One of a list of values; the first of them is shown unless another is named. */
export const oneOf = (description: string, values: readonly string[], example = values[0] ?? '') =>
  plainText(description, example, { enum: values })

export const integer = (description: string, example: number): JsonType<number> =>
  unquotedType({ type: 'integer', minimum: 0, description, examples: [example] }, String)

export const boolean = (description: string, example: boolean): JsonType<boolean> =>
  unquotedType({ type: 'boolean', description, examples: [example] }, String)

/** Several of a list of values. */
export const someOf = (
  description: string,
  values: readonly string[],
  examples: readonly string[],
): JsonType<readonly string[]> =>
  unquotedType(
    { type: 'array', description, items: { type: 'string', enum: values }, examples: [examples] },
    JSON.stringify,
  )

/** A form of which the schema says more. */
export function withSchema<Given extends JsonType<never>>(form: Given, more: JsonSchema): Given {
  return { ...form, schema: { ...form.schema, ...more } }
}

/** What is written without quotation marks. */
export function unquotedType<Value>(
  schema: JsonSchema,
  write: (value: Value) => string,
): JsonType<Value> & { readonly write: (value: Value) => string } {
  return { schema, isQuoted: false, write }
}
