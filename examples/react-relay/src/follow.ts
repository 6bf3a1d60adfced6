import { answersTaken, openWithToken } from './token'

// A GraphQL subscription over server-sent events that reconnects, and resumes with `Last-Event-ID`. `EventSource` does so too,
// but can't send headers, and a token must not be in a URL.

/** `onStart` is called if the stream starts without a last event: earlier changes are not sent, so refetch what is shown. */
type Listener<Result> = { readonly onStart: () => void; readonly onResult: (result: Result) => void }
type Operation = { readonly query: string; readonly variables: object }

/** Subscribes. @returns a function that unsubscribes */
export function follow<Result>(operation: Operation, listener: Listener<Result>): () => void {
  const stopping = new AbortController()
  void keepListening(operation, listener, stopping.signal)
  return () => stopping.abort()
}

async function keepListening<Result>(operation: Operation, listener: Listener<Result>, stopped: AbortSignal) {
  let lastEventId = ''
  for (let failures = 0; !stopped.aborted; failures++) {
    try {
      for await (const { id, data } of events(operation, lastEventId, stopped)) {
        failures = 0
        if (data === null) {
          if (lastEventId === '') listener.onStart()
          continue
        }
        const result = JSON.parse(data)
        // The token has expired or the service is stopping: reconnect.
        if (result.errors) throw new Error(result.errors[0].message)
        // A pending response may be older than this event and must not overwrite it.
        await answersTaken()
        listener.onResult(result)
        lastEventId = id
      }
    } catch (error) {
      // biome-ignore lint/suspicious/noConsole: helps to find out why no events arrive.
      if (!stopped.aborted) console.warn('The event stream failed and will reconnect:', error)
      // The service was restored from a backup and does not have that event.
      if (error instanceof Response && error.status === 400) lastEventId = ''
    }
    const delayMs = Math.min(30_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2)
    await new Promise((resolve) => setTimeout(resolve, delayMs))
  }
}

/** Yields `data: null` when connected, then events. Aborts after 30 s of silence: the service sends a heartbeat every 12 s. */
async function* events(operation: Operation, lastEventId: string, stopped: AbortSignal) {
  const timedOut = new AbortController()
  let timeout = setTimeout(() => timedOut.abort(), 30_000)
  try {
    const response = await openWithToken('/graphql', {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', 'last-event-id': lastEventId },
      body: JSON.stringify(operation),
      signal: AbortSignal.any([stopped, timedOut.signal]),
    })
    if (!response.ok || !response.body) throw response
    yield { id: '', data: null }
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let unread = ''; ; ) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(timeout)
      timeout = setTimeout(() => timedOut.abort(), 30_000)
      const blocks = (unread + value).split('\n\n')
      unread = blocks.pop() ?? ''
      yield* blocks.filter((block) => block.startsWith('event: next')).map(eventIn)
    }
  } finally {
    clearTimeout(timeout)
    timedOut.abort()
  }
}

function eventIn(block: string): { id: string; data: string } {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? ''
  return { id: field('id'), data: field('data') }
}
