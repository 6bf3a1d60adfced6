import type { Caller, Endpoint } from './docs-endpoint.ts'
import { endpointArticle, jsonCode, methodBadge } from './docs-endpoint.ts'
import { sandboxPart } from './docs-sandbox.ts'
import { style } from './docs-style.ts'
import { webhooksPart, webhookTypes } from './docs-webhooks.ts'
import type { Html } from './html.ts'
import { html, prose } from './html.ts'
import type { OpenapiDocument } from './openapi.ts'
import { lastOf, sampleOf } from './sample.ts'
import { wholePage } from './whole-page.ts'

/** The document as one page for people, which is whole without its script and loads nothing but its mark. */
export function docsPage(document: OpenapiDocument, caller: Caller): string {
  const { info, tags, components } = document
  const endpoints = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
  const groups = tags.map((tag) => ({
    ...tag,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(tag.name)),
  }))
  const failures = failuresOf(endpoints, components.responses)
  const body = html`<nav aria-label="Contents">
<a class="name" href="/">${info.title}</a>
<p><a href="#top">REST</a> · <a href="/openapi.json">OpenAPI</a>${caller.mode === 'sandbox' ? html` · <a href="/graphql">GraphiQL</a>` : ''}</p>
<h2>In general</h2>
<ul>${[...sectionsOf(info.description).map(({ title }) => title), 'Failures'].map(
    (title) => html`<li><a href="#${anchor(title)}">${title}</a></li>`,
  )}</ul>
${groups.map(
  (group) => html`<h2>${group.name}</h2>
<ul>${group.endpoints.map(
    ({ method, operation }) =>
      html`<li><a href="#${operation.operationId}">${methodBadge(method)}${operation.summary}</a></li>`,
  )}</ul>
`,
)}<h2>Webhooks</h2>
<ul>${webhookTypes(document).map((type) => html`<li><a href="#${type}">${type}</a></li>`)}</ul>
${caller.mode === 'sandbox' ? html`<h2><a href="#sandbox">Sandbox</a></h2>` : ''}
</nav>
<main id="top">
<h1>REST reference</h1>
${introduction(info.description, caller)}
<section id="failures">
<h2>Failures</h2>
<p>${prose('Every endpoint can answer these besides its own. `Accept: application/problem+json` asks for RFC 9457.')}</p>
${failures.common}
<figure><figcaption>A failure</figcaption>${jsonCode(sampleOf({ $ref: '#/components/schemas/Failure' }, components.schemas))}</figure>
</section>
${groups.map(
  (group) => html`<section>
<h2 id="${anchor(group.name)}">${group.name}</h2>
<p>${prose(group.description)}</p>
${group.endpoints.map((endpoint) => endpointArticle(endpoint, failures.own(endpoint), components.schemas, caller))}
</section>
`,
)}${webhooksPart(document)}${caller.mode === 'sandbox' ? sandboxPart() : ''}</main>`
  return wholePage({ title: `${info.title}: REST reference`, style }, body)
}

/** The part before the first heading has no title. */
function sectionsOf(markdown: string): { title: string; paragraphs: string[] }[] {
  return markdown
    .split(/^## /m)
    .slice(1)
    .map((section) => section.trim().split('\n\n'))
    .map(([title = '', ...paragraphs]) => ({ title, paragraphs }))
}

function introduction(markdown: string, { origin, key }: Caller): Html {
  const [lead = ''] = markdown.split('\n\n')
  const given = key === null ? 'Set `API_KEY` to a key of yours first.' : 'The key is that of the demo merchant.'
  return html`<p class="lead">${prose(lead)}</p>
<p>${prose(`The examples can be pasted into a terminal. ${given} Names such as \`$CUSTOMER_ID\` stand for ids of yours.`)}</p>
<pre>${origin}/api</pre>
${sectionsOf(markdown).map(
  ({ title, paragraphs }) => html`<section id="${anchor(title)}">
<h2>${title}</h2>
${paragraphs.map((paragraph) => html`<p>${prose(paragraph)}</p>`)}
</section>
`,
)}`
}

/** The refusals that all endpoints share, and those of each besides. */
function failuresOf(endpoints: readonly Endpoint[], responses: OpenapiDocument['components']['responses']) {
  const all = endpoints.map(({ operation }) =>
    Object.entries(operation.responses).flatMap(([status, response]) =>
      '$ref' in response ? meaningsOf(responses[lastOf(response.$ref)], status) : [],
    ),
  )
  const isCommon = ({ line }: Meaning) => all.every((meanings) => meanings.some((each) => each.line === line))
  return {
    common: failureList(all[0]?.filter(isCommon) ?? []),
    own: (endpoint: Endpoint) =>
      failureList(all[endpoints.indexOf(endpoint)]?.filter((meaning) => !isCommon(meaning)) ?? []),
  }
}

type Meaning = { readonly status: string; readonly line: string }

function meaningsOf(response: { description: string } | undefined, status: string): Meaning[] {
  return response?.description.split('\n\n').map((line) => ({ status, line })) ?? []
}

function failureList(meanings: readonly Meaning[]): Html {
  const ofStatus = [...Map.groupBy(meanings, ({ status }) => status)]
  return html`<dl class="failures">${ofStatus.map(
    ([status, lines]) => html`<dt>${status}</dt><dd>${lines.map(({ line }) => html`<p>${prose(line)}</p>`)}</dd>`,
  )}</dl>`
}

function anchor(title: string): string {
  return title.toLowerCase().replaceAll(' ', '-')
}
