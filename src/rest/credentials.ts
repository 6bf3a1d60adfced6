import type { IncomingHttpHeaders } from 'node:http'

/** The API key of a request; `null` when there is none, or two that differ (ruling 12). */
export function presentedKey(headers: IncomingHttpHeaders): string | null {
  const own = headers['x-api-key']
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.authorization ?? '')?.[1]
  const key = own === undefined ? bearer : String(own).trim()
  if (key === undefined || (own !== undefined && headers.authorization !== undefined && bearer !== key)) return null
  return key
}
