import { backoffMs, sleep } from './backoff.ts'
import { type TypedDocument, textOf } from './documents.ts'
import { ServiceError } from './errors.ts'
import { readEvents } from './event-stream.ts'
import type { Operation, VariableArguments } from './graphql.ts'
import { isTransient, serviceErrorOf, type Transport } from './transport.ts'

export type StreamOptions = {
  /** Ends the stream. */
  readonly signal?: AbortSignal
  /** Resumes a stream after the result with this id. */
  readonly lastEventId?: string
  /**
   * Called when the stream starts without a position. Earlier changes are not sent, so reload what you show. If
   * `onStart` is set and the service no longer has the position, because it was restored from a backup, the stream
   * starts again instead of failing.
   */
  readonly onStart?: () => void
  /**
   * Delays each result until the requests that were pending when it arrived have their responses, so that an older
   * response does not overwrite a newer result in a cache.
   */
  readonly isAfterResponses?: boolean
  /** Replaces a connection that was silent for this time. The service sends a heartbeat every 12 seconds. */
  readonly silenceMs?: number
}

/** A result of a subscription, and its id if the stream can be resumed. */
export type StreamResult<Result> = { readonly data: Result; readonly id: string | null }

export type Subscribe = {
  /**
   * Follows a subscription across expired tokens and lost connections, until it completes or the signal aborts.
   *
   * @throws ServiceError if the service rejects the subscription permanently
   */
  <Result, Variables>(
    document: TypedDocument<Result, Variables>,
    ...rest: [...variables: SubscriptionArguments<Variables>]
  ): AsyncGenerator<StreamResult<Result>, void>
  (
    document: string,
    variables?: object,
    options?: StreamOptions,
    // biome-ignore lint/suspicious/noExplicitAny: a plain text says nothing of its result.
  ): AsyncGenerator<StreamResult<any>, void>
}

type SubscriptionArguments<Variables> =
  VariableArguments<Variables> extends readonly [unknown, unknown?]
    ? [variables: Variables, options?: StreamOptions]
    : [variables?: Variables, options?: StreamOptions]

/** Receives the results of a stream, as the links of GraphQL libraries expect them. */
export type Sink = {
  // biome-ignore lint/suspicious/noExplicitAny: each library has its own type of a result.
  readonly next: (result: any) => void
  readonly error?: (error: Error) => void
  readonly complete?: () => void
}

const backoff = { baseDelayMs: 500, maxDelayMs: 30_000 }
/** A connection that lasted this long does not count as a failure, even without an event. */
const stableMs = 10_000
const path = '/graphql'

export function createSubscribe(transport: Transport) {
  const subscribe = ((document: object | string, variables: object = {}, options: StreamOptions = {}) =>
    follow(transport, { query: textOf(document), variables }, options)) as Subscribe
  return {
    subscribe,
    /** Forwards a subscription of a GraphQL library to its sink. @returns a function that ends it */
    forward: (operation: Operation, sink: Sink, options: Omit<StreamOptions, 'signal'> = {}): (() => void) => {
      const ending = new AbortController()
      const { signal } = ending
      const run = async () => {
        try {
          for await (const { data } of follow(transport, operation, { ...options, signal })) sink.next({ data })
          if (!signal.aborted) sink.complete?.()
        } catch (error) {
          sink.error?.(error as Error)
        }
      }
      void run()
      return () => ending.abort()
    },
  }
}

async function* follow(transport: Transport, operation: Operation, options: StreamOptions) {
  const { signal, onStart, isAfterResponses = false } = options
  let lastEventId = options.lastEventId ?? ''
  for (let failures = 0; !signal?.aborted; failures++) {
    let connectedAt = Number.POSITIVE_INFINITY
    let error: Error = new Error(`The stream of ${path} ended.`)
    let token: string | null = null
    const onToken = (used: string) => {
      token = used
    }
    try {
      for await (const event of connect(transport, operation, { ...options, lastEventId, onToken })) {
        if (event === 'connected') {
          connectedAt = Date.now()
          if (lastEventId === '') onStart?.()
          continue
        }
        if (event.type === 'complete') return
        const { errors, data } = JSON.parse(event.data)
        if (errors) throw streamErrorOf(event.data)
        failures = 0
        if (isAfterResponses) await transport.settled()
        if (signal?.aborted) return
        yield { data, id: event.id }
        lastEventId = event.id ?? lastEventId
      }
    } catch (cause) {
      if (signal?.aborted) return
      error = cause as Error
      if (cause instanceof ServiceError) {
        // The next connection requests another token. If the service rejects that token too, the response has status
        // 401.
        const isExpired = cause.status === 200 && cause.code === 'INVALID_TOKEN'
        const isLostPosition = cause.code === 'INVALID_INPUT' && lastEventId !== '' && onStart !== undefined
        if (isExpired && token !== null) transport.dropToken(token)
        else if (isLostPosition) lastEventId = ''
        else if (!isExpired && !isTransient(cause)) throw cause
      }
    }
    if (Date.now() - connectedAt > stableMs) failures = 0
    const requestedMs = error instanceof ServiceError ? (error.retryAfterMs ?? 0) : 0
    const delayMs = requestedMs + backoffMs(backoff, failures + 1)
    transport.onRetry({ path, failures: failures + 1, delayMs, error })
    await sleep(delayMs, signal).catch(() => {})
  }
}

type ConnectOptions = StreamOptions & { readonly onToken: (token: string) => void }

/**
 * Opens the stream, and yields `connected` and then its events. @throws ServiceError if the response is not a stream
 */
async function* connect(transport: Transport, operation: Operation, options: ConnectOptions) {
  const { signal, lastEventId, onToken, silenceMs = 30_000 } = options
  const silent = new AbortController()
  const giveUp = () => silent.abort(new Error(`The stream of ${path} was silent for ${silenceMs} ms.`))
  let timer = setTimeout(giveUp, silenceMs)
  try {
    const response = await transport.open({
      path,
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        ...(lastEventId && { 'last-event-id': lastEventId }),
      },
      body: JSON.stringify(operation),
      onToken,
      signal: signal ? AbortSignal.any([signal, silent.signal]) : silent.signal,
    })
    if (!response.ok || !response.body || !isStream(response)) {
      const text = await response.text()
      // The only result of a stream can be an error that rejects it.
      const [, result = text] = isStream(response) ? (/^data: (.+)$/m.exec(text) ?? []) : []
      throw serviceErrorOf({ response, text: result, attempts: 1, isUncertain: false })
    }
    yield 'connected' as const
    const onBytes = () => {
      clearTimeout(timer)
      timer = setTimeout(giveUp, silenceMs)
    }
    yield* readEvents(response.body, onBytes)
  } finally {
    clearTimeout(timer)
    silent.abort()
  }
}

const isStream = ({ headers }: Response) => headers.get('content-type')?.startsWith('text/event-stream') ?? false

/** Creates the error of a result with errors; the stream itself was opened with 200. */
function streamErrorOf(text: string): ServiceError {
  const response = new Response(null, { status: 200 })
  return serviceErrorOf({ response, text, attempts: 1, isUncertain: false })
}
