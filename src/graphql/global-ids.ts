import { parseUuid } from '../ids.ts'

/** The global id of a node: opaque to callers, and the same for ever. */
export function globalId(type: string, id: string): string {
  return btoa(`${type}:${id}`)
}

/** What a global id says; `null` for anything else. */
export function parseGlobalId(text: string): { type: string; id: string } | null {
  const [, type, id] = /^([A-Z]\w*):(.+)$/.exec(decoded(text)) ?? []
  return type !== undefined && id !== undefined ? { type, id } : null
}

/**
 * The id that an operation works with, from a global id of this type or from the UUID itself.
 *
 * Anything else is passed on as it is, because the operation knows how to refuse what is no id.
 */
export function localId<Given extends string | null | undefined>(type: string, given: Given): Given | string {
  if (typeof given !== 'string') return given
  // In lower case, so that an idempotency key takes every spelling of an id for the same input.
  const uuid = parseUuid(given)
  if (uuid !== null) return uuid
  const parsed = parseGlobalId(given)
  return parsed?.type === type ? (parseUuid(parsed.id) ?? parsed.id) : given
}

/** The same where the id may be one of several types. */
export function localIdOfAny<Given extends string | null | undefined>(
  types: readonly string[],
  given: Given,
): Given | string {
  return types.map((type) => localId(type, given)).find((id) => id !== given) ?? given
}

/** The same where nothing can be refused: `null` for what can't be an id of this type. */
export function localIdOrNull(type: string, given: string): string | null {
  return parseUuid(localId(type, given))
}

function decoded(text: string): string {
  try {
    return atob(text)
  } catch {
    return ''
  }
}
