import type { Attributes, Tracer } from '@opentelemetry/api'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { AccessLogEntry, RequestSpan, RequestTracer } from '../../server/http/request-lifecycle.ts'
import { apiOfRoute } from '../../server/http/request-lifecycle.ts'
import { extractParent, findTrace } from './trace-context.ts'

/** A request that is not recorded, which most are where few are. */
const unrecordedSpan: RequestSpan = { trace: null, end: () => {} }

/** What a request ends with that the service is to blame for. */
const minServerErrorStatus = 500

/** Makes a span of each request that is answered by a door. */
export function createRequestSpans(tracer: Tracer): RequestTracer {
  const startRequestSpan = (agoMs: number, parent = ROOT_CONTEXT) =>
    tracer.startSpan('request', { kind: SpanKind.SERVER, startTime: performance.now() - agoMs }, parent)
  const toRequestSpan = (span: ReturnType<typeof startRequestSpan>): RequestSpan => {
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
      const door = apiOfRoute(answer.route)
      if (door !== '' && door !== 'pages') toRequestSpan(startRequestSpan(answer.duration_ms)).end(answer, false)
    },
  }
}

/** Of what a caller has sent there is nothing here: no path, no id and no name of its own, no text. */
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
