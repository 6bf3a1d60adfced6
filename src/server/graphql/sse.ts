import type { ResultProcessor, StringifiableResult } from './multipart-mixed.ts'

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
