import type { Attributes, Context as Place, Span, Tracer } from '@opentelemetry/api'
import { ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
import { DomainError } from '../../core/errors.ts'
import type { Database, OnCommitted } from '../../database/database.ts'
import type { Context, Perform } from '../../operations/context.ts'
import { toParentContext } from './trace-context.ts'

/** What commits are told to be of: `sqlite` or `postgresql`. */
type OperationSpanOptions = { readonly engine: string; readonly onError: (error: unknown) => void }

/**
 * Makes a span of each operation that is performed for a request that is traced, and one below it of the commit that stores
 * it. Several operations may share a commit: then each has it in its own trace, with their number.
 */
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

/** The database for one operation: its turn is an event of the span, again where it runs again, and its commit a span. */
function traceDatabase(db: Database, { tracer, span, engine, onError: onFault }: TracedDatabaseOptions): Database {
  const place: Place = trace.setSpan(ROOT_CONTEXT, span)
  const onCommitted: OnCommitted = ({ writes: operations, seconds }) => {
    try {
      const now = performance.now()
      const attributes = {
        'db.system.name': engine,
        'db.operation.name': 'COMMIT',
        'payout_gateway.commit.operations': operations,
      }
      tracer.startSpan('commit', { startTime: now - seconds * 1_000, attributes }, place).end(now)
    } catch (error) {
      // What is stored is stored, whether or not it was seen.
      onFault(error)
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

/** By what the answer is found elsewhere, such as a payout in its bank's calls: ids, and nothing that it is about. */
function resultAttributes(done: unknown): Attributes {
  const { result, isReplayed } = (done ?? {}) as { readonly result?: unknown; readonly isReplayed?: unknown }
  const { id, referenceId } = (result ?? {}) as { readonly id?: unknown; readonly referenceId?: unknown }
  return {
    ...(typeof id === 'string' && { 'payout_gateway.object.id': id }),
    ...(typeof referenceId === 'string' && { 'payout_gateway.payout.reference_id': referenceId }),
    ...(isReplayed === true && { 'payout_gateway.replayed': true }),
  }
}

/** A refusal is an answer like any other, unless the store is to blame for it. */
function recordSpanError(span: Span, error: unknown): void {
  const code = error instanceof DomainError ? error.code : 'INTERNAL'
  span.setAttribute('error.type', code)
  if (code === 'INTERNAL' || code === 'UNAVAILABLE') span.setStatus({ code: SpanStatusCode.ERROR })
}
