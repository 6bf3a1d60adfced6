import type { Amount } from '../core/money/amount.ts'
import { formatAmount } from '../core/money/amount.ts'
import { escapeJsonString } from '../core/net/json-text.ts'
import type { JsonSchema } from './input-fields.ts'

export type JsonType<Value> = {
  readonly schema: JsonSchema
  readonly isQuoted: boolean
  /** `write` is `null` if the value needs no conversion to JSON. */
  readonly write: ((value: Value) => string) | null
}

export const plainText = (description: string, example: string, schema: JsonSchema = {}): JsonType<string> => ({
  schema: { type: 'string', description, examples: [example], ...schema },
  isQuoted: true,
  write: null,
})

export const text = (...options: Parameters<typeof plainText>): JsonType<string> => ({
  ...plainText(...options),
  write: escapeJsonString,
})

export const uuid = (description: string, example = '01980c5e-7a10-7c3f-9d2b-4e5f60718293') =>
  plainText(description, example, { format: 'uuid' })

export const timestamp = (description: string, example = '2026-03-02T09:30:00.000Z') =>
  plainText(description, example, { format: 'date-time' })

export const decimal = (description: string, example: string) =>
  plainText(description, example, { pattern: String.raw`^\d+\.\d{8}$` })

export const amount = (...options: Parameters<typeof decimal>): JsonType<Amount> => ({
  ...decimal(...options),
  write: formatAmount,
})

export const oneOf = (description: string, values: readonly string[], example = values[0] ?? '') =>
  plainText(description, example, { enum: values })

export const integer = (description: string, example: number): JsonType<number> =>
  unquotedType({ type: 'integer', minimum: 0, description, examples: [example] }, String)

export const boolean = (description: string, example: boolean): JsonType<boolean> =>
  unquotedType({ type: 'boolean', description, examples: [example] }, String)

export const someOf = (
  description: string,
  values: readonly string[],
  examples: readonly string[],
): JsonType<readonly string[]> =>
  unquotedType(
    { type: 'array', description, items: { type: 'string', enum: values }, examples: [examples] },
    JSON.stringify,
  )

export function withSchema<Type extends JsonType<never>>(type: Type, schema: JsonSchema): Type {
  return { ...type, schema: { ...type.schema, ...schema } }
}

export function unquotedType<Value>(
  schema: JsonSchema,
  write: (value: Value) => string,
): JsonType<Value> & { readonly write: (value: Value) => string } {
  return { schema, isQuoted: false, write }
}
