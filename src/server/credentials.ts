import type { IncomingHttpHeaders } from 'node:http'

/** The API key of a request: `null` when none was sent, empty when two that differ were or one in no form (ruling 12). */
export function presentedKey({ 'x-api-key': own, authorization = '' }: IncomingHttpHeaders): string | null {
  // Another scheme than Bearer is not for us: a proxy may have put it there.
  const bearer = /^Bearer\b/i.test(authorization) ? (/^Bearer +(\S+) *$/i.exec(authorization)?.[1] ?? '') : null
  if (own === undefined) return bearer
  const key = String(own).trim()
  return bearer === null || bearer === key ? key : ''
}
