import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import { request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'
import type { Socket } from 'node:net'
import type { DeliveryFailure, Phase } from './failure.ts'
import { failureOf } from './failure.ts'
import type { Read } from './read-response.ts'
import { readAnswer } from './read-response.ts'

/** What is sent: a body only where there is one. */
export type Outgoing = {
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A whole answer, of whose body the beginning is kept, or why there is none. */
export type Exchanged = ({ readonly status: number; readonly retryAfter: string | null } & Read) | DeliveryFailure

/** How long connecting may take, name and TLS included, and how long everything. */
export type Limits = { readonly connectMs: number; readonly wholeMs: number }

/** What connects to `http:` and `https:`. */
type AgentPair = { readonly http: Agent; readonly https: Agent }

type ExchangeOptions = {
  readonly agents: {
    /** Keeps connections. */
    readonly keeping: AgentPair
    /** Makes one for each request, as where a kept one was closed. */
    readonly fresh: AgentPair
  }
  readonly limits: Limits
  /** Bytes of an answer that are kept. */
  readonly keptBytes: number
}

/** Sends requests, follows no redirects, and waits for nobody long; `close` ends idle connections. */
export type Exchange = {
  readonly exchange: (url: URL, outgoing: Outgoing) => Promise<Exchanged>
  readonly close: () => void
}

/** Makes what sends requests over the connections of these agents. */
export function createExchange({ agents, limits, keptBytes }: ExchangeOptions): Exchange {
  const { keeping, fresh } = agents
  return {
    exchange: async (url, outgoing) => {
      const startedAt = performance.now()
      const first = await attempt(url, outgoing, { agents: keeping, limits, keptBytes })
      // A kept connection that the other side had closed meanwhile says nothing of the endpoint.
      if (first !== stale) return first
      const wholeMs = limits.wholeMs - Math.round(performance.now() - startedAt)
      return attempt(url, outgoing, { agents: fresh, limits: { ...limits, wholeMs }, keptBytes })
    },
    close: () => {
      for (const { http, https } of [keeping, fresh]) {
        http.destroy()
        https.destroy()
      }
    },
  }
}

type Means = { readonly agents: AgentPair; readonly limits: Limits; readonly keptBytes: number }

/** What becomes of a request over a kept connection that is no more. */
const stale: DeliveryFailure = { kind: 'reset', message: 'The connection was closed before it was used.' }

function attempt(
  url: URL,
  { method, body, headers }: Outgoing,
  { agents, limits, keptBytes }: Means,
): Promise<Exchanged> {
  return new Promise((resolve) => {
    const isSecure = url.protocol === 'https:'
    const request = (isSecure ? requestByHttps : requestByHttp)(url, {
      method,
      agent: isSecure ? agents.https : agents.http,
      headers,
    })
    const phase = watchPhase(request, { isSecure, connectMs: limits.connectMs, onTimeout: (error) => fail(error) })
    const timer = setTimeout(fail, limits.wholeMs, outOfTime('No whole answer came', limits.wholeMs))
    let isAnswering = false

    function finish(outcome: Exchanged): void {
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
      const failure = failureOf(error, phase.now())
      finish(request.reusedSocket && !isAnswering && failure.kind === 'reset' ? stale : failure)
    })
    request.on('response', (response: IncomingMessage) => {
      isAnswering = true
      const { statusCode = 0, headers } = response
      readAnswer(response, keptBytes, {
        onEnd: (read) => finish({ status: statusCode, retryAfter: headers['retry-after'] ?? null, ...read }),
        onError: (error) => finish(failureOf(error, 'connected')),
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

function outOfTime(what: string, ms: number): DeliveryFailure {
  return { kind: 'timeout', message: `${what} within ${ms / 1000} seconds.` }
}

type Watch = {
  readonly isSecure: boolean
  readonly connectMs: number
  readonly onTimeout: (failure: DeliveryFailure) => void
}

/** Follows how far the connection of a request has come, and how long that takes where it is a new one. */
function watchPhase(request: ClientRequest, { isSecure, connectMs, onTimeout }: Watch) {
  let phase: Phase = 'connecting'
  let timer: NodeJS.Timeout | undefined
  request.once('socket', (socket: Socket) => {
    if (request.reusedSocket) {
      phase = 'connected'
      return
    }
    timer = setTimeout(onTimeout, connectMs, outOfTime('No connection could be made', connectMs))
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
