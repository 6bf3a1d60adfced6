/** What a JSON text says, and the path to the first name that one of its objects has twice, `null` where there is none. */
export type ParsedJson = { readonly value: unknown; readonly duplicatePath: string | null }

/**
 * Reads a JSON text, and finds what `JSON.parse` passes over in silence.
 *
 * Of two members of one name it takes the last, and whoever looked at the request before it may have taken the first. That
 * there are none costs one pass over the text: each member has a colon, so the value has as many members as the text has
 * colons outside of strings, or else some were lost.
 *
 * Names with escapes are written without them first. V8 (13.6) may take such a name for one of an earlier text that begins
 * as its escape does: once `{"a":1,"\\":2}` was read, `{"a":1,"\u0062":2}` has a member `\` in the place of `b`. What can only
 * be written with an escape is no name that is known here, nor taken for one.
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
 * The number that a JSON object has under `name`, as its text has it: `JSON.parse` makes a double of it, which has not as many
 * digits. A reviver is shown the text as well, but it is called by recursion, and a text may nest as deep as it is long.
 *
 * @param text a valid text, with no name twice in its outermost object
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

const quote = 0x22
const backslash = 0x5c
const colon = 0x3a

/** How many names a valid JSON text has, and whether any is written with escapes. */
function countNames(text: string): { names: number; hasEscapedName: boolean } {
  let names = 0
  let hasEscapedName = false
  /** Whether the latest string has an escape, and where the next escape is, so that each part of the text is looked through once. */
  let isEscaped = false
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

/** How many members the objects of a value have together; without recursion, as a text may nest as deep as it is long. */
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

/** Characters of a path that are shown: a name may be as long as the body. */
const maxPathLength = 100

/** The first name that comes a second time in its object, and the text with names written as they are, but for what must be escaped. */
function scanNames(text: string): { plain: string; repeated: string | null } {
  // Of each object or array around the place: the names so far, `null` for an array, and the name or number it is at.
  const around: { names: Set<string> | null; at: string }[] = []
  const parts: string[] = []
  let repeated: string | null = null
  let copied = 0
  let string = { start: 0, end: 0 }
  for (let at = 0; at < text.length; at++) {
    const character = text[at]
    const inner = around.at(-1)
    if (character === '{' || character === '[') around.push({ names: character === '{' ? new Set() : null, at: '0' })
    else if (character === '}' || character === ']') around.pop()
    else if (character === ',' && inner?.names === null) inner.at = String(Number(inner.at) + 1)
    else if (character === '"') {
      string = { start: at, end: endOfString(text, at) }
      at = string.end
    } else if (character === ':' && inner?.names) {
      inner.at = JSON.parse(text.slice(string.start, string.end + 1))
      if (inner.names.has(inner.at)) repeated ??= formatPath(around)
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

/** Where the string ends that begins at a quotation mark: at the next that an even number of backslashes stands before. */
function endOfString(text: string, start: number): number {
  let end = start
  for (;;) {
    end = text.indexOf('"', end + 1)
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes++
    if (backslashes % 2 === 0) return end
  }
}

function formatPath(around: readonly { at: string }[]): string {
  const path = around.map(({ at }) => at).join('.')
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path
}
