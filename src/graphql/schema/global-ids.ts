import { parseUuid } from '../../core/ids-and-clock.ts'

export function toGlobalId(type: string, id: string): string {
  return btoa(`${type}:${id}`)
}

export function parseGlobalId(text: string): { type: string; id: string } | null {
  const [, type, id] = /^([A-Z]\w*):(.+)$/.exec(decodeBase64(text)) ?? []
  return type !== undefined && id !== undefined ? { type, id } : null
}

const unionMembers = new Map<string, readonly string[]>()

/** `localId` accepts an id of a member type as an id of the union. */
export function registerUnion(union: string, types: readonly string[]): void {
  unionMembers.set(union, types)
}

/**
 * Converts a global id of `type`, or of a member type if `type` is a union, to the local id. A UUID is already a local
 * id. Returns any other text unchanged, and the operation rejects the text.
 */
export function localId(type: string, id: string): string {
  // `parseUuid` returns lower case, so that all spellings of a UUID have the same idempotency fingerprint.
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
