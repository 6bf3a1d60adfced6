import { webhookFormats } from '../../delivery/formats.ts'
import { meaningOf } from '../../doors/described-values.ts'
import { jsonCode } from './docs-endpoint.ts'
import type { Html } from './html.ts'
import { html, prose } from './html.ts'
import type { OpenapiDocument } from './openapi.ts'

/** The types of events that the page shows, by which their parts are linked to. */
export function webhookTypes({ webhooks }: OpenapiDocument): string[] {
  return Object.keys(webhooks).filter((name) => !name.includes(':'))
}

/** What the page at `/docs` says of webhooks: the headers and formats of all, and an example of each type of event. */
export function webhooksPart(document: OpenapiDocument): Html {
  const { webhooks, components } = document
  const answers = Object.entries<{ description: string }>(Object.values(webhooks)[0]?.post.responses ?? {})
  const headers = Object.values(components.parameters).filter(({ name }) => name.startsWith('webhook-'))
  return html`<section>
<h2 id="webhooks">Webhooks</h2>
<p>${prose('Each event is posted to every enabled endpoint that asks for its type, at least once. Events of one object come in order; those of different objects do not wait for each other. Whoever keeps the last `sequence` reads in `GET /api/events` what did not come.')}</p>
<h3>Headers</h3>
<dl>${headers.map(({ name, description }) => html`<dt><code>${name}</code></dt><dd>${prose(description)}</dd>`)}</dl>
<h3>Formats</h3>
<dl>${webhookFormats.map((format) => html`<dt><code>${format}</code></dt><dd>${prose(meaningOf(webhookFormats, format))}</dd>`)}</dl>
<h3>Answers</h3>
<dl>${answers.map(([status, { description }]) => html`<dt><code>${status}</code></dt><dd>${prose(description)}</dd>`)}</dl>
</section>
<section>
${webhookTypes(document).map((type) => webhookArticle(document, type))}</section>
`
}

function webhookArticle({ webhooks }: OpenapiDocument, type: string): Html {
  const posts = [webhooks[type], webhooks[`stablestack:${type}`]].flatMap((each) => each?.post ?? [])
  const [standard, ...others] = posts.flatMap(({ requestBody }) =>
    Object.entries(requestBody.content['application/json'].examples),
  )
  return html`<article id="${type}">
<div>
<h3><a href="#${type}">${type}</a></h3>
<p>${prose(posts[0]?.description ?? '')}</p>
</div>
<div>
<figure><figcaption>${standard?.[0] ?? ''}</figcaption>${jsonCode(standard?.[1].value)}</figure>
${others.map(([format, { value }]) => html`<details><summary>In the format ${format}</summary>${jsonCode(value)}</details>`)}
</div>
</article>
`
}
