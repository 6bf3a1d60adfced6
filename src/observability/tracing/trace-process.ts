import type { Instrumentation } from '../metrics/instrumentation.ts'
import { createRailTracer, createSenderTracer } from './call-spans.ts'
import { createOperationTracer } from './operation-spans.ts'
import type { TracerOptions } from './provider.ts'
import { createTracer } from './provider.ts'
import { createRequestSpans } from './request-spans.ts'

/** Begins to trace this process, which may be measured already; `engine` is that of its database. */
export function traceProcess(
  measuring: Instrumentation,
  { engine, ...options }: TracerOptions & { readonly engine: string },
): Instrumentation {
  const { tracer, end } = createTracer(options)
  const performOf = createOperationTracer(tracer, { engine, onError: options.onError })
  const [railOf, senderOf] = [createRailTracer(tracer), createSenderTracer(tracer)]
  return {
    ...measuring,
    requestSpans: createRequestSpans(tracer),
    wrapPerform: (perform) => performOf(measuring.wrapPerform(perform)),
    wrapRail: (rail) => railOf(measuring.wrapRail(rail)),
    wrapSender: (sender) => senderOf(measuring.wrapSender(sender)),
    shutdown: async () => {
      await end()
      await measuring.shutdown()
    },
  }
}
