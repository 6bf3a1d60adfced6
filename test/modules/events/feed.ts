import { expect } from 'vitest'
import type { ApiName } from '../../support/api-clients.ts'
import type { App } from '../../support/app.ts'

/** An event as both doors tell it; `data` as text. */
export type Seen = {
  readonly id: string
  readonly sequence: number
  readonly type: string
  readonly objectId: string
  readonly version: number
  readonly data: string
}

/** A page of the feed as a door answers it. */
export type Page = { readonly events: readonly Seen[]; readonly after: number; readonly hasMore: boolean }

type Asked = {
  readonly after?: number | undefined
  readonly types?: readonly string[]
  readonly limit?: number
  readonly key?: string
}

/** Asks a door for a page of what happened. */
export async function pageOf(door: ApiName, app: App, { after, types, limit, key }: Asked = {}): Promise<Page> {
  const keyed = key === undefined ? {} : { key }
  if (door === 'rest') {
    const given = Object.entries({ after, types: types?.join(), limit }).filter(([, value]) => value !== undefined)
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
    const { status, body } = await app.rest('GET', `/api/events?${query}`, keyed)
    expect(status, JSON.stringify(body)).toBe(200)
    const events = body.data.map(({ object, data, ...event }: Told) => ({
      ...{ id: event.id, sequence: event.sequence, type: event.type },
      ...{ objectId: object.id, version: object.version, data: JSON.stringify(data) },
    }))
    return { events, ...body.pagination }
  }
  const { data, errors } = await app.graphql(
    `query($first: Int, $after: String, $filter: EventFilter) { events(first: $first, after: $after, filter: $filter) {
      after hasMore nodes { id: webhookId sequence type objectId version data } } }`,
    { first: limit, after: after?.toString(), filter: types && { types: types.map(enumNameOf) } },
    keyed,
  )
  expect(errors).toEqual([])
  const events = data.events.nodes.map(({ type, data, ...event }: Told) => ({
    ...event,
    type: type.toLowerCase(),
    data: JSON.stringify(data),
  }))
  return { events: events.map(inOwnWords), after: Number(data.events.after), hasMore: data.events.hasMore }
}

// biome-ignore lint/suspicious/noExplicitAny: a test reads whatever the service answers.
type Told = Seen & { readonly object: any; readonly data: unknown }

const enumNameOf = (type: string) => type.toUpperCase().replaceAll('.', '_')

/** The type as REST has it: no noun of ours is the beginning of another. */
function inOwnWords(event: Seen): Seen {
  const type = event.type
    .replace(/^(payout_method|webhook_endpoint|wallet|customer|payout|webhook)_/, '$1.')
    .replace('transaction_', 'transaction.')
  return { ...event, type }
}

/** All that happened, by as many pages as it takes; each must go on where the one before it ended. */
export async function feedOf(
  door: ApiName,
  app: App,
  { limits = [100], ...asked }: Asked & { readonly limits?: readonly number[] } = {},
): Promise<Seen[]> {
  const all: Seen[] = []
  let after = asked.after
  for (let i = 0; ; i++) {
    const limit = limits[i % limits.length] ?? 100
    const page = await pageOf(door, app, { ...asked, after, limit })
    expect(page.events.length).toBeLessThanOrEqual(limit)
    expect(page.after).toBeGreaterThanOrEqual(page.events.at(-1)?.sequence ?? after ?? 0)
    all.push(...page.events)
    after = page.after
    if (!page.hasMore) return all
    expect(page.events).toHaveLength(limit)
  }
}
