import type { FieldFault } from '../errors.ts'

/** What is wrong with an idempotency key that a caller gave under the name `field`, if anything (ruling 22). */
export function idempotencyKeyFaults(field: string, key: string): FieldFault[] {
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return []
  return [{ field, code: 'INVALID_FORMAT', message: 'must be 1 to 255 printable ASCII characters' }]
}
