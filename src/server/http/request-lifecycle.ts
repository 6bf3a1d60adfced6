import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Service, TraceContext } from '../../operations/context.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set after admission, if requests are traced. */
    span?: RequestSpan
  }
}

/** The access log entry of a response, by field names of the log. */
export type AccessLogEntry = {
  readonly request_id: string
  readonly method: string
  /** The path template, never the URL or body, which may contain account numbers and keys. */
  readonly route: string | null
  readonly operation: string | null
  readonly status: number
  /** The error code; GraphQL reports errors with status 200 too. */
  readonly code: string | null
  readonly merchant_id: string | null
  readonly duration_ms: number
  /** Set if the request is traced. */
  readonly trace_id?: string
}

/** Logs each response at level info; `isTrusted` if the operation is from a trusted document, so that its name is our own. */
export type AccessLog = { readonly answered: (entry: AccessLogEntry, isTrusted?: boolean) => void }

/** Returns the API of a route, as a metric label: `pages` for all other routes, empty for an unknown path. */
export function apiOfRoute(route: string | null): string {
  if (route === null) return ''
  if (route === '/graphql') return 'graphql'
  if (route.startsWith('/api/')) return 'rest'
  return route.startsWith('/rails/') ? 'rails' : 'pages'
}

/** The server span of a request. */
export type RequestSpan = {
  /** The parent of the spans of this request; `null` if it is not sampled. */
  readonly trace: TraceContext | null
  readonly end: (entry: AccessLogEntry, isTrusted: boolean) => void
}

export type RequestTracer = {
  /** Starts the span of an admitted request, `elapsedMs` after its arrival; continues the trace that the headers name. */
  readonly begin: (headers: IncomingHttpHeaders, elapsedMs: number) => RequestSpan
  /** Records a request that was not admitted, and ignores the trace that its headers name. */
  readonly recordUnadmitted: (entry: AccessLogEntry) => void
}

/** Logs and traces every request. Call it before any route is added. */
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
      route: request.routeOptions.url ?? null,
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

/** Returns the service with the trace of a request, so that its operations are spans of that trace. */
export function withRequestTrace(service: Service, { span }: FastifyRequest): Service {
  return span?.trace ? { ...service, trace: span.trace } : service
}
