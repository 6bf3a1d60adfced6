import { hash } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Mode } from '../../context.ts'
import type { Route } from '../../rest/route.ts'
import { refuseOtherMethods } from '../other-methods.ts'
import { pageScript } from './page-script.ts'

/** `demoKey` is that of the demo merchant, where there is one. */
export type DocsOptions = { readonly mode: Mode; readonly demoKey: string | null }

/**
 * Adds the reference of the endpoints: `/openapi.json` for programs, `/docs` for people.
 *
 * Both hold nothing to protect and need no key. They are made when they are first asked for.
 */
export function addDocs(app: FastifyInstance, routes: readonly Route[], { mode, demoKey }: DocsOptions): void {
  let made: ReturnType<typeof makeDocs> | undefined
  const get = () => {
    made ??= makeDocs(routes, mode, demoKey)
    return made
  }

  app.get('/openapi.json', async (request, reply) => {
    const { json } = await get()
    return sendKept(json, request, reply.type('application/json; charset=utf-8'))
  })
  app.get('/docs', async (request, reply) => {
    const { page, policy } = await get()
    reply.type('text/html; charset=utf-8').header('content-security-policy', policy)
    return sendKept(page.replaceAll(originMark, originOf(request, mode)), request, reply)
  })
  for (const path of ['/openapi.json', '/docs']) refuseOtherMethods(app, path, ['GET'])
}

/** Stands in the page for where the service is, which a request knows. */
const originMark = 'https://origin.invalid'

async function makeDocs(routes: readonly Route[], mode: Mode, key: string | null) {
  // Loaded only now: a start should not wait for what nobody may read.
  const [{ openapiDocument }, { docsPage }, { style }] = await Promise.all([
    import('./openapi.ts'),
    import('./docs-page.ts'),
    import('./docs-style.ts'),
  ])
  const document = openapiDocument(routes)
  return {
    json: JSON.stringify(document),
    page: docsPage(document, { origin: originMark, key, mode }),
    policy: pagePolicy(style),
  }
}

/** A page runs the one script, loads nothing but its mark, and has no style but its own. */
export function pagePolicy(style: string): string {
  return [
    "default-src 'none'",
    `script-src 'sha256-${hash('sha256', pageScript, 'base64')}'`,
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    "img-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

/** Where the caller found the service. A live one is behind what ends TLS, and no example sends its key without. */
export function originOf({ headers: { host = '' } }: FastifyRequest, mode: Mode): string {
  const isName = /^([\w.-]+|\[[\da-f:]+\])(:\d+)?$/i.test(host)
  return `${mode === 'live' ? 'https' : 'http'}://${isName ? host : 'localhost'}`
}

/** Anyone may keep it, and asks each time whether it is still so: an update of the service shows at once. */
export function sendKept(body: string, { headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
  const etag = `W/"${hash('sha256', body, 'base64url').slice(0, 22)}"`
  reply.header('etag', etag).header('cache-control', 'public, no-cache')
  return headers['if-none-match']?.includes(etag) ? reply.code(304).send() : reply.send(body)
}
