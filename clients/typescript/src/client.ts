import { type EventOptions, followEvents } from './events.ts'
import type { Event } from './generated/rest.ts'
import { createGraphql, type Graphql, keyed } from './graphql.ts'
import { createRest, type RestClient } from './rest.ts'
import { createSubscribe, type Subscribe } from './subscribe.ts'
import { createTransport, type TransportOptions } from './transport.ts'

export type Client = RestClient & {
  readonly graphql: Graphql
  readonly subscribe: Subscribe
  /** Forwards a subscription of a GraphQL library to its sink. @returns a function that ends it */
  readonly forward: ReturnType<typeof createSubscribe>['forward']
  /** Iterates over the event feed, in order and without gaps, and then over each event as it happens. */
  readonly events: (options?: EventOptions) => AsyncGenerator<Event, void>
  /**
   * A `fetch` for GraphQL libraries: sends the credential, and retries requests that cannot have a second effect, such
   * as a mutation with an idempotency key. It reads the whole response.
   */
  readonly fetch: (path: string | URL | Request, init?: RequestInit) => Promise<Response>
  /**
   * Sends a request with the credential, without retries, and does not read the response. For exports and other files.
   */
  readonly open: (path: string, init?: Pick<RequestInit, 'headers' | 'signal'>) => Promise<Response>
}

/** Creates a client of the service. The client holds no connection, so you need not close it. */
export function createClient(options: TransportOptions): Client {
  const transport = createTransport(options)
  const rest = createRest(transport)
  return {
    ...rest,
    graphql: createGraphql(transport),
    ...createSubscribe(transport),
    events: (options) => followEvents({ rest, transport }, options),
    fetch: async (path, init = {}) => {
      const { body, method = 'GET', headers, signal } = init
      if (body != null && typeof body !== 'string') throw new TypeError('The body must be a string.')
      const key = new Headers(headers).get('idempotency-key')
      const { response, text } = await transport.send({
        path: pathOf(path),
        method,
        headers: headers ?? {},
        body: body ?? null,
        isRepeatable: method !== 'POST' || key !== null || isRepeatableOperation(body),
        idempotencyKey: key,
        signal,
      })
      const { status, statusText } = response
      return new Response(text === '' ? null : text, { status, statusText, headers: response.headers })
    },
    open: (path, { headers, signal } = {}) => transport.open({ path, method: 'GET', headers: headers ?? {}, signal }),
  }
}

/** Keeps only the path and query of a URL, so that only the client's own host receives the credential. */
function pathOf(address: string | URL | Request): string {
  const { pathname, search } = new URL(address instanceof Request ? address.url : String(address), 'http://service')
  return pathname + search
}

/** Returns whether a body is a query, or a mutation that already has an idempotency key. */
function isRepeatableOperation(body: string | null | undefined): boolean {
  try {
    const { query, variables, operationName } = JSON.parse(body ?? '')
    const { isRepeatable, operation } = keyed({ query, variables, operationName })
    const { input } = (operation.variables ?? {}) as { input?: { idempotencyKey?: string } }
    return isRepeatable && input?.idempotencyKey === variables?.input?.idempotencyKey
  } catch {
    return false
  }
}
