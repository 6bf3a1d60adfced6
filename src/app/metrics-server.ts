import type { ChildProcess } from 'node:child_process'
import type { Rail } from '../modules/rails/adapters/rail.ts'
import type { LookedInto, Measuring } from '../observability/metrics/measure.ts'
import { unmeasured } from '../observability/metrics/measure.ts'
import type { MeasuredProcess } from '../observability/metrics/process-metrics.ts'
import type { Service } from '../operations/context.ts'
import type { Expose } from '../server/http/metrics-endpoint.ts'
import type { Config } from './config.ts'
import { cannotListen } from './listen-error.ts'
import { seldom } from './log-throttle.ts'
import type { Started } from './start.ts'
import { versionInstalled } from './version.ts'
import type { FromSupervisor } from './workers/messages.ts'
import { tellSupervisor } from './workers/messages.ts'

// Nothing of this is loaded where METRICS_PORT is off, which it is in most processes.

type Logger = Started['logger']

/** How the only process is measured; `listen` answers metrics where they are wanted, and gives what ends it. */
export async function chooseMeasuring({ metrics }: Config): Promise<{
  readonly measuring: Measuring
  readonly listen: (logger: Logger) => Promise<() => void>
}> {
  if (metrics === null) return { measuring: unmeasured, listen: async () => () => {} }
  const { measuring, snapshot } = await measured()
  const { expose } = await import('../observability/metrics/render.ts')
  const exposeOwn = async () => expose([await snapshot({ isWanted: true })], { answered: 1, silent: 0 })
  return { measuring, listen: (logger) => listenAt(metrics, exposeOwn, logger) }
}

/** How a process beside others is measured: the supervisor asks it. */
export async function measuringForSupervisor({ metrics }: Config): Promise<Measuring> {
  if (metrics === null) return unmeasured
  const { measuring, snapshot } = await measured()
  process.on('message', async (message: FromSupervisor) => {
    if ('measure' in message) tellSupervisor({ id: message.id, measured: await snapshot(message.measure) })
  })
  return measuring
}

/** What is looked into of a process when somebody asks. */
export function lookedInto(service: Service, rails: readonly Rail[], logger: Logger): LookedInto {
  return {
    service,
    rails: rails.map(({ name }) => name),
    onFault: seldom((error) => logger.warn({ err: error }, 'the database can not be measured')),
  }
}

/** What the supervisor does: it asks each process that was added and is alive. */
export type Metering = {
  readonly add: (child: ChildProcess, can: { readonly canRead: boolean }) => void
  readonly close: () => void
}

/** Answers the metrics of all processes of this machine. */
export async function listenForAll(place: NonNullable<Config['metrics']>, logger: Logger): Promise<Metering> {
  const { measureAll } = await import('./workers/collect-metrics.ts')
  const { add, expose } = measureAll()
  return { add, close: await listenAt(place, expose, logger) }
}

async function measured(): Promise<MeasuredProcess> {
  const version = versionInstalled()
  return (await import('../observability/metrics/process-metrics.ts')).measureProcess({ version })
}

/** Answers them there; what ends it. */
async function listenAt(
  place: NonNullable<Config['metrics']>,
  expose: () => Promise<Expose>,
  logger: Logger,
): Promise<() => void> {
  const { createMetricsServer } = await import('../server/http/metrics-endpoint.ts')
  const server = createMetricsServer(expose, (error) => logger.error({ err: error }, 'metrics can not be answered'))
  try {
    await server.listen(place)
  } catch (error) {
    throw cannotListen(error, place, 'METRICS_')
  }
  logger.info(place, 'metrics are answered')
  return server.close
}
