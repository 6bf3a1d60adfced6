import type { GraphQLHTTPExtensions, getSSEProcessor } from 'graphql-yoga'

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
