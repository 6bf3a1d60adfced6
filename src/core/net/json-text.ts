export type ParsedJson = { readonly value: unknown; readonly duplicatePath: string | null }

/**
 * Parses a JSON text and detects duplicate member names. `JSON.parse` silently uses the last of two members with the
 * same name, but a proxy in front of the service may use the first.
 *
 * If the number of colons outside of strings equals the number of parsed members, no member name is duplicate.
 *
 * Member names with escapes are rewritten because of a bug in V8 13.6. V8 can confuse an escaped name with a name from
 * an earlier text that starts with the same characters. Example: after `{"a":1,"\\":2}` was parsed,
 * `{"a":1,"\u0062":2}` has a member `\` instead of `b`.
 *
 * @throws SyntaxError
 */
export function parseJsonText(text: string): ParsedJson {
  const value: unknown = JSON.parse(text)
  const { names, hasEscapedName } = countNames(text)
  if (!hasEscapedName && names === countMembers(value)) return { value, duplicatePath: null }
  const { plain, repeated } = scanNames(text)
  return { value: JSON.parse(plain), duplicatePath: repeated }
}

/**
 * Returns the source text of the number in the member `name`, because `JSON.parse` rounds numbers. A reviver is
 * recursive, so deep nesting would overflow the stack.
 *
 * @param text valid JSON without a duplicate name in its outermost object
 */
export function numberLiteral(text: string, name: string): string | undefined {
  let depth = 0
  let string = { start: 0, end: 0 }
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    if (character === '{' || character === '[') depth++
    else if (character === '}' || character === ']') depth--
    else if (character === '"') {
      string = { start: at, end: endOfString(text, at) }
      at = string.end
    } else if (character === ':' && depth === 1) {
      if (JSON.parse(text.slice(string.start, string.end + 1)) !== name) continue
      numberPattern.lastIndex = at + 1
      return numberPattern.exec(text)?.[1]
    }
  }
  return undefined
}

const numberPattern = /\s*(-?[\d.eE+-]+)/y

const space = 0x20
const quote = 0x22
const colon = 0x3a
const backslash = 0x5c
const firstSurrogate = 0xd800

function countNames(text: string): { names: number; hasEscapedName: boolean } {
  let names = 0
  let hasEscapedName = false
  let isEscaped = false
  // Position of the next backslash. `escapeAt` is reused for the next strings, so that each part of the text is
  // searched for backslashes only once.
  let escapeAt = nextEscape(text, 0)
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === quote) {
      const end = text.indexOf('"', at + 1)
      isEscaped = escapeAt < end
      at = isEscaped ? endOfString(text, at) : end
      if (isEscaped) escapeAt = nextEscape(text, at)
    } else if (code === colon) {
      names++
      if (isEscaped) hasEscapedName = true
    }
  }
  return { names, hasEscapedName }
}

function nextEscape(text: string, from: number): number {
  const found = text.indexOf('\\', from)
  return found === -1 ? text.length : found
}

/** This function is not recursive, because deep nesting would overflow the stack. */
function countMembers(value: unknown): number {
  let count = 0
  const rest: unknown[] = [value]
  while (rest.length > 0) {
    const next = rest.pop()
    if (typeof next !== 'object' || next === null) continue
    if (Array.isArray(next)) {
      for (const inner of next) if (typeof inner === 'object') rest.push(inner)
      continue
    }
    for (const name in next) {
      const inner = (next as Record<string, unknown>)[name]
      count++
      if (typeof inner === 'object') rest.push(inner)
    }
  }
  return count
}

/** A member name can be as long as the request body, so paths in errors are truncated. */
const maxPathLength = 100

/** Returns the path of the first duplicate member name, and the text without unnecessary escapes in member names. */
function scanNames(text: string): { plain: string; repeated: string | null } {
  // `names` are the member names of an enclosing object, or `null` for an array. `at` is the current member name or
  // index.
  const ancestors: { names: Set<string> | null; at: string }[] = []
  const parts: string[] = []
  let repeated: string | null = null
  let copied = 0
  let string = { start: 0, end: 0 }
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    const inner = ancestors.at(-1)
    if (character === '{' || character === '[') ancestors.push({ names: character === '{' ? new Set() : null, at: '0' })
    else if (character === '}' || character === ']') ancestors.pop()
    else if (character === ',' && inner?.names === null) inner.at = String(Number(inner.at) + 1)
    else if (character === '"') {
      string = { start: at, end: endOfString(text, at) }
      at = string.end
    } else if (character === ':' && inner?.names) {
      inner.at = JSON.parse(text.slice(string.start, string.end + 1))
      if (inner.names.has(inner.at)) repeated ??= formatPath(ancestors)
      inner.names.add(inner.at)
      parts.push(text.slice(copied, string.start), quoteName(inner.at))
      copied = string.end + 1
    }
  }
  return { plain: parts.join('') + text.slice(copied), repeated }
}

function quoteName(name: string): string {
  return `"${name.replace(/["\\\p{Cc}]/gu, (character) => JSON.stringify(character).slice(1, -1))}"`
}

function endOfString(text: string, start: number): number {
  let end = start
  for (;;) {
    end = text.indexOf('"', end + 1)
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes++
    if (backslashes % 2 === 0) return end
  }
}

function formatPath(ancestors: readonly { at: string }[]): string {
  const path = ancestors.map(({ at }) => at).join('.')
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path
}

/** For strings without special characters, the loop takes half the time of `JSON.stringify`. */
export function escapeJsonString(value: string): string {
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    const isSpecial = code > backslash ? code >= firstSurrogate : code < space || code === quote || code === backslash
    if (isSpecial) return JSON.stringify(value).slice(1, -1)
  }
  return value
}
