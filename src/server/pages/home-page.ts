import type { Mode } from '../../operations/context.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { renderHtmlDocument } from './page-layout.ts'
import { pageStyle } from './page-style.ts'

/** What is where: `key` is that of the demo merchant, where there is one. */
export type HomePageOptions = { readonly mode: Mode; readonly origin: string; readonly key: string | null }

/** The looks of the pages for those who come without knowing where to. */
export const homeStyle = `${pageStyle}
main { max-width: 52rem; margin: 0 auto; padding: 3.5rem 1.25rem 4rem }
h1 { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .8rem }
h2 { font-size: 1.35rem; margin: 2.25rem 0 .5rem }
pre { font-size: .75rem }
.mode {
  padding: .15rem .55rem; border: 1px solid var(--line); border-radius: 99px;
  background: var(--panel); font-size: .8rem; font-weight: 500; letter-spacing: 0; color: var(--faint);
}
ul { margin: 1.5rem 0; padding: 0; list-style: none; display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); gap: .75rem }
li { padding: .8rem 1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--panel) }
li a { font-weight: 600 }
li p { margin: .1rem 0 0; font-size: .93rem; color: var(--faint) }
`

/** The page at `/`: what this is, and the way to everything else. */
export function homePage(home: HomePageOptions): string {
  const { mode, key } = home
  return renderPage(
    'payout-gateway',
    html`<h1>payout-gateway <span class="mode">${mode}</span></h1>
<p class="lead">${tagline}</p>
<p>${modeSentences[mode]}</p>
<ul>
${linksOf(home).map(({ name, path, text }) => html`<li><a href="${path}">${name}</a><p>${text}</p></li>\n`)}</ul>
${key === null ? '' : demoSection(home)}`,
  )
}

/** What a person is told of a path where nothing is; programs get the envelope of every failure. */
export function notFoundPage(requestId: string): string {
  return renderPage(
    'Not found · payout-gateway',
    html`<h1>There is nothing here</h1>
<p class="lead">No page and no endpoint has this address.</p>
<p>All that there is begins at <a href="/">the first page</a>; the endpoints are in <a href="/docs">the reference</a>.</p>
<p>The log knows this request as <code>${requestId}</code>.</p>
`,
  )
}

/** The same for a terminal. */
export function homeText(home: HomePageOptions): string {
  const { mode, origin, key } = home
  return [
    `payout-gateway (${mode}): ${tagline}`,
    ...linksOf(home).map(({ name, path }) => `  ${name.padEnd(18)}${origin}${path}`),
    ...(key === null ? [] : ['', 'Try:', `  ${curlExample(home)}`]),
    '',
  ].join('\n')
}

const tagline = 'A self-hosted payout and wallet service for stablecoins.'

const modeSentences = {
  sandbox: 'This is a sandbox: everything works, and no real money moves.',
  live: 'This is live. Every request needs the API key of a merchant.',
} as const

function linksOf({ mode, key }: HomePageOptions) {
  const graphiql = {
    name: 'GraphiQL',
    path: '/graphql',
    text:
      key === null
        ? 'Try the GraphQL API in the browser.'
        : 'Try the GraphQL API: a tour from a wallet to a payout, and to who is told of it.',
  }
  return [
    ...(mode === 'sandbox' ? [graphiql] : []),
    {
      name: 'REST reference',
      path: '/docs',
      text: 'Every endpoint and every webhook, with samples in many languages. GraphQL knows the same ids.',
    },
    { name: 'OpenAPI document', path: '/openapi.json', text: 'The same for programs, without a key.' },
    { name: 'Health', path: '/readyz', text: 'Whether requests can be answered now.' },
  ]
}

function demoSection(home: HomePageOptions): Html {
  return html`<h2>Try it</h2>
<p>The demo merchant has customers, wallets and payouts already. Its key is the same everywhere, and works in a sandbox only.</p>
<figure><figcaption>The header with its key</figcaption><pre class="wrapped">x-api-key: ${home.key ?? ''}</pre></figure>
<figure><figcaption>In a terminal</figcaption><pre class="wrapped">${curlExample(home)}</pre></figure>
`
}

function curlExample({ origin, key }: HomePageOptions): string {
  return `curl -s ${origin}/api/customers \\\n  -H 'x-api-key: ${key}'`
}

function renderPage(title: string, main: Html): string {
  return renderHtmlDocument(
    { title, style: homeStyle },
    html`<main>
${main}</main>`,
  )
}
