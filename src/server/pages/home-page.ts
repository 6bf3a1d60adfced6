import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { DomainError } from '../../core/errors.ts'
import type { Mode } from '../../operations/context.ts'
import { isHtmlRequested } from '../http/content-negotiation.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { favicon, pageStyle, renderHtmlDocument } from './page-layout.ts'
import { pagePolicy, sendWithEtag, serviceOriginOf } from './page-response.ts'

/** `key` is the demo merchant's API key. */
type HomePageOptions = { readonly mode: Mode; readonly origin: string; readonly key: string | null }

export function addHomePage(app: FastifyInstance, { mode, key }: Pick<HomePageOptions, 'mode' | 'key'>): void {
  app.get('/', async (request, reply) => {
    const home = { mode, key, origin: serviceOriginOf(request, mode) }
    reply.header('vary', 'accept')
    if (!isPageRequest(request)) return sendWithEtag(homeText(home), request, reply.type('text/plain; charset=utf-8'))
    return sendWithEtag(homePage(home), request, asHtml(reply))
  })
  for (const path of ['/favicon.svg', '/favicon.ico']) {
    app.get(path, async (request, reply) => sendWithEtag(favicon, request, reply.type('image/svg+xml')))
  }
}

export function isMissingPage({ code }: DomainError, request: FastifyRequest): boolean {
  return code === 'ENDPOINT_NOT_FOUND' && !/^\/(api|graphql)\b/.test(request.url) && isPageRequest(request)
}

export function sendMissingPage(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return asHtml(reply).code(404).send(notFoundPage(request.id))
}

function isPageRequest({ method, headers }: FastifyRequest): boolean {
  return ['GET', 'HEAD'].includes(method) && isHtmlRequested(headers.accept)
}

function asHtml(reply: FastifyReply): FastifyReply {
  return reply.type('text/html; charset=utf-8').header('content-security-policy', pagePolicy(homeStyle))
}

const homeStyle = `${pageStyle}
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

function homePage(home: HomePageOptions): string {
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

function notFoundPage(requestId: string): string {
  return renderPage(
    'Not found · payout-gateway',
    html`<h1>Page not found</h1>
<p class="lead">No page and no endpoint has this address.</p>
<p>Start at <a href="/">the home page</a>, or find the endpoints in <a href="/docs">the reference</a>.</p>
<p>The id of this request in the log is <code>${requestId}</code>.</p>
`,
  )
}

function homeText(home: HomePageOptions): string {
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
        : 'Try the GraphQL API: a tour from a wallet to a payout and its webhooks.',
  }
  return [
    ...(mode === 'sandbox' ? [graphiql] : []),
    {
      name: 'REST reference',
      path: '/docs',
      text: 'Every endpoint and every webhook, with samples in many languages. GraphQL uses the same ids.',
    },
    { name: 'OpenAPI document', path: '/openapi.json', text: 'The same for programs, without a key.' },
    { name: 'Health', path: '/readyz', text: 'Whether the service can answer requests.' },
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
