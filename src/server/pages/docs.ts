import type { FastifyInstance } from 'fastify'
import type { Mode } from '../../operations/context.ts'
import { errorReferencePath } from '../../rest/error-responses.ts'
import type { RouteGroup } from '../../rest/route.ts'
import type { DocsOptions } from './docs-script.ts'
import { errorsPage, errorsPagePolicy } from './errors-page.ts'
import { html } from './html.ts'
import { renderHtmlDocument } from './page-layout.ts'
import { contentSecurityPolicy } from './page-response.ts'
import type { Precompressed } from './precompressed.ts'
import { buildInThread, memoizeBuild, precompress, sendPrecompressed } from './precompressed.ts'

/** The pages of the API reference are public. Each page is built and compressed at its first request. */
export function addDocs(app: FastifyInstance, groups: readonly RouteGroup[], options: DocsOptions): void {
  const { mode } = options
  addDocument(app, '/openapi.json', {
    type: 'application/json',
    // A shared cache must store a separate response for each origin.
    vary: 'origin, accept-encoding',
    build: async () => precompress(await openapiJson(groups, mode)),
  })
  addDocument(app, '/docs', { type: 'text/html', policy: docsPolicy, build: () => precompress(docsPage(mode)) })
  addDocument(app, errorReferencePath, {
    type: 'text/html',
    policy: errorsPagePolicy,
    build: () => precompress(errorsPage()),
  })
  addDocument(app, '/docs/scalar.js', {
    type: 'text/javascript',
    build: () => buildInThread<Precompressed>(new URL('./docs-script.ts', import.meta.url), options),
  })
}

type ReferenceDocument = {
  readonly type: string
  readonly vary?: string
  readonly policy?: string
  readonly build: () => Promise<Precompressed>
}

function addDocument(
  app: FastifyInstance,
  path: string,
  { type, vary = 'accept-encoding', policy, build }: ReferenceDocument,
): void {
  const document = memoizeBuild(build)
  app.get(path, async (request, reply) => {
    reply.type(`${type}; charset=utf-8`).headers({
      // Caches must revalidate, so that clients see an updated service immediately.
      'cache-control': 'public, no-cache',
      vary,
      ...(policy !== undefined && { 'content-security-policy': policy }),
    })
    return sendPrecompressed(await document(), request, reply)
  })
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
