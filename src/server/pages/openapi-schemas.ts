import { z } from 'zod'
import { textRules } from '../../core/input.ts'
import type { JsonSchema } from '../../rest/input-fields.ts'

export type JsonSchemas = Record<string, JsonSchema>

export function inputSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, {
    io: 'input',
    // Zod cannot describe fields with custom parsers, so endpoints declare their schemas.
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const rule = textRules.get(zodSchema as unknown as z.ZodType)
      if (rule)
        Object.assign(jsonSchema, { maxLength: rule.maxLength, ...(jsonSchema.type === 'string' && { minLength: 1 }) })
    },
  }) as JsonSchema
}

/**
 * Merges the schema of the endpoint with the schema of the operation. The operation's schema has precedence, except for
 * a type that the endpoint declares. A nullable field has `null` as its second type.
 */
export function mergeSchemas(declared: JsonSchema, { anyOf, ...own }: JsonSchema): JsonSchema {
  const [value, alternative] = anyOf ?? []
  const type = declared.type ?? value?.type
  const mayBeNull = alternative?.type === 'null' && type !== undefined
  const base = declared.type === undefined ? { ...declared, ...own, ...(mayBeNull && value) } : declared
  const schema: JsonSchema = { ...base, ...(mayBeNull && { type: [String(type), 'null'] }) }
  return isNullable(schema) && schema.enum ? { ...schema, enum: [...schema.enum, null] } : schema
}

export function isNullable({ type }: JsonSchema): boolean {
  return Array.isArray(type) && type.includes('null')
}

/** A query parameter cannot be `null`. */
export function withoutNull({ type, enum: values, ...schema }: JsonSchema): JsonSchema {
  return { ...schema, type: String(type?.[0]), ...(values && { enum: values.filter((value) => value !== null) }) }
}

export function hoistSchema({ title, ...schema }: JsonSchema, schemas: JsonSchemas): JsonSchema {
  const { properties, items, oneOf } = schema
  const hoisted = {
    ...schema,
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [name, hoistSchema(each, schemas)]),
      ),
    }),
    ...(items && { items: hoistSchema(items, schemas) }),
    ...(oneOf && { oneOf: oneOf.map((each) => hoistSchema(each, schemas)) }),
  }
  if (title === undefined) return hoisted
  schemas[title] = hoisted
  return { $ref: `#/components/schemas/${title}` }
}

/** Omits optional properties without an example. */
export function sampleOf(schema: JsonSchema, schemas: JsonSchemas): unknown {
  const { examples, properties, required = [], items, oneOf } = dereference(schema, schemas)
  if (items && !examples) return (dereference(items, schemas).oneOf ?? [items]).map((each) => sampleOf(each, schemas))
  if (!properties && !examples && oneOf?.[0]) return sampleOf(oneOf[0], schemas)
  if (!properties || examples) return examples?.[0]
  const included = Object.entries(properties).filter(([name, { examples }]) => required.includes(name) || examples)
  return Object.fromEntries(included.map(([name, member]) => [name, sampleOf(member, schemas)]))
}

function dereference(schema: JsonSchema, schemas: JsonSchemas): JsonSchema {
  return (schema.$ref !== undefined && schemas[refName(schema.$ref)]) || schema
}

function refName(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}
