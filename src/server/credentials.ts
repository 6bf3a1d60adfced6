import type { IncomingHttpHeaders } from 'node:http'
import { apiKeyPrefix } from '../merchants/api-key.ts'

/** Whether an API key, good or not, is what a request shows: in `x-api-key` nothing else comes, as a bearer there are other tokens. */
export function bearsApiKey({ 'x-api-key': own, authorization = '' }: IncomingHttpHeaders): boolean {
  return own !== undefined || keyAsBearer.test(authorization)
}

const keyAsBearer = new RegExp(`^Bearer +${apiKeyPrefix}_`, 'i')

/** The API key of a request: `null` when none was sent, empty when two that differ were or one in no form (ruling 12). */
export function presentedKey({ 'x-api-key': own, authorization = '' }: IncomingHttpHeaders): string | null {
  // Another scheme than Bearer is not for us: a proxy may have put it there.
  const bearer = /^Bearer\b/i.test(authorization) ? (/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '') : null
  if (own === undefined) return bearer
  const key = String(own).trim()
  return bearer === null || bearer === key ? key : ''
}
