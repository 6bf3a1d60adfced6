import type { FieldFault, Refusal } from '../errors.ts'

/** The names by which callers of a door know an operation's fields: `customerId` is `customer_id` on the wire. */
export type Names = Readonly<Record<string, string>>

/** What a refusal says to a caller, with the faulty fields under the names that the caller used. */
export function refusalText({ message, details: { fields } }: Refusal, names: Names) {
  const faults = fields?.map((fault) => named(fault, names)) ?? null
  return { message: faults ? `${faults.map((fault) => fault.message).join('; ')}.` : message, fields: faults }
}

/** A field that came twice may be called anything, such as `__proto__`. */
export function nameOf(field: string, names: Names): string {
  return Object.hasOwn(names, field) ? (names[field] as string) : field
}

function named({ field, code, message }: FieldFault, names: Names): FieldFault {
  const name = nameOf(field, names)
  return { field: name, code, message: `${name} ${message}` }
}
