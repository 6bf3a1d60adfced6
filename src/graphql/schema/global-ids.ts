import { parseUuid } from '../../core/ids-and-clock.ts'

/** Returns the global id of a node: opaque to callers, and permanent. */
export function toGlobalId(type: string, id: string): string {
  return btoa(`${type}:${id}`)
}

/** Parses a global id; null for any other text. */
export function parseGlobalId(text: string): { type: string; id: string } | null {
  const [, type, id] = /^([A-Z]\w*):(.+)$/.exec(decodeBase64(text)) ?? []
  return type !== undefined && id !== undefined ? { type, id } : null
}

const unionMembers = new Map<string, readonly string[]>()

/** Makes ids of these types valid as ids of their union. */
export function registerUnion(union: string, types: readonly string[]): void {
  unionMembers.set(union, types)
}

/**
 * Converts a global id of a type, or of a member of a union, to the id that operations use. Accepts a UUID as well.
 *
 * Returns any other text unchanged, because the operation rejects it.
 */
export function localId(type: string, id: string): string {
  // In lower case, so that an idempotency key sees the same input for every spelling.
  const uuid = parseUuid(id)
  if (uuid !== null) return uuid
  const parsed = parseGlobalId(id)
  const isOfType = parsed !== null && (unionMembers.get(type) ?? [type]).includes(parsed.type)
  return isOfType ? (parseUuid(parsed.id) ?? parsed.id) : id
}

function decodeBase64(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}
