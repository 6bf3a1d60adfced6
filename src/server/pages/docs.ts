import type { FastifyInstance } from 'fastify'
import type { Mode } from '../../operations/context.ts'
import type { RouteGroup } from '../../rest/route.ts'
import { rejectOtherMethods } from '../http/method-not-allowed.ts'
import type { DocsOptions } from './docs-script.ts'
import { html } from './html.ts'
import { renderHtmlDocument } from './page-layout.ts'
import { contentSecurityPolicy, sendWithEtag } from './page-response.ts'
import type { Precompressed } from './precompressed.ts'
import { buildInThread, memoizeBuild, sendPrecompressed } from './precompressed.ts'

/**
 * Adds the public API reference: `/openapi.json` and the page `/docs`. Large responses are built at the first request.
 */
export function addDocs(app: FastifyInstance, groups: readonly RouteGroup[], options: DocsOptions): void {
  const openapi = memoizeBuild(() => openapiJson(groups, options.mode))
  app.get('/openapi.json', async (request, reply) =>
    // A shared cache must not return the response for one origin to a page of another origin.
    sendWithEtag(await openapi(), request, reply.header('vary', 'origin').type('application/json; charset=utf-8')),
  )
  app.get('/docs', async (request, reply) => {
    reply.type('text/html; charset=utf-8').header('content-security-policy', docsPolicy)
    return sendWithEtag(docsPage(options.mode), request, reply)
  })
  const script = memoizeBuild(() => buildInThread<Precompressed>(new URL('./docs-script.ts', import.meta.url), options))
  app.get('/docs/scalar.js', async (request, reply) => {
    reply
      .type('text/javascript; charset=utf-8')
      .header('cache-control', 'public, no-cache')
      .header('vary', 'accept-encoding')
    return sendPrecompressed(await script(), request, reply)
  })
  for (const path of ['/openapi.json', '/docs', '/docs/scalar.js']) rejectOtherMethods(app, path, ['GET'])
}

async function openapiJson(groups: readonly RouteGroup[], mode: Mode): Promise<string> {
  const { openapiDocument } = await import('./openapi.ts')
  return JSON.stringify(openapiDocument(groups, mode))
}

function docsPage(mode: Mode): string {
  const body = html`<nav aria-label="Pages"><a href="/">payout-gateway</a>${
    mode === 'sandbox' ? html`<a href="/graphql">GraphiQL</a>` : ''
  }<a href="/openapi.json">OpenAPI</a></nav>
<noscript>The reference needs JavaScript. Its content is also in <a href="/openapi.json">/openapi.json</a>.</noscript>
<main id="reference"></main>
<script src="/docs/scalar.js"></script>`
  return renderHtmlDocument({ title: 'REST reference · payout-gateway', style, hasScript: false }, body)
}

const docsPolicy = contentSecurityPolicy([
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
])

const style = `
:root { color-scheme: light dark; --scalar-custom-header-height: 2.5rem }
body { margin: 0; font-family: system-ui, sans-serif }
nav[aria-label=Pages] {
  position: sticky; top: 0; z-index: 20; display: flex; align-items: center; gap: 1.25rem; box-sizing: border-box;
  height: 2.5rem; padding: 0 1.25rem; font-size: .875rem;
  background: var(--scalar-background-1, Canvas); border-bottom: 1px solid var(--scalar-border-color, GrayText);
}
nav[aria-label=Pages] a { color: var(--scalar-color-1, CanvasText); text-decoration: none }
nav[aria-label=Pages] a:is(:hover, :focus-visible) { text-decoration: underline }
nav[aria-label=Pages] a:first-child { font-weight: 600 }
/* Its form sends to any URL, but the policy allows requests to this service only. */
section[id^='rest/webhook/'] .show-api-client-button { display: none }
`
