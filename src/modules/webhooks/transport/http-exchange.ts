import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent as HttpAgent, request as requestByHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestByHttps } from 'node:https'
import type { Socket } from 'node:net'
import type { ConnectionPhase, DeliveryFailure } from './failure.ts'
import { toDeliveryFailure } from './failure.ts'

export type OutgoingRequest = {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type TruncatedBody = { readonly beginning: Buffer; readonly isWhole: boolean }

export type HttpResult =
  | ({ readonly status: number; readonly retryAfter: string | null } & TruncatedBody)
  | DeliveryFailure

/** `connectMs` limits DNS, TCP and TLS together; `wholeMs` limits the whole HTTP exchange. */
export type HttpTimeouts = { readonly connectMs: number; readonly wholeMs: number }

export type AgentPair = { readonly http: HttpAgent; readonly https: HttpsAgent }

type HttpClientOptions = {
  /** The `fresh` agents open a new connection for each request. */
  readonly agents: { readonly keepAlive: AgentPair; readonly fresh: AgentPair }
  readonly limits: HttpTimeouts
  readonly maxKeptBytes: number
}

/** The HTTP client does not follow redirects. */
export type HttpClient = {
  readonly send: (url: URL, outgoing: OutgoingRequest) => Promise<HttpResult>
  readonly close: () => void
}

const maxResponseBytes = 64 * 1024

export function createHttpClient({ agents, limits, maxKeptBytes }: HttpClientOptions): HttpClient {
  const { keepAlive, fresh } = agents
  return {
    send: async (url, outgoing) => {
      const startedAt = performance.now()
      const result = await attemptRequest(url, outgoing, { agents: keepAlive, limits, maxKeptBytes })
      // The server had already closed the reused connection. A closed connection is no failure of the endpoint, so the
      // request is sent again on a new connection.
      if (result !== staleConnection) return result
      const wholeMs = limits.wholeMs - Math.round(performance.now() - startedAt)
      return attemptRequest(url, outgoing, { agents: fresh, limits: { ...limits, wholeMs }, maxKeptBytes })
    },
    close: () => {
      for (const { http, https } of [keepAlive, fresh]) {
        http.destroy()
        https.destroy()
      }
    },
  }
}

type TrustedHttpClientOptions = {
  readonly limits: HttpTimeouts
  readonly ca?: string
}

/** Most servers have a longer keep-alive timeout, so the client closes idle connections before the server does. */
const idleTimeoutMs = 4_000

/**
 * The trusted HTTP client may connect to any address, so use this client only for URLs that the operator configures.
 * For URLs of merchants, use `createSender`, which guards against SSRF.
 */
export function createTrustedHttpClient({ limits, ca }: TrustedHttpClientOptions): HttpClient {
  // Neither an environment variable nor a caller can turn certificate verification off.
  const tls = { rejectUnauthorized: true, ...(ca !== undefined && { ca }) }
  const createAgentPair = (keepAlive: boolean): AgentPair => {
    const options = { keepAlive, ...(keepAlive && { timeout: idleTimeoutMs, scheduling: 'lifo' as const }) }
    return { http: new HttpAgent(options), https: new HttpsAgent({ ...tls, ...options }) }
  }
  return createHttpClient({
    agents: { keepAlive: createAgentPair(true), fresh: createAgentPair(false) },
    limits,
    maxKeptBytes: maxResponseBytes,
  })
}

type HttpAttemptOptions = { readonly agents: AgentPair; readonly limits: HttpTimeouts; readonly maxKeptBytes: number }

const staleConnection: DeliveryFailure = { kind: 'reset', message: 'The connection was closed before it was used.' }

function attemptRequest(
  url: URL,
  { method, body, headers }: OutgoingRequest,
  { agents, limits, maxKeptBytes }: HttpAttemptOptions,
): Promise<HttpResult> {
  return new Promise((resolve) => {
    const isSecure = url.protocol === 'https:'
    const request = (isSecure ? requestByHttps : requestByHttp)(url, {
      method,
      agent: isSecure ? agents.https : agents.http,
      headers,
    })
    const phase = watchPhase(request, { isSecure, connectMs: limits.connectMs, onTimeout: (error) => fail(error) })
    const timer = setTimeout(fail, limits.wholeMs, timeoutFailure('No complete response arrived', limits.wholeMs))
    let hasResponse = false

    function finish(result: HttpResult): void {
      clearTimeout(timer)
      phase.end()
      resolve(result)
    }
    function fail(error: DeliveryFailure): void {
      finish(error)
      request.destroy()
    }
    // The `error` listener is never removed, because a destroyed request may emit another error.
    request.on('error', (error: NodeJS.ErrnoException) => {
      const failure = toDeliveryFailure(error, phase.now())
      finish(request.reusedSocket && !hasResponse && failure.kind === 'reset' ? staleConnection : failure)
    })
    request.on('response', (response: IncomingMessage) => {
      hasResponse = true
      const { statusCode = 0, headers } = response
      readBody(response, maxKeptBytes, {
        onEnd: (body) => finish({ status: statusCode, retryAfter: headers['retry-after'] ?? null, ...body }),
        onError: (error) => finish(toDeliveryFailure(error, 'connected')),
      })
    })
    request.on('upgrade', (_, socket) => {
      socket.destroy()
      fail({ kind: 'protocol', message: 'The response switches protocols, which the request did not ask for.' })
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

type BodyHandlers = {
  readonly onEnd: (body: TruncatedBody) => void
  readonly onError: (error: Error) => void
}

function readBody(response: IncomingMessage, maxKeptBytes: number, { onEnd, onError }: BodyHandlers): void {
  const chunks: Buffer[] = []
  let size = 0
  const end = () => onEnd({ beginning: Buffer.concat(chunks), isWhole: size <= maxKeptBytes })
  response.on('data', (chunk: Buffer) => {
    if (size < maxKeptBytes) chunks.push(chunk.subarray(0, maxKeptBytes - size))
    size += chunk.length
    if (size <= maxResponseBytes) return
    end()
    response.destroy()
  })
  response.on('end', end)
  response.on('error', onError)
}
