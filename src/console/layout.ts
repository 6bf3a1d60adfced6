import type { OperatorRole } from '../modules/operators/operator.ts'
import type { Mode } from '../operations/context.ts'
import type { Html } from '../server/pages/html.ts'
import { html } from '../server/pages/html.ts'
import { renderHtmlDocument } from '../server/pages/page-layout.ts'
import { timeElement } from './components.ts'
import type { PageContent } from './console-page.ts'
import { consoleScriptPath } from './console-script.ts'
import type { ConsoleSession } from './console-session.ts'
import { consoleStyle } from './console-style.ts'

const navigationLinks = [
  ['/', 'Overview'],
  ['/payouts', 'Payouts'],
  ['/deposits', 'Deposits'],
  ['/attention', 'Attention'],
  ['/merchants', 'Merchants'],
  ['/customers', 'Customers'],
  ['/wallets', 'Wallets'],
  ['/payout-methods', 'Payout methods'],
  ['/webhooks', 'Webhooks'],
  ['/rails', 'Rails'],
  ['/prices', 'Rates and fees'],
  ['/books', 'Books'],
  ['/log', 'Operator log'],
] as const

export const searchPath = '/search'

type PageFrame = {
  readonly mode: Mode
  readonly path: string
  readonly urlFor: (path: string) => string
  readonly session: ConsoleSession
  readonly term: string
  readonly notice: Html
  readonly endSessionForm: Html
}

const modeLabels: Record<Mode, string> = { sandbox: 'sandbox', live: 'live: real money' }

export function renderConsolePage(
  { title, body }: PageContent,
  { mode, path, urlFor, session, term, notice, endSessionForm }: PageFrame,
): string {
  return renderPage(
    { title, scriptUrl: urlFor(consoleScriptPath) },
    html`<a class="skip" href="#main">To the content</a>
<header>
<a class="name" href="${urlFor('/')}">payout-gateway console</a>
<span class="mode ${mode}">${modeLabels[mode]}</span>
${searchBox(urlFor, term)}
${session.signIn === null ? '' : operatorSection(session, session.signIn, endSessionForm)}<nav aria-label="Pages"><ul>
${navigationLinks.map(([target, name]) => html`<li><a href="${urlFor(target)}"${currentPageAttribute(target, path)}>${name}</a></li>\n`)}</ul></nav>
</header>
<main id="main" tabindex="-1">
${notice}<h1>${title}</h1>
${body}</main>
<footer><span>All times in UTC. ${session.can('act') ? html`Your actions are logged under the name ${session.actor.operator}.` : ''}</span>${session.signIn === null ? endSessionForm : ''}</footer>`,
  )
}

function searchBox(urlFor: PageFrame['urlFor'], term: string): Html {
  return html`<form method="get" action="${urlFor(searchPath)}" role="search" class="search"><input type="search" name="term" value="${term}" placeholder="Id, reference, account, address or name" aria-label="Search" accesskey="/" maxlength="255" required autocomplete="off" spellcheck="false"><button>Search</button></form>`
}

const roleLabels: Record<OperatorRole, string> = { look: 'may look', act: 'may act' }

/** Shows the previous sign-in, so that the operator notices a sign-in by someone else. */
function operatorSection(
  { actor, role }: ConsoleSession,
  { previous }: NonNullable<ConsoleSession['signIn']>,
  endSessionForm: Html,
): Html {
  const lastSignIn =
    previous === null
      ? html`first sign-in`
      : html`last sign-in ${timeElement(previous.at)} from ${previous.address || 'an unknown address'}`
  return html`<section class="operator" aria-label="Operator"><span><strong>${actor.operator}</strong> ${roleLabels[role]} <span class="faint">${lastSignIn}</span></span>${endSessionForm}</section>
`
}

function currentPageAttribute(target: string, path: string): Html {
  const isCurrent = target === path || (target !== '/' && path.startsWith(`${target}/`))
  return isCurrent ? html` aria-current="page"` : html``
}

export function renderBarePage(title: string, text: string): string {
  return renderPage({ title }, html`<main id="main"><h1>${title}</h1><p>${text}</p></main>`)
}

export function renderPage(head: { readonly title: string; readonly scriptUrl?: string }, body: Html): string {
  const title = `${head.title} · payout-gateway console`
  return renderHtmlDocument({ ...head, title, style: consoleStyle, hasScript: false }, body)
}
