import type { Measuring } from '../metrics/measure.ts'
import { railSpans, senderSpans } from './call-spans.ts'
import { operationSpans } from './operation-spans.ts'
import type { TracerOptions } from './provider.ts'
import { createTracer } from './provider.ts'
import { requestSpans } from './request-spans.ts'

/** Begins to trace this process, which may be measured already; `engine` is that of its database. */
export function traceProcess(
  measuring: Measuring,
  { engine, ...options }: TracerOptions & { readonly engine: string },
): Measuring {
  const { tracer, end } = createTracer(options)
  const performOf = operationSpans(tracer, { engine, onFault: options.onFault })
  const [railOf, senderOf] = [railSpans(tracer), senderSpans(tracer)]
  return {
    ...measuring,
    requests: requestSpans(tracer),
    perform: (perform) => performOf(measuring.perform(perform)),
    rail: (rail) => railOf(measuring.rail(rail)),
    sender: (sender) => senderOf(measuring.sender(sender)),
    end: async () => {
      await end()
      await measuring.end()
    },
  }
}
