import type { FastifyReply } from 'fastify'

/**
 * Browsers must not render, embed or cache the data. Strict-Transport-Security is absent: it must not be sent over
 * plain HTTP (RFC 6797, 7.2), and only the proxy that terminates TLS knows whether the whole host requires TLS.
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

/** Runs before other code sets headers, so that a page can override these headers. */
export function setSecurityHeaders(reply: FastifyReply): void {
  reply.headers(securityHeaders)
}
