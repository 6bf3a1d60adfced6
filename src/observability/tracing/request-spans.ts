import type { Attributes, Tracer } from '@opentelemetry/api'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { LoggedAnswer } from '../../server/http/access-log.ts'
import { doorOf } from '../../server/http/access-log.ts'
import type { RequestSpan, RequestSpans } from '../../server/http/request-lifecycle.ts'
import { parentIn, placeOf } from './span-names.ts'

/** A request that is not recorded, which most are where few are. */
const unrecorded: RequestSpan = { trace: null, end: () => {} }

/** What a request ends with that the service is to blame for. */
const firstFault = 500

/** Makes a span of each request that is answered by a door. */
export function requestSpans(tracer: Tracer): RequestSpans {
  const start = (agoMs: number, parent = ROOT_CONTEXT) =>
    tracer.startSpan('request', { kind: SpanKind.SERVER, startTime: performance.now() - agoMs }, parent)
  const follow = (span: ReturnType<typeof start>): RequestSpan => {
    const trace = placeOf(span)
    if (trace === null) return unrecorded
    const end: RequestSpan['end'] = (answer, isTrusted) => {
      span.updateName(`${answer.method} ${answer.route}`)
      span.setAttributes(attributesOf(answer, isTrusted))
      if (answer.status >= firstFault) span.setStatus({ code: SpanStatusCode.ERROR })
      span.end(performance.now())
    }
    return { trace, end }
  }
  return {
    begin: (headers, elapsedMs) => follow(start(elapsedMs, parentIn(headers))),
    missed: (answer) => {
      const door = doorOf(answer.route)
      if (door !== '' && door !== 'pages') follow(start(answer.duration_ms)).end(answer, false)
    },
  }
}

/** Of what a caller has sent there is nothing here: no path, no id and no name of its own, no text. */
function attributesOf({ method, route, status, code, operation, merchant_id }: LoggedAnswer, isTrusted: boolean) {
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
