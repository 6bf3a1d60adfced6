import type { Mode } from '../../operations/context.ts'
import { html } from './html.ts'
import { renderHtmlDocument } from './page-layout.ts'
import { contentSecurityPolicy } from './page-response.ts'

/** The page at `/docs`, which the script fills from `/openapi.json`. */
export function docsPage(mode: Mode): string {
  const body = html`<nav aria-label="Pages"><a href="/">payout-gateway</a>${
    mode === 'sandbox' ? html`<a href="/graphql">GraphiQL</a>` : ''
  }<a href="/openapi.json">OpenAPI</a></nav>
<noscript>The reference needs JavaScript. The same is in <a href="/openapi.json">/openapi.json</a>.</noscript>
<main id="reference"></main>
<script src="/docs/scalar.js"></script>`
  return renderHtmlDocument({ title: 'REST reference · payout-gateway', style, hasScript: false }, body)
}

/** What the page may do: run the script of this service, and request from this service alone. */
export const docsPolicy = contentSecurityPolicy([
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
/* Its form takes any address, but the page may only request from this service. */
section[id^='rest/webhook/'] .show-api-client-button { display: none }
`
