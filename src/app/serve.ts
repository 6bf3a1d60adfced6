import cluster from 'node:cluster'
import { flushCompileCache } from 'node:module'
import { isLoopback } from '../core/net/ip-networks.ts'
import type { Database } from '../database/database.ts'
import { unavailableDatabase } from '../database/database.ts'
import { demoApiKey, hasDemo as findDemo, pointDemoWebhooksTo } from '../demo/demo.ts'
import { tourTabs } from '../demo/tour.ts'
import { upcomingPriceLines } from '../modules/pricing/upcoming-prices.ts'
import type { Instrumentation } from '../observability/metrics/instrumentation.ts'
import type { Service } from '../operations/context.ts'
import { createService, performLocally } from '../operations/context.ts'
import type { SharedRateLimit } from '../server/host.ts'
import { createServer } from '../server/host.ts'
import { configuredRails, startBackgroundJobs } from './background-jobs.ts'
import type { Config } from './config.ts'
import { startConsoleProcess } from './console-process.ts'
import { loadSecrets } from './load-secrets.ts'
import { listenError } from './ports.ts'
import { startBackupSchedule } from './scheduled-backups.ts'
import type { ProcessResources } from './start.ts'
import {
  prepareDatabase,
  publicDemoKeyWarning,
  shutDown,
  startProcess,
  startupMessage,
  takeOverDatabase,
} from './start.ts'
import { gaugeSource, instrumentTracing, setUpMetrics, setUpWorkerMetrics } from './telemetry.ts'
import type { ReaderArgs } from './workers/messages.ts'
import { createSupervisorExchange, sendToSupervisor, startHeartbeat } from './workers/messages.ts'
import { connectToWriter } from './workers/remote-writer.ts'

/**
 * After SIGTERM, connections are closed after `connectionDrainTimeoutMs`. The process is killed after
 * `shutdownTimeoutMs`.
 */
const connectionDrainTimeoutMs = 5_000
const shutdownTimeoutMs = 9_000

export async function serve(config: Config): Promise<void> {
  const { instrumentation: metrics, listen: listenForMetrics } = await setUpMetrics(config)
  const { onCommitted } = metrics
  const started = await startProcess(config, { onCommitted, onWait: (logger) => serveNotReady(config, logger) })
  const measuring = await instrumentTracing(metrics, started, 'service')
  const { mode, webhookAllowed } = config
  const service = createService({
    db: measuring.wrapDatabase(started.db),
    mode,
    webhookAllowed,
    secrets: loadSecrets(config, mode),
    perform: measuring.wrapPerform(performLocally),
  })
  const hasDemo = await prepareDatabase(service)
  const closeMetrics = await listenForMetrics(started.logger)
  const address = await startServing(started, {
    service,
    measuring,
    hasDemo,
    hasBackgroundWork: true,
    onListening: () => takeOverDatabase(started),
    onDrained: closeMetrics,
  })
  process.stderr.write(startupMessage(config, address, hasDemo, await upcomingPriceLines(service)))
}

export async function serveAsReader(config: Config, { writerPath }: ReaderArgs): Promise<void> {
  const metrics = await setUpWorkerMetrics(config)
  const { onCommitted } = metrics
  const started = await startProcess(config, { role: 'reader', isReadOnly: writerPath !== null, onCommitted })
  const measuring = await instrumentTracing(metrics, started, 'reader')
  const writer = writerPath === null ? null : connectToWriter(writerPath, started.db.refresh)
  const db = writer === null ? measuring.wrapDatabase(started.db) : withWriterPing(started.db, writer.ping)
  const perform = writer?.perform ?? measuring.wrapPerform(performLocally)
  const { mode, webhookAllowed } = config
  const secrets = loadSecrets(config, mode)
  const service = createService({ db, mode, webhookAllowed, secrets, perform })
  const hasDemo =
    writer === null ? await prepareDatabase(service) : config.mode === 'sandbox' && (await findDemo(service))
  const address = await startServing(started, {
    service,
    measuring,
    hasDemo,
    // If there is a writer process, the webhook process runs the background jobs.
    hasBackgroundWork: writer === null,
    sharing: { processes: config.workers, exchange: createSupervisorExchange() },
    onDrained: () => {
      writer?.close()
      cluster.worker?.disconnect()
    },
  })
  startHeartbeat()
  sendToSupervisor({ ready: startupMessage(config, address, hasDemo, await upcomingPriceLines(service)) })
}

