import { parseUuid } from '../../core/ids-and-clock.ts'

export function toGlobalId(type: string, id: string): string {
  return btoa(`${type}:${id}`)
}

/** Parses a global id. Returns null for any other text. */
export function parseGlobalId(text: string): { type: string; id: string } | null {
  const [, type, id] = /^([A-Z]\w*):(.+)$/.exec(decodeBase64(text)) ?? []
  return type !== undefined && id !== undefined ? { type, id } : null
}

const unionMembers = new Map<string, readonly string[]>()

/** Registers the member types of a union. `localId` accepts their ids as ids of the union. */
export function registerUnion(union: string, types: readonly string[]): void {
  unionMembers.set(union, types)
}

/**
 * Converts a global id of this type, or of a member of this union, to the id that operations use. Accepts a UUID as
 * well.
 *
 * Returns any other text unchanged, because the operation rejects it.
 */
export function localId(type: string, id: string): string {
  // `parseUuid` returns lower case, so that every spelling of a UUID has the same idempotency fingerprint.
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
