import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import type { Socket } from 'node:net'
import type { ConnectionPhase, DeliveryFailure } from './failure.ts'
import { toDeliveryFailure } from './failure.ts'
import type { TruncatedBody } from './read-response.ts'
import { readResponse } from './read-response.ts'

/** What is sent: a body only where there is one. */
export type OutgoingRequest = {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A whole answer, of whose body the beginning is kept, or why there is none. */
export type HttpResult =
  | ({ readonly status: number; readonly retryAfter: string | null } & TruncatedBody)
  | DeliveryFailure

/** How long connecting may take, name and TLS included, and how long everything. */
export type HttpTimeouts = { readonly connectMs: number; readonly wholeMs: number }

/** What connects to `http:` and `https:`. */
type AgentPair = { readonly http: Agent; readonly https: Agent }

type HttpClientOptions = {
  readonly agents: {
    /** Keeps connections. */
    readonly keeping: AgentPair
    /** Makes one for each request, as where a kept one was closed. */
    readonly fresh: AgentPair
  }
  readonly limits: HttpTimeouts
  /** Bytes of an answer that are kept. */
  readonly maxKeptBytes: number
}

/** Sends requests, follows no redirects, and waits for nobody long; `close` ends idle connections. */
export type HttpClient = {
  readonly send: (url: URL, outgoing: OutgoingRequest) => Promise<HttpResult>
  readonly close: () => void
}

/** Makes what sends requests over the connections of these agents. */
export function createHttpClient({ agents, limits, maxKeptBytes: keptBytes }: HttpClientOptions): HttpClient {
  const { keeping, fresh } = agents
  return {
    send: async (url, outgoing) => {
      const startedAt = performance.now()
      const first = await attemptRequest(url, outgoing, { agents: keeping, limits, maxKeptBytes: keptBytes })
      // A kept connection that the other side had closed meanwhile says nothing of the endpoint.
      if (first !== staleConnection) return first
      const wholeMs = limits.wholeMs - Math.round(performance.now() - startedAt)
      return attemptRequest(url, outgoing, { agents: fresh, limits: { ...limits, wholeMs }, maxKeptBytes: keptBytes })
    },
    close: () => {
      for (const { http, https } of [keeping, fresh]) {
        http.destroy()
        https.destroy()
      }
    },
  }
}

type HttpAttemptOptions = { readonly agents: AgentPair; readonly limits: HttpTimeouts; readonly maxKeptBytes: number }

/** What becomes of a request over a kept connection that is no more. */
const staleConnection: DeliveryFailure = { kind: 'reset', message: 'The connection was closed before it was used.' }

function attemptRequest(
  url: URL,
  { method, body, headers }: OutgoingRequest,
  { agents, limits, maxKeptBytes: keptBytes }: HttpAttemptOptions,
): Promise<HttpResult> {
  return new Promise((resolve) => {
    const isSecure = url.protocol === 'https:'
    const request = (isSecure ? requestByHttps : requestByHttp)(url, {
      method,
      agent: isSecure ? agents.https : agents.http,
      headers,
    })
    const phase = watchPhase(request, { isSecure, connectMs: limits.connectMs, onTimeout: (error) => fail(error) })
    const timer = setTimeout(fail, limits.wholeMs, timeoutFailure('No whole answer came', limits.wholeMs))
    let isAnswering = false

    function finish(outcome: HttpResult): void {
      clearTimeout(timer)
      phase.end()
      resolve(outcome)
    }
    function fail(error: DeliveryFailure): void {
      finish(error)
      request.destroy()
    }
    // This listener stays: what is destroyed may fail once more.
    request.on('error', (error: NodeJS.ErrnoException) => {
      const failure = toDeliveryFailure(error, phase.now())
      finish(request.reusedSocket && !isAnswering && failure.kind === 'reset' ? staleConnection : failure)
    })
    request.on('response', (response: IncomingMessage) => {
      isAnswering = true
      const { statusCode = 0, headers } = response
      readResponse(response, keptBytes, {
        onEnd: (read) => finish({ status: statusCode, retryAfter: headers['retry-after'] ?? null, ...read }),
        onError: (error) => finish(toDeliveryFailure(error, 'connected')),
      })
    })
    // Handed over by Node, which has nothing more to do with it.
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      fail({ kind: 'protocol', message: 'The answer changes the protocol, which was not asked for.' })
    })
    request.end(body)
  })
}

function timeoutFailure(what: string, ms: number): DeliveryFailure {
  return { kind: 'timeout', message: `${what} within ${ms / 1000} seconds.` }
}

type WatchPhaseOptions = {
  readonly isSecure: boolean
  readonly connectMs: number
  readonly onTimeout: (failure: DeliveryFailure) => void
}

/** Follows how far the connection of a request has come, and how long that takes where it is a new one. */
function watchPhase(request: ClientRequest, { isSecure, connectMs, onTimeout }: WatchPhaseOptions) {
  let phase: ConnectionPhase = 'connecting'
  let timer: NodeJS.Timeout | undefined
  request.once('socket', (socket: Socket) => {
    if (request.reusedSocket) {
      phase = 'connected'
      return
    }
    timer = setTimeout(onTimeout, connectMs, timeoutFailure('No connection could be made', connectMs))
    socket.once('connect', () => {
      phase = isSecure ? 'securing' : 'connected'
      if (!isSecure) clearTimeout(timer)
    })
    socket.once('secureConnect', () => {
      phase = 'connected'
      clearTimeout(timer)
    })
  })
  return { now: () => phase, end: () => clearTimeout(timer) }
}
