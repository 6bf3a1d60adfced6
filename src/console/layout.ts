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

/** Around every page: where one is and where else one may go. `notice` is what was done, or went wrong. */
type PageFrame = {
  readonly mode: Mode
  readonly path: string
  readonly urlFor: (path: string) => string
  readonly operator: string
  readonly notice: Html
  readonly endSessionForm: Html
}

const modeLabels: Record<Mode, string> = { sandbox: 'sandbox', live: 'live: real money' }

/** A page of the console with all that is around it. */
export function renderConsolePage(
  { title, body }: PageContent,
  { mode, path, urlFor: to, operator, notice, endSessionForm: ending }: PageFrame,
): string {
  return renderPage(
    title,
    html`<a class="skip" href="#main">To the content</a>
<header>
<a class="name" href="${to('/')}">payout-gateway console</a>
<span class="mode ${mode}">${modeLabels[mode]}</span>
<nav aria-label="Pages"><ul>
${navigationLinks.map(([place, name]) => html`<li><a href="${to(place)}"${currentPageAttribute(place, path)}>${name}</a></li>\n`)}</ul></nav>
</header>
<main id="main" tabindex="-1">
${notice}<h1>${title}</h1>
${body}</main>
<footer><span>All times in UTC. What you do here is kept under the name ${operator}.</span>${ending}</footer>`,
  )
}

function currentPageAttribute(place: string, path: string): Html {
  const isHere = place === path || (place !== '/' && path.startsWith(`${place}/`))
  return isHere ? html` aria-current="page"` : html``
}

/** What whoever is not let in is shown: nothing of the console. */
export function renderBarePage(title: string, text: string): string {
  return renderPage(title, html`<main id="main"><h1>${title}</h1><p>${text}</p></main>`)
}

function renderPage(title: string, body: Html): string {
  return renderHtmlDocument({ title: `${title} · payout-gateway console`, style: consoleStyle, hasScript: false }, body)
}
