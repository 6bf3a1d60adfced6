import type { FastifyReply } from 'fastify'

/**
 * These headers keep browsers from rendering, embedding or caching API data. Strict-Transport-Security is missing,
 * because the header must not be sent over plain HTTP (RFC 6797, 7.2). The proxy that terminates TLS must set the
 * header.
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

/** Must be called before a page sets headers, so that the page can override the security headers. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers(securityHeaders)
}
