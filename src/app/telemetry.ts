import type { ChildProcess } from 'node:child_process'
import { version } from '../core/package.ts'
import { isSingleWriter } from '../database/database.ts'
import type { Rail } from '../modules/rails/adapters/rail.ts'
import type { DatabaseMetricsSource, Instrumentation } from '../observability/metrics/instrumentation.ts'
import { noInstrumentation } from '../observability/metrics/instrumentation.ts'
import type { ProcessMetrics } from '../observability/metrics/process-metrics.ts'
import type { Service } from '../operations/context.ts'
import type { WriteMetrics } from '../server/http/metrics-endpoint.ts'
import type { Config } from './config.ts'
import type { ProcessRole } from './logger.ts'
import { throttleByMessage } from './logger.ts'
import { listenError } from './ports.ts'
import type { ProcessResources } from './start.ts'
import type { MessageFromSupervisor } from './workers/messages.ts'
import { sendToSupervisor } from './workers/messages.ts'

// The imports are dynamic, so that processes without metrics and tracing do not load prom-client or OpenTelemetry.

type MetricsServerLogger = ProcessResources['logger']

export async function setUpMetrics({ metrics }: Config): Promise<{
  readonly instrumentation: Instrumentation
  readonly listen: (logger: MetricsServerLogger) => Promise<() => void>
}> {
  if (metrics === null) return { instrumentation: noInstrumentation, listen: async () => () => {} }
  const { instrumentation, snapshot } = await loadProcessMetrics()
  const { renderMetrics } = await import('../observability/metrics/snapshot.ts')
  const expose = async () => renderMetrics([await snapshot({ isWanted: true })], { answered: 1, silent: 0 })
  return { instrumentation, listen: (logger) => serveMetrics(metrics, expose, logger) }
}

export async function setUpWorkerMetrics({ metrics }: Config): Promise<Instrumentation> {
  if (metrics === null) return noInstrumentation
  const { instrumentation, snapshot } = await loadProcessMetrics()
  process.on('message', async (message: MessageFromSupervisor) => {
    if ('measure' in message) sendToSupervisor({ id: message.id, measured: await snapshot(message.measure) })
  })
  return instrumentation
}

export function gaugeSource(
  service: Service,
  rails: readonly Rail[],
  logger: MetricsServerLogger,
): DatabaseMetricsSource {
  return {
    service,
    rails: rails.map(({ name }) => name),
    onError: throttleByMessage((error) => logger.warn({ err: error }, 'metrics could not be read from the database')),
  }
}

export type SupervisorMetrics = {
  readonly add: (child: ChildProcess, can: { readonly canRead: boolean }) => void
  readonly close: () => void
}

export async function serveSupervisorMetrics(
  address: NonNullable<Config['metrics']>,
  logger: MetricsServerLogger,
): Promise<SupervisorMetrics> {
  const { createMetricsCollector } = await import('./workers/collect-metrics.ts')
  const { add, expose } = createMetricsCollector()
  return { add, close: await serveMetrics(address, expose, logger) }
}

async function loadProcessMetrics(): Promise<ProcessMetrics> {
  return (await import('../observability/metrics/process-metrics.ts')).measureProcess({ version })
}

async function serveMetrics(
  address: NonNullable<Config['metrics']>,
  expose: () => Promise<WriteMetrics>,
  logger: MetricsServerLogger,
): Promise<() => void> {
  const { createMetricsServer } = await import('../server/http/metrics-endpoint.ts')
  const server = createMetricsServer(expose, (error) => logger.error({ err: error }, 'metrics request failed'))
  try {
    await server.listen(address)
  } catch (error) {
    throw listenError(error, address, 'METRICS_')
  }
  logger.info(address, 'metrics server is listening')
  return server.close
}

export async function instrumentTracing(
  measuring: Instrumentation,
  { config: { databaseUrl, tracing }, logger }: Pick<ProcessResources, 'config' | 'logger'>,
  role: ProcessRole,
): Promise<Instrumentation> {
  if (tracing === null) return measuring
  const { traceProcess } = await import('../observability/tracing/trace-process.ts')
  return traceProcess(measuring, {
    ...tracing,
    version,
    role,
    engine: isSingleWriter(databaseUrl) ? 'sqlite' : 'postgresql',
    onError: throttleByMessage((error) => logger.warn({ err: error }, 'span export failed, spans were dropped')),
  })
}
