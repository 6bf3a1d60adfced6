import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Service, TraceContext } from '../../operations/context.ts'
import { routeOf } from './method-not-allowed.ts'

declare module 'fastify' {
  interface FastifyRequest {
    span?: RequestSpan
  }
}

export type AccessLogEntry = {
  readonly request_id: string
  readonly method: string
  /** The path template. The log omits URLs and bodies, because they can contain account numbers and API keys. */
  readonly route: string | null
  readonly operation: string | null
  readonly status: number
  /** The error code is logged, because a GraphQL response with errors can have the HTTP status 200. */
  readonly code: string | null
  readonly merchant_id: string | null
  readonly duration_ms: number
  readonly trace_id?: string
}

/**
 * `isTrusted` is true if the GraphQL operation is from a trusted document. The name of a trusted operation contains no
 * data of the caller.
 */
export type AccessLog = { readonly answered: (entry: AccessLogEntry, isTrusted?: boolean) => void }

export function apiOfRoute(route: string | null): string {
  if (route === null) return ''
  if (route === '/graphql') return 'graphql'
  if (route.startsWith('/api/')) return 'rest'
  return route.startsWith('/rails/') ? 'rails' : 'pages'
}

export type RequestSpan = {
  readonly trace: TraceContext | null
  readonly end: (entry: AccessLogEntry, isTrusted: boolean) => void
}

export type RequestTracer = {
  readonly begin: (headers: IncomingHttpHeaders, elapsedMs: number) => RequestSpan
  /** The trace context in the headers is not used, because the request was not admitted. */
  readonly recordUnadmitted: (entry: AccessLogEntry) => void
}

export function observeRequests(app: FastifyInstance, accessLog: AccessLog, tracer?: RequestTracer): void {
  if (tracer) {
    app.addHook('preParsing', (request, reply, payload, done) => {
      if (request.merchantId !== '') request.span = tracer.begin(request.headers, reply.elapsedTime)
      done(null, payload)
    })
  }
  app.addHook('onResponse', (request, reply, done) => {
    const { span } = request
    const entry = {
      request_id: request.id,
      method: request.method,
      route: routeOf(request),
      operation: request.operation,
      status: reply.statusCode,
      code: request.refusalCode,
      merchant_id: request.merchantId || null,
      duration_ms: Math.round(reply.elapsedTime * 1000) / 1000,
      ...(span?.trace && { trace_id: span.trace.traceId }),
    }
    accessLog.answered(entry, request.isOperationTrusted)
    if (span) span.end(entry, request.isOperationTrusted)
    else tracer?.recordUnadmitted(entry)
    done()
  })
}

export function withRequestTrace(service: Service, { span }: FastifyRequest): Service {
  return span?.trace ? { ...service, trace: span.trace } : service
}
