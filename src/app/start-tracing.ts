import { hasOneWriter } from '../database/database.ts'
import type { Measuring } from '../observability/metrics/measure.ts'
import { seldom } from './log-throttle.ts'
import type { Role } from './logger.ts'
import type { Started } from './start.ts'
import { versionInstalled } from './version.ts'

// Nothing of OpenTelemetry is loaded where OTEL_EXPORTER_OTLP_ENDPOINT is not set, which it is not in most processes.

/** How a process in its `role` is measured, and traced where that is wanted. */
export async function withTracing(
  measuring: Measuring,
  { config: { databaseUrl, tracing }, logger }: Pick<Started, 'config' | 'logger'>,
  role: Role,
): Promise<Measuring> {
  if (tracing === null) return measuring
  const version = versionInstalled()
  const { traceProcess } = await import('../observability/tracing/trace-process.ts')
  return traceProcess(measuring, {
    ...tracing,
    version,
    role,
    engine: hasOneWriter(databaseUrl) ? 'sqlite' : 'postgresql',
    onFault: seldom((error) => logger.warn({ err: error }, 'spans can not be exported just now')),
  })
}
