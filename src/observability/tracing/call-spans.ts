import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { ROOT_CONTEXT, SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { Rail } from '../../modules/rails/adapters/rail.ts'
import { observeRail, railCallOutcomeOf } from '../../modules/rails/adapters/rail.ts'
import { judgeResponse } from '../../modules/webhooks/transport/retry-schedule.ts'
import type { Sender } from '../../modules/webhooks/transport/send.ts'
import { createTraceHeaders } from './request-spans.ts'

/**
 * Sends `traceparent` to the bank. A call to the bank starts a new trace, because the call may happen days after the
 * request that created the payout.
 */
export function createRailTracer(tracer: Tracer): (rail: Rail) => Rail {
  return (rail) =>
    observeRail(rail, (call, order, ask) => {
      const attributes = {
        'payout_gateway.rail': rail.name,
        'payout_gateway.rail.call': call,
        'payout_gateway.payout.reference_id': order.id,
      }
      const span = startClientSpan(tracer, `rail ${call}`, attributes)
      return runInSpan(span, () => ask(createTraceHeaders(span)), toRailOutcome)
    })
}

/** The span of a webhook attempt omits the URL, because the URL is the merchant's data. */
export function createSenderTracer(tracer: Tracer): (sender: Sender) => Sender {
  return (sender) => ({
    ...sender,
    send: (url, post, event) => {
      const span = startClientSpan(tracer, 'webhook attempt', {
        'http.request.method': 'POST',
        ...(event && {
          'payout_gateway.event.id': event.id,
          'payout_gateway.event.type': event.type,
          'payout_gateway.object.id': event.object.id,
        }),
      })
      const send = () => sender.send(url, { ...post, headers: { ...post.headers, ...createTraceHeaders(span) } }, event)
      return runInSpan(span, send, ({ status, error }) => ({
        attributes: {
          ...(status !== null && { 'http.response.status_code': status }),
          ...(error !== null && { 'error.type': error.kind }),
        },
        isFailed: !judgeResponse(status).isDelivered,
      }))
    },
  })
}

type SpanOutcome = { readonly attributes: Attributes; readonly isFailed: boolean }

function startClientSpan(tracer: Tracer, name: string, attributes: Attributes): Span {
  return tracer.startSpan(name, { kind: SpanKind.CLIENT, attributes }, ROOT_CONTEXT)
}

/** The span omits error messages, because a message can quote any data. */
async function runInSpan<Answer>(
  span: Span,
  run: () => Promise<Answer>,
  toOutcome: (answer: Answer) => SpanOutcome,
): Promise<Answer> {
  try {
    const answer = await run()
    const { attributes, isFailed } = toOutcome(answer)
    span.setAttributes(attributes)
    if (isFailed) span.setStatus({ code: SpanStatusCode.ERROR })
    return answer
  } catch (error) {
    span.setAttribute('error.type', 'NO_ANSWER').setStatus({ code: SpanStatusCode.ERROR })
    throw error
  } finally {
    span.end()
  }
}

function toRailOutcome(answer: unknown): SpanOutcome {
  return { attributes: { 'payout_gateway.rail.outcome': railCallOutcomeOf(answer) }, isFailed: false }
}