function withWriterPing(db: Database, ping: () => Promise<void>): Database {
  const pingBoth = async () => {
    await db.ping()
    await ping()
  }
  return { ...db, ping: pingBoth }
}

/** Until the returned function is called, the process responds that it is alive but not ready. */
async function serveNotReady(config: Config, logger: ProcessResources['logger']): Promise<() => Promise<void>> {
  const service = createService({ db: unavailableDatabase(), mode: config.mode })
  const app = createServer({ service, logger, rateLimit: null, corsOrigins: config.corsOrigins })
  await listenOrExplain(app, config)
  return async () => {
    app.server.closeAllConnections()
    await app.close()
  }
}

async function listenOrExplain(app: ReturnType<typeof createServer>, { host, port }: Config): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    throw listenError(error, { host, port })
  }
}

type ServerStartOptions = {
  readonly service: Service
  readonly measuring: Instrumentation
  readonly hasDemo: boolean
  readonly hasBackgroundWork: boolean
  readonly sharing?: SharedRateLimit
  readonly onListening?: () => void
  readonly onDrained?: () => void
}

async function startServing(
  started: ProcessResources,
  { service, measuring, hasDemo, hasBackgroundWork, sharing, onListening = () => {}, onDrained }: ServerStartOptions,
): Promise<string> {
  const { config, logger } = started
  const rails = configuredRails(config, service)
  measuring.observeDatabase(gaugeSource(service, rails, logger))
  const app = createServer({
    service,
    logger: measuring.wrapAccessLog(logger),
    rateLimit: config.rateLimit,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    documents: config.documents,
    executor: config.executor,
    rails,
    spans: measuring.requestSpans,
    ...(sharing && { sharing }),
    ...(hasDemo && { tabs: () => tourTabs(service), demoKey: demoApiKey }),
  })
  let listeningError: unknown = null
  app.server.once('listening', () => {
    try {
      onListening()
    } catch (error) {
      listeningError = error
    }
  })
  // Node.js writes the compile cache only at exit. A killed process would lose the cache.
  flushCompileCache()
  const address = await listenOrExplain(app, config)
  if (listeningError !== null) throw listeningError
  if (hasDemo) await pointDemoWebhooks(started, service, address)
  const jobs = hasBackgroundWork ? startBackgroundJobs(config, service, { logger, measuring }) : null
  // With several processes, the writer or the supervisor schedules backups, and the supervisor starts the console.
  const backups = sharing === undefined ? startBackupSchedule(config, service, logger) : null
  const consoleProcess = sharing === undefined ? startConsoleProcess(config, logger) : null
  logger.info({ address, mode: config.mode }, 'HTTP server is ready')
  if (hasDemo && !isLoopback(config.host)) logger.warn(publicDemoKeyWarning(config.host))

  let isEnding = false
  const drain = async (signal: string) => {
    if (isEnding) return
    isEnding = true
    logger.info({ signal }, 'shutdown has begun, waiting for running requests')
    setTimeout(() => app.server.closeAllConnections(), connectionDrainTimeoutMs).unref()
    const close = async () => {
      await Promise.all([app.close(), jobs?.stop(), backups?.stop(), consoleProcess?.stop()])
      await measuring.shutdown()
      onDrained?.()
    }
    await shutDown(started, { close, withinMs: shutdownTimeoutMs })
  }
  process.on('SIGTERM', drain)
  process.on('SIGINT', drain)
  return address
}

/** The demo works without webhooks, so an error of the webhook setup is only logged. */
async function pointDemoWebhooks(
  { config, logger }: ProcessResources,
  service: Service,
  address: string,
): Promise<void> {
  const url = new URL(address)
  // The service rejects webhooks to private addresses other than loopback addresses.
  if (!isLoopback(config.host)) url.hostname = '127.0.0.1'
  try {
    await pointDemoWebhooksTo(service, url.origin)
  } catch (error) {
    logger.warn({ err: error }, 'demo webhooks could not be pointed to this port')
  }
}
