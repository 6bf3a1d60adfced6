import { answersTaken, openWithToken } from './token'

// A subscription that survives whatever ends its connection: it connects again and says which event was the last.
// `EventSource` would do so by itself, but sends no header, and a token belongs in no address.

/** `onStart` says that what happened before is not told: whoever shows something must ask for it anew. */
type Listener<Result> = { readonly onStart: () => void; readonly onResult: (result: Result) => void }
type Operation = { readonly query: string; readonly variables: object }

/** Listens until the function that it returns is called. */
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
        // The token is over, or the service ends: the next connection says more.
        if (result.errors) throw new Error(result.errors[0].message)
        // The stream has the last word: an answer that is under way may be older than this.
        await answersTaken()
        listener.onResult(result)
        lastEventId = id
      }
    } catch (error) {
      // biome-ignore lint/suspicious/noConsole: who looks why nothing comes looks here.
      if (!stopped.aborted) console.warn('The stream ended and is opened again:', error)
      // The service was restored from a backup, and knows of no such event.
      if (error instanceof Response && error.status === 400) lastEventId = ''
    }
    const delayMs = Math.min(30_000, 500 * 2 ** failures) * (0.5 + Math.random() / 2)
    await new Promise((resolve) => setTimeout(resolve, delayMs))
  }
}

/** The events of one connection, first one without `data`: the service listens. It is heard every 12 seconds, or is gone. */
async function* events(operation: Operation, lastEventId: string, stopped: AbortSignal) {
  const gone = new AbortController()
  let silence = setTimeout(() => gone.abort(), 30_000)
  try {
    const answer = await openWithToken('/graphql', {
      method: 'POST',
      headers: { accept: 'text/event-stream', 'content-type': 'application/json', 'last-event-id': lastEventId },
      body: JSON.stringify(operation),
      signal: AbortSignal.any([stopped, gone.signal]),
    })
    if (!answer.ok || !answer.body) throw answer
    yield { id: '', data: null }
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader()
    for (let unread = ''; ; ) {
      const { done, value } = await reader.read()
      if (done) return
      clearTimeout(silence)
      silence = setTimeout(() => gone.abort(), 30_000)
      const blocks = (unread + value).split('\n\n')
      unread = blocks.pop() ?? ''
      yield* blocks.filter((block) => block.startsWith('event: next')).map(eventIn)
    }
  } finally {
    clearTimeout(silence)
    gone.abort()
  }
}

function eventIn(block: string): { id: string; data: string } {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? ''
  return { id: field('id'), data: field('data') }
}
