import { expect } from 'vitest'
import type { ApiName } from '../../support/api-clients.ts'
import type { App } from '../../support/app.ts'

export type Seen = {
  readonly id: string
  readonly sequence: number
  readonly type: string
  readonly objectId: string
  readonly version: number
  readonly data: string
}

export type Page = { readonly events: readonly Seen[]; readonly after: number; readonly hasMore: boolean }

type FeedQuery = {
  readonly after?: number | undefined
  readonly types?: readonly string[]
  readonly limit?: number
  readonly key?: string
}

export async function pageOf(api: ApiName, app: App, { after, types, limit, key }: FeedQuery = {}): Promise<Page> {
  const credentials = key === undefined ? {} : { key }
  if (api === 'rest') {
    const parameters = Object.entries({ after, types: types?.join(), limit }).filter(([, value]) => value !== undefined)
    const query = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)]))
    const { status, body } = await app.rest('GET', `/api/events?${query}`, credentials)
    expect(status, JSON.stringify(body)).toBe(200)
    const events = body.data.map(({ object, data, ...event }: ApiEvent) => ({
      ...{ id: event.id, sequence: event.sequence, type: event.type },
      ...{ objectId: object.id, version: object.version, data: JSON.stringify(data) },
    }))
    return { events, ...body.pagination }
  }
  const { data, errors } = await app.graphql(
    `query($first: Int, $after: String, $filter: EventFilter) { events(first: $first, after: $after, filter: $filter) {
      after hasMore nodes { id: webhookId sequence type objectId version data } } }`,
    { first: limit, after: after?.toString(), filter: types && { types: types.map(enumNameOf) } },
    credentials,
  )
  expect(errors).toEqual([])
  const events = data.events.nodes.map(({ type, data, ...event }: ApiEvent) => ({
    ...event,
    type: type.toLowerCase(),
    data: JSON.stringify(data),
  }))
  return { events: events.map(withRestType), after: Number(data.events.after), hasMore: data.events.hasMore }
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service returns.
type ApiEvent = Seen & { readonly object: any; readonly data: unknown }

const enumNameOf = (type: string) => type.toUpperCase().replaceAll('.', '_')

/** Converts the GraphQL enum name to the REST type. This is unambiguous: no object name is a prefix of another. */
function withRestType(event: Seen): Seen {
  const type = event.type
    .replace(/^(payout_method|webhook_endpoint|wallet|customer|payout|webhook)_/, '$1.')
    .replace('transaction_', 'transaction.')
  return { ...event, type }
}

/** Reads the whole feed by pages. Each page must continue after the previous one. */
export async function feedOf(
  api: ApiName,
  app: App,
  { limits = [100], ...feedQuery }: FeedQuery & { readonly limits?: readonly number[] } = {},
): Promise<Seen[]> {
  const all: Seen[] = []
  let after = feedQuery.after
  for (let i = 0; ; i++) {
    const limit = limits[i % limits.length] ?? 100
    const page = await pageOf(api, app, { ...feedQuery, after, limit })
    expect(page.events.length).toBeLessThanOrEqual(limit)
    expect(page.after).toBeGreaterThanOrEqual(page.events.at(-1)?.sequence ?? after ?? 0)
    all.push(...page.events)
    after = page.after
    if (!page.hasMore) return all
    expect(page.events).toHaveLength(limit)
  }
}
