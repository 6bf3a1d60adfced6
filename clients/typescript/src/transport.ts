import { type Backoff, backoffMs, requestedDelayMs, sleep } from './backoff.ts'
import { NoResponseError, type Outcome, RequestError, ServiceError } from './errors.ts'
import type { Token, TokenSource } from './tokens.ts'

/** How long requests are retried. */
export type RetryPolicy = Backoff & {
  /** The time limit of one attempt. */
  readonly attemptTimeoutMs: number
  /** The time limit of all attempts and delays of a request; 0 for a single attempt. */
  readonly totalMs: number
}

const defaultPolicy: RetryPolicy = { attemptTimeoutMs: 30_000, totalMs: 60_000, baseDelayMs: 250, maxDelayMs: 8_000 }

/** The delay before the next attempt, and the error of the previous attempt. */
export type Retry = {
  readonly path: string
  readonly failures: number
  readonly delayMs: number
  readonly error: Error
}

export type TransportOptions = {
  /**
   * The address of the service. A function is called for each request, for pages that receive the address with their
   * token.
   */
  readonly url: string | (() => string | Promise<string>)
  /** An API key, for servers. Set either `apiKey` or `tokens`. */
  readonly apiKey?: string
  /** The client tokens of a page. */
  readonly tokens?: TokenSource<Token>
  readonly retry?: Partial<RetryPolicy>
  /** Called before each delay. */
  readonly onRetry?: (retry: Retry) => void
  /** By default the global `fetch`. */
  readonly fetch?: typeof fetch
}

export type OutgoingRequest = {
  readonly path: string
  readonly method: string
  readonly headers?: HeadersInit
  readonly body?: string | null
  /** Whether a second attempt has no second effect. Otherwise the client repeats only attempts that had no effect. */
  readonly isRepeatable: boolean
  readonly idempotencyKey?: string | null
  readonly signal?: AbortSignal | null | undefined
  /** Overrides parts of the client's policy. */
  readonly retry?: Partial<RetryPolicy>
}

/** A request that is sent once. */
export type OpenRequest = Pick<OutgoingRequest, 'path' | 'method' | 'headers' | 'body' | 'signal'> & {
  /** Receives the token that the request is sent with. */
  readonly onToken?: (token: string) => void
}

export type Received = {
  readonly response: Response
  readonly text: string
  readonly attempts: number
  /** Whether an earlier attempt without a response may have had an effect. */
  readonly isUncertain: boolean
}

export type Transport = ReturnType<typeof createTransport>

/** Statuses of requests that had no effect, because the service rejects such requests before it reads them. */
const rejectedUnread = new Set([401, 403, 408, 429])
/** Statuses after which a retry may succeed. */
const transient = new Set([408, 429, 502, 503, 504])
/** Statuses after which the request may have had an effect. */
const isUncertainStatus = (status: number) => status >= 500 && status !== 501

/** Codes of GraphQL errors after which the request may have had an effect; the status may be 200. */
const uncertainCodes = new Set(['INTERNAL', 'UNAVAILABLE'])

