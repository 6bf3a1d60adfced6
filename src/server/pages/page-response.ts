import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Mode } from '../../operations/context.ts'
import { pageScript } from './page-script.ts'

/** A page runs the one script, loads nothing but its mark, and has no style but its own. */
export function pagePolicy(style: string): string {
  return contentSecurityPolicy([
    `script-src 'sha256-${hash('sha256', pageScript, 'base64')}'`,
    ...styleDirectives(style),
  ])
}

/** A page runs no script, loads nothing but its mark, has no style but its own, and sends its forms to its own origin. */
export function formPolicy(style: string): string {
  return contentSecurityPolicy(styleDirectives(style), "'self'")
}

function styleDirectives(style: string): string[] {
  return [`style-src 'sha256-${hash('sha256', style, 'base64')}'`, "img-src 'self'"]
}

/** A content security policy that allows a page nothing but what is `allowed`, and its forms to go nowhere else. */
export function contentSecurityPolicy(allowed: readonly string[], forms = "'none'"): string {
  const always = ["base-uri 'none'", `form-action ${forms}`, "frame-ancestors 'none'"]
  return ["default-src 'none'", ...allowed, ...always].join('; ')
}

/** Where the caller found the service. A live one is behind what ends TLS, and no example sends its key without. */
export function serviceOriginOf({ headers: { host = '' } }: FastifyRequest, mode: Mode): string {
  const isName = /^([\w.-]+|\[[\da-f:]+\])(:\d+)?$/i.test(host)
  return `${{ sandbox: 'http', live: 'https' }[mode]}://${isName ? host : 'localhost'}`
}

/** Anyone may keep it, and asks each time whether it is still so: an update of the service shows at once. */
export function sendWithEtag(body: string, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const etag = `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  reply.header('etag', etag).header('cache-control', 'public, no-cache')
  return headers['if-none-match']?.includes(etag) ? reply.code(304).send() : reply.send(body)
}
