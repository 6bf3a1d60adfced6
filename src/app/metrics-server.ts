import type { ChildProcess } from 'node:child_process'
import type { Rail } from '../modules/rails/adapters/rail.ts'
import type { DatabaseMetricsSource, Instrumentation } from '../observability/metrics/instrumentation.ts'
import { noInstrumentation } from '../observability/metrics/instrumentation.ts'
import type { ProcessMetrics } from '../observability/metrics/process-metrics.ts'
import type { Service } from '../operations/context.ts'
import type { WriteMetrics } from '../server/http/metrics-endpoint.ts'
import type { Config } from './config.ts'
import { listenError } from './listen-error.ts'
import { throttleByMessage } from './log-throttle.ts'
import type { ProcessResources } from './start.ts'
import { installedVersion } from './version.ts'
import type { MessageFromSupervisor } from './workers/messages.ts'
import { sendToSupervisor } from './workers/messages.ts'

// Nothing of this is loaded where METRICS_PORT is off, which it is in most processes.

type MetricsServerLogger = ProcessResources['logger']

/** How the only process is measured; `listen` answers metrics where they are wanted, and gives what ends it. */
export async function setUpMetrics({ metrics }: Config): Promise<{
  readonly measuring: Instrumentation
  readonly listen: (logger: MetricsServerLogger) => Promise<() => void>
}> {
  if (metrics === null) return { measuring: noInstrumentation, listen: async () => () => {} }
  const { instrumentation: measuring, snapshot } = await loadProcessMetrics()
  const { renderMetrics: expose } = await import('../observability/metrics/render.ts')
  const exposeOwn = async () => expose([await snapshot({ isWanted: true })], { answered: 1, silent: 0 })
  return { measuring, listen: (logger) => serveMetrics(metrics, exposeOwn, logger) }
}

/** How a process beside others is measured: the supervisor asks it. */
export async function setUpWorkerMetrics({ metrics }: Config): Promise<Instrumentation> {
  if (metrics === null) return noInstrumentation
  const { instrumentation: measuring, snapshot } = await loadProcessMetrics()
  process.on('message', async (message: MessageFromSupervisor) => {
    if ('measure' in message) sendToSupervisor({ id: message.id, measured: await snapshot(message.measure) })
  })
  return measuring
}

/** What is looked into of a process when somebody asks. */
export function gaugeSource(
  service: Service,
  rails: readonly Rail[],
  logger: MetricsServerLogger,
): DatabaseMetricsSource {
  return {
    service,
    rails: rails.map(({ name }) => name),
    onError: throttleByMessage((error) => logger.warn({ err: error }, 'the database can not be measured')),
  }
}

/** What the supervisor does: it asks each process that was added and is alive. */
export type SupervisorMetrics = {
  readonly add: (child: ChildProcess, can: { readonly canRead: boolean }) => void
  readonly close: () => void
}

/** Answers the metrics of all processes of this machine. */
export async function serveSupervisorMetrics(
  place: NonNullable<Config['metrics']>,
  logger: MetricsServerLogger,
): Promise<SupervisorMetrics> {
  const { createMetricsCollector: measureAll } = await import('./workers/collect-metrics.ts')
  const { add, expose } = measureAll()
  return { add, close: await serveMetrics(place, expose, logger) }
}

async function loadProcessMetrics(): Promise<ProcessMetrics> {
  const version = installedVersion()
  return (await import('../observability/metrics/process-metrics.ts')).measureProcess({ version })
}

/** Answers them there; what ends it. */
async function serveMetrics(
  place: NonNullable<Config['metrics']>,
  expose: () => Promise<WriteMetrics>,
  logger: MetricsServerLogger,
): Promise<() => void> {
  const { createMetricsServer } = await import('../server/http/metrics-endpoint.ts')
  const server = createMetricsServer(expose, (error) => logger.error({ err: error }, 'metrics can not be answered'))
  try {
    await server.listen(place)
  } catch (error) {
    throw listenError(error, place, 'METRICS_')
  }
  logger.info(place, 'metrics are answered')
  return server.close
}