/** Returns whether the same request may succeed later. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ServiceError) return transient.has(error.status) || error.outcome === 'unknown'
  return error instanceof NoResponseError
}

export function createTransport(options: TransportOptions) {
  const { apiKey, tokens, onRetry } = options
  if ((apiKey === undefined) === (tokens === undefined)) throw new TypeError('Set either apiKey or tokens.')
  const clientPolicy = { ...defaultPolicy, ...options.retry }
  const pending = new Set<Promise<unknown>>()

  /** Sends a request once, and once more with a new token if the service rejects the first token. */
  async function open(request: OpenRequest): Promise<Response> {
    const { path, method, body, signal } = request
    for (let isSecond = false; ; isSecond = true) {
      const headers = new Headers(request.headers)
      const token = (await tokens?.current())?.token
      if (token === undefined) headers.set('x-api-key', apiKey ?? '')
      else headers.set('authorization', `Bearer ${token}`)
      if (token !== undefined) request.onToken?.(token)
      const base = typeof options.url === 'string' ? options.url : await options.url()
      // Following a redirect could send the key to another host, or turn a POST into a GET.
      const init: RequestInit = { method, headers, body: body ?? null, signal: signal ?? null, redirect: 'manual' }
      const response = await (options.fetch ?? fetch)(new URL(path, base), init)
      if (isRedirect(response)) throw redirectError(base)
      if (response.status !== 401 || token === undefined) return response
      tokens?.drop(token)
      if (isSecond) return response
      await response.body?.cancel()
    }
  }

  /**
   * Repeats a request until it has a final response, or until the time limit.
   *
   * @returns also the response to a rejected request
   * @throws NoResponseError, or the reason of an aborted signal
   */
  async function repeat(request: OutgoingRequest): Promise<Received> {
    const { path, isRepeatable, idempotencyKey = null, signal } = request
    const policy = { ...clientPolicy, ...request.retry }
    const deadline = Date.now() + policy.totalMs
    const failed = (outcome: Outcome, attempts: number) => ({ outcome, idempotencyKey, attempts })
    for (let attempts = 1, isUncertain = false; ; attempts++) {
      const remainingMs = policy.totalMs === 0 ? policy.attemptTimeoutMs : Math.max(1, deadline - Date.now())
      const timeout = AbortSignal.timeout(Math.min(policy.attemptTimeoutMs, remainingMs))
      let delayMs = backoffMs(policy, attempts)
      let error: Error
      let received: Received | null = null
      try {
        const response = await open({ ...request, signal: signal ? AbortSignal.any([signal, timeout]) : timeout })
        received = { response, text: await response.text(), attempts, isUncertain }
        const { status } = response
        if (!transient.has(status) || !(isRepeatable || rejectedUnread.has(status))) return received
        isUncertain ||= isUncertainStatus(status)
        delayMs += requestedDelayMs(response.headers) ?? 0
        error = new Error(`${path} returned ${status}.`)
      } catch (cause) {
        if (signal?.aborted) throw signal.reason
        // A missing token or a redirect: the service did not receive the request.
        const isUnsent = cause instanceof RequestError
        const isPermanent = isUnsent && !isTransient(cause)
        if (isPermanent && !isUncertain) throw cause
        isUncertain ||= !isUnsent
        const outcome = isUncertain ? 'unknown' : 'unprocessed'
        error = new NoResponseError(`${path} got no response: ${cause}`, failed(outcome, attempts), { cause })
        if (isPermanent || (!isRepeatable && isUncertain)) throw error
      }
      if (Date.now() + delayMs >= deadline) {
        if (received) return received
        throw error
      }
      onRetry?.({ path, failures: attempts, delayMs, error })
      await sleep(delayMs, signal ?? undefined)
    }
  }

  return {
    open,
    send: (request: OutgoingRequest): Promise<Received> => {
      const received = repeat(request)
      const isOver = received.catch(() => null).finally(() => pending.delete(isOver))
      // Excludes long polls, which wait for an event.
      if (!/[?&]wait=/.test(request.path)) pending.add(isOver)
      return received
    },
    /**
     * Waits until the requests that are pending now have their responses, and 100 ms more, in which callers process the
     * responses.
     */
    settled: async () => {
      if (pending.size === 0) return
      await Promise.all(pending)
      await sleep(100)
    },
    dropToken: (token: string) => tokens?.drop(token),
    onRetry: (retry: Retry) => onRetry?.(retry),
  }
}

/** A browser hides the status of a redirect. */
const isRedirect = ({ type, status }: Response) => type === 'opaqueredirect' || (status >= 300 && status < 400)

function redirectError(base: string): ServiceError {
  return new ServiceError(`${base} redirects to another address: set the client's url to that.`, {
    ...{ outcome: 'unprocessed', idempotencyKey: null, attempts: 1, code: 'REDIRECTED', status: 308 },
    requestId: null,
    retryAfterMs: null,
  })
}

/** The body of an error, in the forms of both APIs. */
type ErrorBody = {
  readonly message?: string
  readonly error?: { readonly code: string; readonly message: string; readonly details?: object }
  readonly errors?: readonly { readonly message: string; readonly extensions?: { readonly code?: string } }[]
}

export function serviceErrorOf(received: Received, idempotencyKey: string | null = null): ServiceError {
  const { text, attempts } = received
  const { status, headers } = received.response
  const body = parseBody(text)
  const [first] = body.errors ?? []
  const code = body.error?.code ?? first?.extensions?.code ?? `HTTP_${status}`
  const message = body.error?.message ?? first?.message ?? body.message ?? `The service returned ${status}.`
  return new ServiceError(message, {
    ...{ outcome: outcomeOf(received, code, idempotencyKey), idempotencyKey, attempts, code, status },
    details: body.error?.details,
    requestId: headers.get('x-request-id'),
    retryAfterMs: requestedDelayMs(headers),
    result: body,
  })
}

function outcomeOf({ response, isUncertain }: Received, code: string, idempotencyKey: string | null): Outcome {
  if (isUncertainStatus(response.status) || uncertainCodes.has(code)) return 'unknown'
  if (rejectedUnread.has(response.status)) return isUncertain ? 'unknown' : 'unprocessed'
  // The service looks for the key first, so its rejection proves that no attempt with the key succeeded.
  return isUncertain && idempotencyKey === null ? 'unknown' : 'rejected'
}

function parseBody(text: string): ErrorBody {
  try {
    const body = JSON.parse(text)
    return typeof body === 'object' && body !== null ? body : {}
  } catch {
    return {}
  }
}
