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

/** Spans that wait to be exported; more are dropped. */
const maxQueuedSpans = 2_048

/** Spans that are exported together: to write them takes a millisecond or two, in which nothing else runs. */
const exportBatchSize = 256

/** How long a span waits for others, and what is left at the end for the collector. */
const [exportDelayMs, shutdownTimeoutMs] = [1_000, 2_000]

/** Longer than any value that we have: what is queued is bounded in bytes too. */
const maxAttributeLength = 256

/** How spans are made and exported: `ratio` is that of new traces, `timeoutMs` how long a collector may take. */
export type TracerOptions = {
  readonly version: string
  /** What this process is for. */
  readonly role: string
  readonly sampler: SamplerName
  readonly ratio: number
  readonly timeoutMs: number
  /** Told why spans were not exported. */
  readonly onError: (error: unknown) => void
}

/**
 * Makes what makes spans, and exports them by OTLP to where the environment says, in batches and beside the work: a collector
 * that is away, slow or silent loses spans and nothing else.
 *
 * @returns with `end`, which exports what is left, within two seconds
 */
export function createTracer({ version, role, sampler, ratio, timeoutMs, onError: onFault }: TracerOptions): {
  readonly tracer: Tracer
  readonly end: () => Promise<void>
} {
  const exporter = reportExportErrors(new OTLPTraceExporter({ timeoutMillis: timeoutMs }), onFault)
  const own = { 'service.name': 'payout-gateway', 'service.version': version, 'payout_gateway.role': role }
  const given = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] })
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ ...own, 'process.pid': process.pid }))
      .merge(given),
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

/** The SDK itself says nothing of an export that failed. */
function reportExportErrors(exporter: SpanExporter, onFault: (error: unknown) => void): SpanExporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error) onFault(result.error)
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
  }
}

/** Waits for it so long, whatever comes of it. */
async function settleWithin(ms: number, ending: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([ending.catch(() => {}), late])
  clearTimeout(timer)
}
