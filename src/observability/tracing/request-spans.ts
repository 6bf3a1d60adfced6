import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api'
import { createTraceState, ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import type { TraceContext } from '../../operations/context.ts'
import type { AccessLogEntry, RequestSpan, RequestTracer } from '../../server/http/request-lifecycle.ts'
import { apiOfRoute } from '../../server/http/request-lifecycle.ts'

const unrecordedSpan: RequestSpan = { trace: null, end: () => {} }

const minServerErrorStatus = 500

export function createRequestSpans(tracer: Tracer): RequestTracer {
  const startRequestSpan = (agoMs: number, parent = ROOT_CONTEXT) =>
    tracer.startSpan('request', { kind: SpanKind.SERVER, startTime: performance.now() - agoMs }, parent)
  const toRequestSpan = (span: Span): RequestSpan => {
    const trace = findTrace(span)
    if (trace === null) return unrecordedSpan
    const end: RequestSpan['end'] = (answer, isTrusted) => {
      span.updateName(`${answer.method} ${answer.route}`)
      span.setAttributes(requestAttributes(answer, isTrusted))
      if (answer.status >= minServerErrorStatus) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(performance.now())
    }
    return { trace, end }
  }
  return {
    begin: (headers, elapsedMs) => toRequestSpan(startRequestSpan(elapsedMs, extractParent(headers))),
    recordUnadmitted: (answer) => {
      const api = apiOfRoute(answer.route)
      if (api !== '' && api !== 'pages') toRequestSpan(startRequestSpan(answer.duration_ms)).end(answer, false)
    },
  }
}

/**
 * Request spans contain no data from the caller: no URL, id or text. The GraphQL operation name is included only if the
 * operation is from a trusted document.
 */
function requestAttributes(
  { method, route, status, code, operation, merchant_id }: AccessLogEntry,
  isTrusted: boolean,
) {
  const attributes: Attributes = { 'http.request.method': method, 'http.response.status_code': status }
  if (route !== null) attributes['http.route'] = route
  if (code !== null) attributes['error.type'] = code
  if (merchant_id !== null) attributes['payout_gateway.merchant.id'] = merchant_id
  if (operation === null) return attributes
  const [type, name] = operation.split(' ')
  attributes['graphql.operation.type'] = type
  if (isTrusted && name !== undefined) attributes['graphql.operation.name'] = name
  return attributes
}

/** A `tracestate` over 512 characters is dropped; W3C requires services to propagate at least 512. */
const maxTraceStateLength = 512

type PropagationHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

function extractParent({ traceparent, tracestate }: PropagationHeaders): Context {
  const parent = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null
  if (parent === null) return ROOT_CONTEXT
  const isPropagated = typeof tracestate === 'string' && tracestate.length <= maxTraceStateLength
  const traceState = isPropagated ? createTraceState(tracestate) : undefined
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true, ...(traceState && { traceState }) })
}

function findTrace(span: Span): TraceContext | null {
  if (!span.isRecording()) return null
  const { traceId, spanId } = span.spanContext()
  return { traceId, spanId }
}

export function toParentContext({ traceId, spanId }: TraceContext): Context {
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED })
}

/** If the span is not recorded, returns no headers, so that the receiver makes its own sampling decision. */
export function createTraceHeaders(span: Span): Readonly<Record<string, string>> {
  const context = findTrace(span)
  return context === null ? {} : { traceparent: `00-${context.traceId}-${context.spanId}-01` }
}
