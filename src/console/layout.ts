import type { Mode } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { renderHtmlDocument } from '../server/pages/page-layout.ts'
import type { PageContent } from './console-page.ts'
import { consoleStyle } from './console-style.ts'

const navigationLinks = [
  ['/', 'Overview'],
  ['/payouts', 'Payouts'],
  ['/attention', 'Attention'],
  ['/merchants', 'Merchants'],
  ['/webhooks', 'Webhooks'],
  ['/rails', 'Rails'],
  ['/prices', 'Rates and fees'],
  ['/books', 'Books'],
  ['/log', 'Operator log'],
] as const

type PageFrame = {
  readonly mode: Mode
  readonly path: string
  readonly urlFor: (path: string) => string
  readonly operator: string
  /** Confirms the latest action, or shows its secret. */
  readonly notice: Html
  readonly endSessionForm: Html
}

const modeLabels: Record<Mode, string> = { sandbox: 'sandbox', live: 'live: real money' }

/** Renders a page with header, navigation, notice and footer. */
export function renderConsolePage(
  { title, body }: PageContent,
  { mode, path, urlFor, operator, notice, endSessionForm }: PageFrame,
): string {
  return renderPage(
    title,
    html`<a class="skip" href="#main">To the content</a>
<header>
<a class="name" href="${urlFor('/')}">payout-gateway console</a>
<span class="mode ${mode}">${modeLabels[mode]}</span>
<nav aria-label="Pages"><ul>
${navigationLinks.map(([target, name]) => html`<li><a href="${urlFor(target)}"${currentPageAttribute(target, path)}>${name}</a></li>\n`)}</ul></nav>
</header>
<main id="main" tabindex="-1">
${notice}<h1>${title}</h1>
${body}</main>
<footer><span>All times in UTC. Your actions are logged under the name ${operator}.</span>${endSessionForm}</footer>`,
  )
}

function currentPageAttribute(target: string, path: string): Html {
  const isCurrent = target === path || (target !== '/' && path.startsWith(`${target}/`))
  return isCurrent ? html` aria-current="page"` : html``
}

/** Renders a page without navigation, for requests outside the session. */
export function renderBarePage(title: string, text: string): string {
  return renderPage(title, html`<main id="main"><h1>${title}</h1><p>${text}</p></main>`)
}

function renderPage(title: string, body: Html): string {
  return renderHtmlDocument({ title: `${title} · payout-gateway console`, style: consoleStyle, hasScript: false }, body)
}
