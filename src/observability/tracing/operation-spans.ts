import type { Attributes, Span, Tracer } from '@opentelemetry/api'
import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { DomainError } from '../../core/errors.ts'
import type { Database, OnCommitted } from '../../database/database.ts'
import type { Context, Perform } from '../../operations/context.ts'
import { toParentContext } from './request-spans.ts'

type OperationSpanOptions = { readonly engine: string; readonly onError: (error: unknown) => void }

export function createOperationTracer(tracer: Tracer, options: OperationSpanOptions): (perform: Perform) => Perform {
  return (perform) => {
    const performTraced: Perform = async (operation, context, input) => {
      const attributes = { 'payout_gateway.merchant.id': context.merchantId }
      const parent = context.trace ? toParentContext(context.trace) : ROOT_CONTEXT
      const span = tracer.startSpan(operation.declaration.name, { attributes }, parent)
      const db = traceDatabase(context.db, { tracer, span, ...options })
      try {
        const result = await perform(operation, { ...context, db } as Context, input)
        span.setAttributes(resultAttributes(result))
        return result
      } catch (error) {
        recordSpanError(span, error)
        throw error
      } finally {
        span.end()
      }
    }
    return (operation, context, input) =>
      context.trace === undefined ? perform(operation, context, input) : performTraced(operation, context, input)
  }
}

type TracedDatabaseOptions = OperationSpanOptions & { readonly tracer: Tracer; readonly span: Span }

/** Adds a child span for the commit, and a span event for each start of the operation, including retries. */
function traceDatabase(db: Database, { tracer, span, engine, onError }: TracedDatabaseOptions): Database {
  const parent = trace.setSpan(ROOT_CONTEXT, span)
  const onCommitted: OnCommitted = ({ writes, seconds }) => {
    try {
      const now = performance.now()
      const attributes = {
        'db.system.name': engine,
        'db.operation.name': 'COMMIT',
        'payout_gateway.commit.operations': writes,
      }
      tracer.startSpan('commit', { startTime: now - seconds * 1_000, attributes }, parent).end(now)
    } catch (error) {
      // The transaction is already committed, so a tracing error must not make the call fail.
      onError(error)
    }
  }
  const write: Database['write'] = (operation, options) =>
    db.write(
      (tx) => {
        span.addEvent('begun')
        return operation(tx)
      },
      { ...options, onCommitted },
    )
  return { ...db, write }
}

/** The ids in the result link the span to other traces, for example to calls to the bank. */
function resultAttributes(value: unknown): Attributes {
  const { result, isReplayed } = (value ?? {}) as { readonly result?: unknown; readonly isReplayed?: unknown }
  const { id, referenceId } = (result ?? {}) as { readonly id?: unknown; readonly referenceId?: unknown }
  return {
    ...(typeof id === 'string' && { 'payout_gateway.object.id': id }),
    ...(typeof referenceId === 'string' && { 'payout_gateway.payout.reference_id': referenceId }),
    ...(isReplayed === true && { 'payout_gateway.replayed': true }),
  }
}

/** Domain errors except UNAVAILABLE are expected, so these errors do not mark the span as failed. */
function recordSpanError(span: Span, error: unknown): void {
  const code = error instanceof DomainError ? error.code : 'INTERNAL'
  span.setAttribute('error.type', code)
  if (code === 'INTERNAL' || code === 'UNAVAILABLE') span.setStatus({ code: SpanStatusCode.ERROR })
}
