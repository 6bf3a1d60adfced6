import { isIP } from 'node:net'
import type { Mode } from '../../../operations/context.ts'
import type { Allowlist } from './allowlist.ts'
import { normalizeHost } from './allowlist.ts'
import { isPublicUnicast } from './public-address.ts'

/** Where a service delivers: in `live` by https only, and nowhere inside but what is allowed. */
export type DestinationPolicy = { readonly mode: Mode; readonly allowlist: Allowlist }

/** What a URL begins with. */
const allowedUrlPrefixes: Record<Mode, readonly string[]> = { sandbox: ['https://', 'http://'], live: ['https://'] }

/** Characters that a URL of an endpoint may have. */
const maxUrlLength = 2_048

/**
 * What is wrong with the URL of an endpoint, as a predicate for its field; `null` for one that may be delivered to.
 *
 * A name is not looked up here: what it resolves to is checked whenever a connection is made, and may change.
 */
export function findUrlError(text: string, { mode, allowlist: allowance }: DestinationPolicy): string | null {
  if (text.length > maxUrlLength) return `must have at most ${maxUrlLength} characters`
  // Parsing would drop spaces, tabs and line ends, and what was stored would not be what is called.
  if (/[\s\p{Cc}\\]/u.test(text) || !URL.canParse(text)) return 'must be a URL such as https://example.com/webhooks'
  const { protocol, hostname, port } = new URL(text)
  const begins = allowedUrlPrefixes[mode]
  if (!begins.includes(`${protocol}//`)) return `must begin with ${begins.join(' or ')}`
  if (/^\w+:\/*[^/?#]*@/.test(text)) return 'must not contain a user or password'
  if (text.includes('#')) return 'must not contain a fragment (#)'
  if (port === '0') return 'must not be of port 0'
  const host = normalizeHost(hostname)
  const isAllowed = allowance.coversHost(host, Number(port) || (protocol === 'https:' ? 443 : 80))
  return isAllowed || isExternalHost(host, allowance)
    ? null
    : 'must be of a public address: what is inside must be allowed by WEBHOOK_ALLOW'
}

/** Whether nothing of a host itself says that it is inside. */
function isExternalHost(host: string, { coversAddress }: Allowlist): boolean {
  if (isIP(host) !== 0) return isPublicUnicast(host) || coversAddress(host)
  return !isLocalhost(host) || coversAddress('127.0.0.1')
}

/** Whether a name means this machine whatever the name servers say (RFC 6761, 6.3). */
export function isLocalhost(host: string): boolean {
  return /(^|\.)localhost$/i.test(host)
}
