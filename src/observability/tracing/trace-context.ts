import type { Context, Span } from '@opentelemetry/api'
import { createTraceState, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api'
import { parseTraceParent } from '@opentelemetry/core'
import type { TraceContext } from '../../operations/context.ts'

/** What of a caller's `tracestate` is taken over at most, which W3C has everyone carry: what is longer is left out. */
const maxTraceStateLength = 512

/** Headers by their names in lower case. */
type PropagationHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The place that `traceparent` and `tracestate` name; the beginning of a new trace where they name none, or wrongly. */
export function extractParent({ traceparent, tracestate }: PropagationHeaders): Context {
  const place = typeof traceparent === 'string' ? parseTraceParent(traceparent) : null
  if (place === null) return ROOT_CONTEXT
  const isTaken = typeof tracestate === 'string' && tracestate.length <= maxTraceStateLength
  const traceState = isTaken ? createTraceState(tracestate) : undefined
  return trace.setSpanContext(ROOT_CONTEXT, { ...place, isRemote: true, ...(traceState && { traceState }) })
}

/** Where what is done below a span belongs; `null` where that is not recorded. */
export function findTrace(span: Span): TraceContext | null {
  if (!span.isRecording()) return null
  const { traceId, spanId } = span.spanContext()
  return { traceId, spanId }
}

/** The same for the SDK. */
export function toParentContext({ traceId, spanId }: TraceContext): Context {
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED })
}

/** What is sent with a request that a span stands for: nothing where it is not recorded, so that whoever gets it decides for itself. */
export function createTraceHeaders(span: Span): Readonly<Record<string, string>> {
  const place = findTrace(span)
  return place === null ? {} : { traceparent: `00-${place.traceId}-${place.spanId}-01` }
}
