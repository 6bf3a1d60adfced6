import type { Mode } from '../../../../src/operations/context.ts'
import type { ApiName } from '../../../support/api-clients.ts'
import type { App, Setup } from '../../../support/app.ts'

/** Each suite runs in the sandbox on SQLite, and live on the other engines. */
export function modeOn(setup: Setup): Mode {
  return setup === 'sqlite' ? 'sandbox' : 'live'
}

type Input = Readonly<Record<string, unknown>>

/** The result of an API: an endpoint, with its secret if that is new, or a domain error with its invalid fields. */
export type Answered = {
  readonly code: string | null
  readonly fields: readonly string[]
  readonly message: string
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
  readonly endpoint: any
  readonly secret: string | null
}

type Options = { readonly key?: string; readonly idempotencyKey?: string }

/** The REST path of each change of an endpoint, by the name of its mutation. */
const paths = {
  createWebhookEndpoint: ['POST', ''],
  updateWebhookEndpoint: ['PUT', ''],
  deleteWebhookEndpoint: ['DELETE', ''],
  rotateWebhookSecret: ['POST', '/rotate'],
  testWebhookEndpoint: ['POST', '/test'],
  enableWebhookEndpoint: ['POST', '/enable'],
  disableWebhookEndpoint: ['POST', '/disable'],
  replayWebhookEvents: ['POST', '/replay'],
} as const

/** Every change of an endpoint. */
export const changes = Object.keys(paths) as (keyof typeof paths)[]

/** Requests a change from an API with the operation's field names, and returns camel case. */
export async function ask(
  apiName: ApiName,
  app: App,
  name: keyof typeof paths,
  input: Input,
  { key, idempotencyKey }: Options = {},
): Promise<Answered> {
  const keyed = key === undefined ? {} : { key }
  if (apiName === 'rest') {
    const { webhookId, ...body } = input
    const [method, last] = paths[name]
    const response = await app.rest(method, `/api/webhooks${webhookId === undefined ? '' : `/${webhookId}`}${last}`, {
      body: renamed(body, (each) => each.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)),
      ...keyed,
      ...(idempotencyKey !== undefined && { headers: { 'idempotency-key': idempotencyKey } }),
    })
    if (response.body.error) return refused(response.body.error)
    return answered(response.body.data ? camelCased(response.body.data) : null)
  }
  const Name = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
  const isKeyed = name === 'createWebhookEndpoint' || name === 'rotateWebhookSecret'
  const payload = name === 'deleteWebhookEndpoint' ? '__typename' : `webhookEndpoint { ${selection} }`
  const { data, errors } = await app.graphql(
    `mutation($input: ${Name}Input!) { ${name}(input: $input) { ... on ${Name}Payload { ${payload} ${isKeyed ? 'secret' : ''} }
      ... on UserError { code message } ... on InvalidInputError { fields { field } } } }`,
    { input: { ...withEnums(input), ...(idempotencyKey !== undefined && { idempotencyKey }) } },
    keyed,
  )
  if (errors.length > 0) return refused({ ...errors[0].extensions, message: errors[0].message })
  const field = data[name]
  if (field.code) return refused({ code: field.code, message: field.message, details: { fields: field.fields } })
  return answered(field.webhookEndpoint ? { ...seen(field.webhookEndpoint), secret: field.secret } : null)
}

/** Returns the endpoint as an API shows it, or `null`. */
export async function showEndpoint(apiName: ApiName, app: App, id: string, { key }: Options = {}) {
  const keyed = key === undefined ? {} : { key }
  if (apiName === 'rest') {
    const { body } = await app.rest('GET', `/api/webhooks/${id}`, keyed)
    return body.data ? camelCased(body.data) : null
  }
  const { data } = await app.graphql(`query($id: ID!) { webhookEndpoint(id: $id) { ${selection} } }`, { id }, keyed)
  return data.webhookEndpoint && seen(data.webhookEndpoint)
}

