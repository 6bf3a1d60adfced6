import type { JsonSchema } from '../../rest/input-fields.ts'

/** The schemas of a document by their names. */
export type JsonSchemas = Record<string, JsonSchema>

/** A value that a schema describes, made of the examples in it; what may be absent is, unless it has one of its own. */
export function sampleOf(schema: JsonSchema, schemas: JsonSchemas): unknown {
  const { examples, properties, required = [], items, oneOf } = dereference(schema, schemas)
  if (items && !examples) return (dereference(items, schemas).oneOf ?? [items]).map((each) => sampleOf(each, schemas))
  if (!properties && !examples && oneOf?.[0]) return sampleOf(oneOf[0], schemas)
  if (!properties || examples) return examples?.[0]
  const shown = Object.entries(properties).filter(([name, { examples }]) => required.includes(name) || examples)
  return Object.fromEntries(shown.map(([name, member]) => [name, sampleOf(member, schemas)]))
}

/** A schema, or the one that it refers to. */
function dereference(schema: JsonSchema, schemas: JsonSchemas): JsonSchema {
  return (schema.$ref !== undefined && schemas[refName(schema.$ref)]) || schema
}

/** The name that a reference within the document ends with. */
function refName(reference: string): string {
  return reference.slice(reference.lastIndexOf('/') + 1)
}
