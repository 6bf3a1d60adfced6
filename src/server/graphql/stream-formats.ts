import type { GraphQLHTTPExtensions, getSSEProcessor } from 'graphql-yoga'

/** Proxies close a connection that is silent for a minute. */
const pingIntervalMs = 12_000

/** Replaces Yoga's own processor, which writes no event ids. A client needs event ids to resume a stream. */
export const processServerSentEvents: ResultProcessor = (results, fetchAPI) => {
  const iterator = (
    Symbol.asyncIterator in results ? results[Symbol.asyncIterator]() : singleResult(results as StringifiableResult)
  ) as AsyncIterator<StringifiableResult>
  let pinging: NodeJS.Timeout | undefined
  const body = new fetchAPI.ReadableStream<Uint8Array>({
    start: (controller) => {
      // The first ping is sent immediately, to confirm that the stream is open.
      controller.enqueue(ping)
      pinging = setInterval(() => {
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(ping)
      }, pingIntervalMs)
    },
    pull: async (controller) => {
      try {
        const { done, value } = await iterator.next()
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
    // Does not await `return`, because the generator may be waiting for an event.
    cancel: () => {
      clearInterval(pinging)
      iterator.return?.()
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

export type ResultProcessor = ReturnType<typeof getSSEProcessor>

export type StringifiableResult = {
  readonly extensions?: { readonly http: GraphQLHTTPExtensions }
  /** To resume a stream, a client sends the event id as `Last-Event-ID`. */
  readonly id?: string
  readonly stringify: () => string
}

/** Yoga supports `multipart/mixed` only for incremental delivery (`@defer`, `@stream`), not for subscriptions. */
export const processMultipart: ResultProcessor = (results, fetchAPI) => {
  const parts = multipartChunks((Symbol.asyncIterator in results ? results : [results]) as StringifiableResults)
  const body = new fetchAPI.ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await parts.next()
      if (done) controller.close()
      else controller.enqueue(Buffer.from(value))
    },
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
  yield '\r\n---'
  for await (const result of results) {
    const text = result.stringify()
    const head = `Content-Type: application/json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(text)}`
    yield `\r\n${head}\r\n\r\n${text}\r\n---`
  }
  yield '--\r\n'
}
