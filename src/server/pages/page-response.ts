import { hash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Mode } from '../../operations/context.ts'
import { pageScript } from './page-layout.ts'

export function pagePolicy(style: string): string {
  return contentSecurityPolicy([
    `script-src 'sha256-${hash('sha256', pageScript, 'base64')}'`,
    ...styleDirectives(style),
  ])
}

export function staticPagePolicy(style: string): string {
  return contentSecurityPolicy(styleDirectives(style))
}

/** @param hasScriptFile allows script files of this host, but no script within the page */
export function formPolicy(style: string, { hasScriptFile = false } = {}): string {
  return contentSecurityPolicy([...(hasScriptFile ? ["script-src 'self'"] : []), ...styleDirectives(style)], "'self'")
}

function styleDirectives(style: string): string[] {
  return [`style-src 'sha256-${hash('sha256', style, 'base64')}'`, "img-src 'self'"]
}

export function contentSecurityPolicy(directives: readonly string[], formAction = "'none'"): string {
  const common = ["base-uri 'none'", `form-action ${formAction}`, "frame-ancestors 'none'"]
  return ["default-src 'none'", ...directives, ...common].join('; ')
}

/** Examples in live mode use HTTPS, because no example may send an API key in plain text. */
export function serviceOriginOf({ headers: { host = '' } }: FastifyRequest, mode: Mode): string {
  const isValidHost = /^([\w.-]+|\[[\da-f:]+\])(:\d+)?$/i.test(host)
  return `${{ sandbox: 'http', live: 'https' }[mode]}://${isValidHost ? host : 'localhost'}`
}

export function sendWithEtag(body: string, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const etag = `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  reply.header('etag', etag).header('cache-control', 'public, no-cache')
  return headers['if-none-match']?.includes(etag) ? reply.code(304).send() : reply.send(body)
}
