import { httpStatusByCode } from '../../core/api/http-status.ts'
import { errorAnchor, errorDescriptions, restErrorCodes } from '../../rest/error-responses.ts'
import type { Html } from './html.ts'
import { html } from './html.ts'
import { pageStyle, renderHtmlDocument } from './page-layout.ts'
import { staticPagePolicy } from './page-response.ts'

/** The `type` of problem details is a URL of this page, with the error code as anchor. */
export function errorsPage(): string {
  const rows = restErrorCodes.map(
    (code) => html`<tr id="${errorAnchor(code)}">
<td>${httpStatusByCode[code]}</td><td><a href="#${errorAnchor(code)}"><code>${breakable(code)}</code></a></td><td>${withCode(errorDescriptions[code] ?? '')}</td>
</tr>
`,
  )
  const body = html`<main>
<nav aria-label="Pages"><a href="/">payout-gateway</a><a href="/docs">REST reference</a></nav>
<h1>Errors</h1>
<p class="lead">Every error code of the REST API. Programs switch on the code; messages are for people and may change.</p>
<p>Retry a 503 with the same idempotency key: its outcome is unknown. A 429 says in <code>Retry-After</code> when to retry. Any other
code returns again until the request, or the state that it depends on, changes.</p>
<table>
<thead><tr><th scope="col">Status</th><th scope="col">Code</th><th scope="col">Meaning</th></tr></thead>
<tbody>
${rows}</tbody>
</table>
</main>`
  return renderHtmlDocument({ title: 'Errors · payout-gateway', style, hasScript: false }, body)
}

/** Allows a line break after an underscore, for narrow screens. */
function breakable(code: string): readonly Html[] {
  return code.split(/(?<=_)/).map((part, place) => html`${place === 0 ? '' : { html: '<wbr>' }}${part}`)
}

function withCode(text: string): readonly Html[] {
  return text.split('`').map((part, place) => (place % 2 === 0 ? html`${part}` : html`<code>${part}</code>`))
}

const style = `${pageStyle}
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem }
nav { display: flex; gap: 1.25rem; margin-bottom: 2rem; font-size: .875rem }
nav a:first-child { font-weight: 600 }
table { width: 100%; margin-top: 1.5rem; border-collapse: collapse }
th, td { padding: .5rem .75rem .5rem .5rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top }
td a code { overflow-wrap: normal }
@media (min-width: 48rem) { td a code { white-space: nowrap } }
tr:target { background: var(--panel); box-shadow: inset 3px 0 var(--accent) }
`

export const errorsPagePolicy = staticPagePolicy(style)
