import { isSingleWriter } from '../database/database.ts'
import type { Instrumentation } from '../observability/metrics/instrumentation.ts'
import { throttleByMessage } from './log-throttle.ts'
import type { ProcessRole } from './logger.ts'
import type { ProcessResources } from './start.ts'
import { installedVersion } from './version.ts'

// Nothing of OpenTelemetry is loaded where OTEL_EXPORTER_OTLP_ENDPOINT is not set, which it is not in most processes.

/** How a process in its `role` is measured, and traced where that is wanted. */
export async function instrumentTracing(
  measuring: Instrumentation,
  { config: { databaseUrl, tracing }, logger }: Pick<ProcessResources, 'config' | 'logger'>,
  role: ProcessRole,
): Promise<Instrumentation> {
  if (tracing === null) return measuring
  const version = installedVersion()
  const { traceProcess } = await import('../observability/tracing/trace-process.ts')
  return traceProcess(measuring, {
    ...tracing,
    version,
    role,
    engine: isSingleWriter(databaseUrl) ? 'sqlite' : 'postgresql',
    onError: throttleByMessage((error) => logger.warn({ err: error }, 'spans can not be exported just now')),
  })
}
