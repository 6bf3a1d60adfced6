import type { GraphQLHTTPExtensions, getSSEProcessor } from 'graphql-yoga'

/** How often a stream says that it is alive while nothing happens: proxies close what is silent for a minute. */
const pingIntervalMs = 12_000

/**
 * Forms results as server-sent events. Yoga's own form writes no ids, by which a client that connects again says where it was.
 */
export const processServerSentEvents: ResultProcessor = (results, fetchAPI) => {
  const each = (
    Symbol.asyncIterator in results ? results[Symbol.asyncIterator]() : singleResult(results as StringifiableResult)
  ) as AsyncIterator<StringifiableResult>
  let pinging: NodeJS.Timeout | undefined
  const body = new fetchAPI.ReadableStream<Uint8Array>({
    start: (controller) => {
      // At once, so that the caller knows that it is heard.
      controller.enqueue(ping)
      pinging = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(ping)
      }, pingIntervalMs)
    },
    pull: async (controller) => {
      try {
        const { done, value } = await each.next()
        if (value) controller.enqueue(Buffer.from(formatEvent(value)))
        if (!done) return
        clearInterval(pinging)
        controller.enqueue(Buffer.from('event: complete\ndata:\n\n'))
        controller.close()
      } catch (error) {
        clearInterval(pinging)
        controller.error(error)
      }
    },
    // Not waited for: it may be in the middle of waiting itself.
    cancel: () => {
      clearInterval(pinging)
      each.return?.()
    },
  })
  const { status = 200, headers = {} } = (results as StringifiableResult).extensions?.http ?? {}
  return new fetchAPI.Response(body, {
    status,
    headers: {
      'content-type': 'text/event-stream',
      connection: 'keep-alive',
      'cache-control': 'no-cache',
      'content-encoding': 'none',
      ...headers,
    },
  })
}

const ping = Buffer.from(':\n\n')

function formatEvent({ id, stringify }: StringifiableResult): string {
  return `event: next\n${id === undefined ? '' : `id: ${id}\n`}data: ${stringify()}\n\n`
}

async function* singleResult(result: StringifiableResult): AsyncGenerator<StringifiableResult> {
  yield result
}

/** What forms a response of results. */
export type ResultProcessor = ReturnType<typeof getSSEProcessor>

/** A result that says its own text. */
export type StringifiableResult = {
  readonly extensions?: { readonly http: GraphQLHTTPExtensions }
  /** By which whoever connects to a stream again says that it has this. */
  readonly id?: string
  readonly stringify: () => string
}

/**
 * Forms results as parts, each of which is a whole one.
 *
 * Yoga has this form for the pieces of one result (`@defer`, `@stream`), which no document can ask for here, and gives it to no
 * subscription.
 */
export const processMultipart: ResultProcessor = (results, fetchAPI) => {
  const parts = multipartChunks((Symbol.asyncIterator in results ? results : [results]) as StringifiableResults)
  const body = new fetchAPI.ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(Buffer.from(value))
    },
    // Not waited for: it may be in the middle of waiting itself.
    cancel: () => {
      parts.return(undefined)
    },
  })
  const { status = 200, headers = {} } = (results as StringifiableResult).extensions?.http ?? {}
  return new fetchAPI.Response(body, {
    status,
    headers: { ...headers, 'content-type': 'multipart/mixed; boundary="-"' },
  })
}

type StringifiableResults = AsyncIterable<StringifiableResult> | Iterable<StringifiableResult>

async function* multipartChunks(results: StringifiableResults): AsyncGenerator<string, undefined> {
  // At once, so that the caller knows that it is heard.
  yield '\r\n---'
  for await (const result of results) {
    const text = result.stringify()
    const head = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}`
    yield `\r\n${head}\r\n\r\n${text}\r\n---`
  }
  yield '--\r\n'
}
