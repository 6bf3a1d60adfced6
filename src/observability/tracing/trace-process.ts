import type { Tracer } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources'
import type { Sampler, SpanExporter } from '@opentelemetry/sdk-trace'
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace'
import type { Instrumentation } from '../metrics/instrumentation.ts'
import { createRailTracer, createSenderTracer } from './call-spans.ts'
import { createOperationTracer } from './operation-spans.ts'
import { createRequestSpans } from './request-spans.ts'
import type { SamplerName } from './sampler-names.ts'

export function traceProcess(
  measuring: Instrumentation,
  { engine, ...options }: TracerOptions & { readonly engine: string },
): Instrumentation {
  const { tracer, end } = createTracer(options)
  const tracePerform = createOperationTracer(tracer, { engine, onError: options.onError })
  const [traceRail, traceSender] = [createRailTracer(tracer), createSenderTracer(tracer)]
  return {
    ...measuring,
    requestSpans: createRequestSpans(tracer),
    wrapPerform: (perform) => tracePerform(measuring.wrapPerform(perform)),
    wrapRail: (rail) => traceRail(measuring.wrapRail(rail)),
    wrapSender: (sender) => traceSender(measuring.wrapSender(sender)),
    shutdown: async () => {
      await end()
      await measuring.shutdown()
    },
  }
}

const maxQueuedSpans = 2_048

/** Serializing 256 spans blocks the event loop for a millisecond or two. */
const exportBatchSize = 256

const [exportDelayMs, shutdownTimeoutMs] = [1_000, 2_000]

/** Span attributes are shortened to limit the memory of the span queue. */
const maxAttributeLength = 256

/** `ratio` is the fraction of new traces to sample. */
export type TracerOptions = {
  readonly version: string
  readonly role: string
  readonly sampler: SamplerName
  readonly ratio: number
  readonly timeoutMs: number
  readonly onError: (error: unknown) => void
}

/**
 * Exports spans in the background. If the collector is down or slow, spans are lost.
 *
 * @returns the tracer, and `end`, which exports the remaining spans within two seconds
 */
export function createTracer({ version, role, sampler, ratio, timeoutMs, onError }: TracerOptions): {
  readonly tracer: Tracer
  readonly end: () => Promise<void>
} {
  const exporter = reportExportErrors(new OTLPTraceExporter({ timeoutMillis: timeoutMs }), onError)
  const own = { 'service.name': 'payout-gateway', 'service.version': version, 'payout_gateway.role': role }
  const configured = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ ...own, 'process.pid': process.pid }))
      .merge(configured),
    sampler: samplers[sampler](ratio),
    spanLimits: { attributeValueLengthLimit: maxAttributeLength },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: maxQueuedSpans,
        maxExportBatchSize: exportBatchSize,
        scheduledDelayMillis: exportDelayMs,
        exportTimeoutMillis: timeoutMs * 2,
      }),
    ],
  })
  return {
    tracer: provider.getTracer('payout-gateway', version),
    end: () => settleWithin(shutdownTimeoutMs, provider.shutdown()),
  }
}

const samplers: Readonly<Record<SamplerName, (ratio: number) => Sampler>> = {
  always_on: () => new AlwaysOnSampler(),
  always_off: () => new AlwaysOffSampler(),
  traceidratio: (ratio) => new TraceIdRatioBasedSampler(ratio),
  parentbased_always_on: () => new ParentBasedSampler({ root: new AlwaysOnSampler() }),
  parentbased_always_off: () => new ParentBasedSampler({ root: new AlwaysOffSampler() }),
  parentbased_traceidratio: (ratio) => new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
}

/** The OpenTelemetry SDK does not report export errors itself. */
function reportExportErrors(exporter: SpanExporter, onError: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error) onError(result.error)
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}

async function settleWithin(ms: number, promise: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([promise.catch(() => {}), timeout])
  clearTimeout(timer)
}
