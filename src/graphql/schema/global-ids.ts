import { parseUuid } from '../../core/ids-and-clock.ts'

/** The global id of a node: opaque to callers, and the same for ever. */
export function toGlobalId(type: string, id: string): string {
  return btoa(`${type}:${id}`)
}

/** What a global id says; `null` for anything else. */
export function parseGlobalId(text: string): { type: string; id: string } | null {
  const [, type, id] = /^([A-Z]\w*):(.+)$/.exec(decodeBase64(text)) ?? []
  return type !== undefined && id !== undefined ? { type, id } : null
}

const unionMembers = new Map<string, readonly string[]>()

/** Has the ids of these types pass for those of their union. */
export function registerUnion(union: string, types: readonly string[]): void {
  unionMembers.set(union, types)
}

/**
 * The id that an operation works with, from a global id of this type (of a union any of its types') or from the UUID itself.
 *
 * Anything else is passed on as it is, because the operation knows how to refuse what is no id.
 */
export function localId(type: string, given: string): string {
  // In lower case, so that an idempotency key takes every spelling of an id for the same input.
  const uuid = parseUuid(given)
  if (uuid !== null) return uuid
  const parsed = parseGlobalId(given)
  const isOfType = parsed !== null && (unionMembers.get(type) ?? [type]).includes(parsed.type)
  return isOfType ? (parseUuid(parsed.id) ?? parsed.id) : given
}

function decodeBase64(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}
