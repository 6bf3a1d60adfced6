import type { FastifyReply } from 'fastify'

/**
 * The headers of every response: data that a browser must not render, embed or cache.
 *
 * Without Strict-Transport-Security: it must not be sent over plain HTTP (RFC 6797, 7.2), and only the proxy that terminates TLS
 * knows whether the whole host requires TLS.
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

/** The same as HTTP/1.1 header lines, for responses without a Fastify reply. */
export const securityHeaderLines = Object.entries(securityHeaders)
  .map(([name, value]) => `${name}: ${value}\r\n`)
  .join('')

/** Sets the headers first, so that a page can override them. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers(securityHeaders)
}