/** Returns the URLs of the endpoints as an API lists them. */
export async function listedUrls(apiName: ApiName, app: App, { key }: Options = {}): Promise<string[]> {
  const keyed = key === undefined ? {} : { key }
  if (apiName === 'rest') {
    const { body } = await app.rest('GET', '/api/webhooks', keyed)
    return body.data.map(({ url }: { url: string }) => url)
  }
  const { data } = await app.graphql('{ webhookEndpoints { totalCount nodes { url } } }', {}, keyed)
  return data.webhookEndpoints.nodes.map(({ url }: { url: string }) => url)
}

/** Returns the log of an endpoint as an API shows it: `before` is a sequence for REST and a cursor for GraphQL. */
export async function log(apiName: ApiName, app: App, id: string, { status, first = 20, before = null }: Input = {}) {
  if (apiName === 'rest') {
    const given = Object.entries({ status, limit: first, before }).filter(([, value]) => value != null)
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
    const { body } = await app.rest('GET', `/api/webhooks/${id}/deliveries?${query}`)
    return { items: body.data.map(camelCased), next: body.pagination.before }
  }
  const { data } = await app.graphql(
    `query($id: ID!, $filter: WebhookDeliveryFilter, $first: Int, $after: String) { webhookEndpoint(id: $id) {
      deliveries(first: $first, after: $after, filter: $filter) { totalCount pageInfo { endCursor hasNextPage } nodes {
        eventId eventType sequence status nextAttemptAt attempts { attemptedAt durationMs status error answer } } } } }`,
    { id, first, after: before, filter: { status: status ? String(status).toUpperCase() : null } },
  )
  const { nodes, pageInfo } = data.webhookEndpoint.deliveries
  return { items: nodes.map(seen), next: pageInfo.hasNextPage ? pageInfo.endCursor : null }
}

const selection =
  'id: uuid url types format description status disabledReason publicKey sentUpTo failures failingSince createdAt updatedAt'

function answered(endpoint: { secret?: string } | null): Answered {
  const { secret = null, ...rest } = endpoint ?? {}
  return { code: null, fields: [], message: '', endpoint: rest, secret }
}

type Refused = {
  code: string
  message: string
  fields?: { field: string }[] | null
  details?: { fields?: { field: string }[] | null }
}

function refused({ code, message, fields, details = {} }: Refused): Answered {
  const faults = fields ?? details.fields ?? []
  const names = faults.map(({ field }) =>
    field.replace(/^input\./, '').replace(/_(\w)/g, (_, each) => each.toUpperCase()),
  )
  return { code, message, fields: names, endpoint: null, secret: null }
}

const enumFields = ['format', 'from']

/** Returns the input with GraphQL's enum names. */
function withEnums(input: Input): Input {
  const named = (value: unknown) => String(value).toUpperCase().replace('.', '_')
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      name === 'types' && Array.isArray(value)
        ? value.map(named)
        : enumFields.includes(name) && typeof value === 'string'
          ? named(value)
          : value,
    ]),
  )
}

/** Returns GraphQL's result with REST's values. */
function seen(row: Record<string, unknown>): Record<string, unknown> {
  const small = (value: unknown) => (typeof value === 'string' ? value.toLowerCase() : value)
  const type = (value: unknown) =>
    String(value)
      .toLowerCase()
      .replace(/^(payout_method|webhook_endpoint|customer|payout|wallet|webhook)_/, '$1.')
      .replace('transaction_', 'transaction.')
  return {
    ...row,
    ...('types' in row && { types: (row.types as string[]).map(type), format: small(row.format) }),
    ...('eventType' in row && { eventType: type(row.eventType) }),
    ...('disabledReason' in row && { disabledReason: small(row.disabledReason) }),
    status: small(row.status),
  }
}

function camelCased(row: Record<string, unknown>): Record<string, unknown> {
  const values = renamed(row, (name) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))
  return { ...values, ...(Array.isArray(values.attempts) && { attempts: values.attempts.map(camelCased) }) }
}

function renamed(row: Input, name: (name: string) => string): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([each, value]) => [name(each), value]))
}
