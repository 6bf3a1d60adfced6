import type { DomainError, FieldError } from '../errors.ts'

/** The names by which callers of a door know an operation's fields: `customerId` is `customer_id` on the wire. */
export type FieldNames = Readonly<Record<string, string>>

/** What a refusal says to a caller, with the faulty fields under the names that the caller used. */
export function formatDomainError({ message, details: { fields } }: DomainError, names: FieldNames) {
  const faults = fields?.map((fault) => renameFieldError(fault, names)) ?? null
  return { message: faults ? `${faults.map((fault) => fault.message).join('; ')}.` : message, fields: faults }
}

/** A field that came twice may be called anything, such as `__proto__`. */
export function externalFieldName(field: string, names: FieldNames): string {
  return Object.hasOwn(names, field) ? (names[field] as string) : field
}

function renameFieldError({ field, code, message }: FieldError, names: FieldNames): FieldError {
  const name = externalFieldName(field, names)
  return { field: name, code, message: `${name} ${message}` }
}
