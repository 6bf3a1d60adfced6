import type { FastifyReply } from 'fastify'

/**
 * What every answer tells a browser, should one ever show it: that it is data, for nobody's page and for no cache.
 *
 * There is no Strict-Transport-Security: it must not be sent over plain HTTP (RFC 6797, 7.2), which is what we speak, and
 * whether the whole host is to be reached by TLS only is for whoever ends TLS before us.
 */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cache-control': 'no-store',
} as const

/** The same as lines of HTTP, for what is answered without a reply. */
export const securityHeaderLines = Object.entries(securityHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

/** Sets them before anything else is known of the answer: whoever knows better, as GraphiQL's page does, sets its own. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers(securityHeaders)
}
