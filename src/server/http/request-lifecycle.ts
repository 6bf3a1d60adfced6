import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Service, TraceContext } from '../../operations/context.ts'
import type { AccessLogEntry } from './access-log.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Follows the request; only where requests are traced, and once it was admitted. */
    span?: RequestSpan
  }
}

/** A request that is followed until it is answered. */
export type RequestSpan = {
  /** Where what is done for it belongs; `null` where it is not recorded. */
  readonly trace: TraceContext | null
  readonly end: (answer: AccessLogEntry, isTrusted: boolean) => void
}

/** What follows requests. */
export type RequestTracer = {
  /** Begins with a request that was admitted, `elapsedMs` after it had come; its headers may say of which trace it is. */
  readonly begin: (headers: IncomingHttpHeaders, elapsedMs: number) => RequestSpan
  /** Told of an answer to a request that was not admitted: whatever its headers say it is of no trace of others. */
  readonly recordUnadmitted: (answer: AccessLogEntry) => void
}

/** Has the requests that are admitted followed; to be called before any route is added. */
export function traceRequests(app: FastifyInstance, spans: RequestTracer): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (request.merchantId !== '') request.span = spans.begin(request.headers, reply.elapsedTime)
    done(null, payload)
  })
}

/** The service as it works for a request: what is done for one that is traced belongs to its trace. */
export function withRequestTrace(service: Service, { span }: FastifyRequest): Service {
  return span?.trace ? { ...service, trace: span.trace } : service
}
