import type { IncomingHttpHeaders } from 'node:http'
import { apiKeyPrefix } from '../../modules/merchants/api-key.ts'

/** Whether an API key, good or not, is what a request shows: in `x-api-key` nothing else comes, as a bearer there are other tokens. */
export function hasApiKey({ 'x-api-key': own, authorization = '' }: IncomingHttpHeaders): boolean {
  return own !== undefined || bearerApiKeyPattern.test(authorization)
}

const bearerApiKeyPattern = new RegExp(`^Bearer +${apiKeyPrefix}_`, 'i')

/** The API key of a request: `null` when none was sent, empty when two that differ were or one in no form (ruling 12). */
export function readCredential({ 'x-api-key': own, authorization = '' }: IncomingHttpHeaders): string | null {
  const bearer = bearerTokenOf(authorization)
  if (own === undefined) return bearer
  const key = String(own).trim()
  return bearer === null || bearer === key ? key : ''
}

/** What stands behind `Bearer`; empty where that is none, `null` for another scheme: a proxy may have put it there. */
function bearerTokenOf(authorization: string): string | null {
  // Nearly all write it so, and a token is long for a pattern. Other white space in it makes it one that nobody knows.
  if (authorization.startsWith('Bearer ') && !authorization.includes(' ', 7)) return authorization.slice(7)
  return /^Bearer\b/i.test(authorization) ? (/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '') : null
}
