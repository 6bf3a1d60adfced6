import type { FastifyReply } from 'fastify'

/**
 * The security headers keep browsers from rendering, embedding or caching API data. Only the proxy that terminates TLS
 * can set Strict-Transport-Security: the header must not be sent over plain HTTP (RFC 6797, 7.2).
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

export const securityHeaderLines = Object.entries(securityHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

/** Runs before all other code that sets headers, so that a page can override the security headers. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers(securityHeaders)
}
