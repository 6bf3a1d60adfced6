import type { Mode } from '../../context.ts'
import type { JsonSchema } from '../../rest/reference.ts'
import type { Html } from './html.ts'
import { html, prose } from './html.ts'
import type { Operation } from './openapi.ts'
import type { Schemas } from './sample.ts'
import { resolved, sampleOf } from './sample.ts'

/** What an example is sent with: `key` is `null` where readers have to put theirs. */
export type Caller = { readonly origin: string; readonly key: string | null; readonly mode: Mode }

export type Endpoint = { readonly method: string; readonly path: string; readonly operation: Operation }

/** What the page at `/docs` says of one endpoint: what it takes and refuses, and an exchange with it. */
export function endpointArticle(endpoint: Endpoint, failures: Html, schemas: Schemas, caller: Caller): Html {
  const { method, path, operation } = endpoint
  const { operationId, summary, description } = operation
  const fields = fieldsOf(operation)
  return html`<article id="${operationId}">
<div>
<h3><a href="#${operationId}">${summary}</a></h3>
<p class="path">${methodBadge(method)}<code>${path}</code></p>
<p>${prose(description)}</p>
${fields.length > 0 ? html`<h4>Takes</h4>${fieldList(fields, schemas)}` : ''}
${method === 'POST' ? html`<p class="note">${prose('Takes an `Idempotency-Key`, so that it can be sent again.')}</p>` : ''}
<h4>Refuses</h4>${failures}
</div>
<div>
<figure><figcaption>Request</figcaption><pre class="wrapped">${curl(endpoint, caller)}</pre></figure>
${answerOf(operation, schemas)}
</div>
</article>
`
}

function answerOf({ responses }: Operation, schemas: Schemas): Html {
  const [status = '', success] = Object.entries(responses)[0] ?? []
  const schema = success && 'content' in success ? success.content['application/json']?.schema : undefined
  if (!schema) return html``
  return html`<figure><figcaption>Answer, ${status}</figcaption>${jsonCode(sampleOf(schema, schemas))}</figure>
<details><summary>What each field means</summary>${fieldList(membersOf(schema, schemas), schemas)}</details>`
}

/** What a request can carry, but for the headers that all have. */
function fieldsOf({ parameters, requestBody }: Operation): Member[] {
  const { properties = {}, required = [] } = requestBody?.content['application/json'].schema ?? {}
  return [
    ...parameters.flatMap((parameter) => ('in' in parameter ? [{ ...parameter, place: parameter.in }] : [])),
    ...Object.entries(properties).map(([name, schema]) => ({
      name,
      required: required.includes(name),
      description: schema.description,
      schema,
    })),
  ]
}

type Member = {
  readonly name: string
  readonly description: string | undefined
  readonly schema: JsonSchema
  readonly place?: string
  readonly required?: boolean
}

function fieldList(members: readonly Member[], schemas: Schemas): Html {
  return html`<dl>${members.map((member) => fieldItem(member, schemas))}</dl>`
}

function fieldItem({ name, description = '', schema, place, required }: Member, schemas: Schemas): Html {
  const where = place === undefined ? '' : `, in the ${place}`
  return html`<dt><code>${name}</code> <span class="type">${typeText(schema, schemas)}${where}</span>${
    required ? html` <span class="required">required</span>` : ''
  }</dt>
<dd>${prose(description)}${valueList(schema)}</dd>
`
}

function valueList({ enum: values = [] }: JsonSchema): Html {
  const shown = values.filter((value) => value !== null).map((value) => html`<code>${String(value)}</code> `)
  if (shown.length === 0) return html``
  if (shown.length <= 8) return html`<span class="values">${shown}</span>`
  return html`<details class="values"><summary>${shown.length} values</summary>${shown}</details>`
}

/** The members of an answer, those within others by their way from the top. */
function membersOf(schema: JsonSchema, schemas: Schemas, way = ''): Member[] {
  const { properties, items, oneOf: choices } = resolved(schema, schemas)
  if (items) return membersOf(items, schemas, `${way}[]`)
  if (choices) {
    const all = choices.flatMap((choice) => membersOf(choice, schemas, way))
    return all.filter(({ name }, index) => all.findIndex((each) => each.name === name) === index)
  }
  return Object.entries(properties ?? {}).flatMap(([key, given]) => {
    const name = way === '' ? key : `${way}.${key}`
    const member = resolved(given, schemas)
    return [{ name, description: member.description, schema: member }, ...membersOf(member, schemas, name)]
  })
}

function typeText(schema: JsonSchema, schemas: Schemas): string {
  const { type, format, minLength, maxLength, minimum, maximum, anyOf, default: standard } = resolved(schema, schemas)
  const types = type === undefined ? ['string'] : [type].flat()
  const kind = types.map((each) => (each === 'string' && format ? (formats[format] ?? format) : each)).join(' or ')
  return [
    anyOf?.some((each) => each.format === 'uuid') ? 'UUID or null' : kind,
    ...(maxLength !== undefined ? [`at most ${maxLength} characters`] : minLength ? ['not empty'] : []),
    ...(maximum !== undefined ? [`${minimum} to ${maximum}`] : []),
    ...(standard !== undefined ? [`default ${standard}`] : []),
  ].join(', ')
}

const formats: Readonly<Record<string, string>> = { uuid: 'UUID', 'date-time': 'time' }

/** A command that sends the example of an endpoint. */
export function curl({ method, path, operation }: Endpoint, { origin, key }: Caller): string {
  const query = operation.parameters.flatMap((parameter) =>
    'in' in parameter && parameter.in === 'query' && 'example' in parameter
      ? [`${parameter.name}=${parameter.example}`]
      : [],
  )
  const variable = (_: string, name: string) => `$${name.replace(/([a-z])([A-Z])/g, '$1_$2').toUpperCase()}`
  const url = `${origin}${path.replace(/\{(\w+)\}/g, variable)}${query.length > 0 ? `?${query.join('&')}` : ''}`
  const body = operation.requestBody?.content['application/json'].example
  const hasBody = body !== undefined && Object.keys(body).length > 0
  const lines = [
    `curl -s ${method === 'GET' || method === 'POST' ? '' : `-X ${method} `}"${url}"`,
    key === null ? '-H "x-api-key: $API_KEY"' : `-H 'x-api-key: ${key}'`,
    ...(method === 'POST' ? [`-H 'idempotency-key: my-first-${operation.operationId}'`] : []),
    ...(hasBody ? ["-H 'content-type: application/json'", `-d '${shellText(JSON.stringify(body, null, 2))}'`] : []),
  ]
  return lines.join(' \\\n  ')
}

/** What stands between single quotes in a shell; lines are indented as their command is. */
function shellText(text: string): string {
  return text.replaceAll("'", String.raw`'\''`).replaceAll('\n', '\n  ')
}

export function methodBadge(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method === 'DELETE' ? 'DEL' : method}</span>`
}

/** JSON with its names told from its values. */
export function jsonCode(value: unknown): Html {
  const parts = JSON.stringify(value, null, 2).split(/("(?:[^"\\]|\\.)*"(?=:))/)
  return html`<pre class="wrapped">${parts.map((part, index) => (index % 2 === 0 ? html`${part}` : html`<b>${part}</b>`))}</pre>`
}
