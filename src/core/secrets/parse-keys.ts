import { keyBytes } from './secrets.ts'

/** What each key must be, as it stands in SECRETS_KEY and in a file of the sandbox's own. */
export const keyFormat = '32 bytes in base64'

/** The keys of a list that commas separate; `null` where one of them is no key. */
export function parseKeys(text: string): Buffer[] | null {
  const keys = text.split(',').map((each) => parseKey(each.trim()))
  return keys.every((key) => key !== null) ? keys : null
}

function parseKey(text: string): Buffer | null {
  const key = Buffer.from(text, 'base64')
  // Node skips what is no base64: only what would be written the same was meant.
  return key.length === keyBytes && key.toString('base64') === text ? key : null
}
