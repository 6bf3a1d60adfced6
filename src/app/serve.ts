import cluster from 'node:cluster'
import { flushCompileCache } from 'node:module'
import { isLoopback } from '../core/net/is-loopback.ts'
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
import type { Config } from './config.ts'
import { listenError } from './listen-error.ts'
import { loadSecrets } from './load-secrets.ts'
import { gaugeSource, setUpMetrics, setUpWorkerMetrics } from './metrics-server.ts'
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
import { startHistorySealer } from './start-history-sealer.ts'
import { configuredRails, startPayoutRails } from './start-payout-rails.ts'
import { instrumentTracing } from './start-tracing.ts'
import { startWebhookDispatcher } from './start-webhook-dispatcher.ts'
import type { ReaderArgs } from './workers/messages.ts'
import { createSupervisorExchange, sendToSupervisor, startHeartbeat } from './workers/messages.ts'
import { connectToWriter } from './workers/remote-writer.ts'

/** How long after SIGTERM connections that send or read nothing are waited for, and then the rest of the end. */
const connectionDrainTimeoutMs = 5_000
const shutdownTimeoutMs = 9_000

/** Answers requests as the only process. */
export async function serve(config: Config): Promise<void> {
  const { measuring: measured, listen: listenForMetrics } = await setUpMetrics(config)
  const { onCommitted } = measured
  const started = await startProcess(config, { onCommitted, onWait: (logger) => serveNotReady(config, logger) })
  const measuring = await instrumentTracing(measured, started, 'service')
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
  // Standard output has log lines only.
  process.stderr.write(startupMessage(config, address, hasDemo, await upcomingPriceLines(service)))
}

/** Answers requests beside other processes; where one of them does the writing, it gets what is to be written. */
export async function serveAsReader(config: Config, { writerPath }: ReaderArgs): Promise<void> {
  const measured = await setUpWorkerMetrics(config)
  const { onCommitted } = measured
  const started = await startProcess(config, { role: 'reader', isReadOnly: writerPath !== null, onCommitted })
  const measuring = await instrumentTracing(measured, started, 'reader')
  const line = writerPath === null ? null : connectToWriter(writerPath, started.db.refresh)
  // What another process writes is measured there.
  const db = line === null ? measuring.wrapDatabase(started.db) : withWriterPing(started.db, line.ping)
  const perform = line?.perform ?? measuring.wrapPerform(performLocally)
  const { mode, webhookAllowed } = config
  const secrets = loadSecrets(config, mode)
  const service = createService({ db, mode, webhookAllowed, secrets, perform })
  const hasDemo =
    line === null ? await prepareDatabase(service) : config.mode === 'sandbox' && (await findDemo(service))
  const address = await startServing(started, {
    service,
    measuring,
    hasDemo,
    // Else a process of its own does.
    hasBackgroundWork: line === null,
    sharing: { processes: config.workers, exchange: createSupervisorExchange() },
    onDrained: () => {
      line?.close()
      cluster.worker?.disconnect()
    },
  })
  startHeartbeat()
  sendToSupervisor({ ready: startupMessage(config, address, hasDemo, await upcomingPriceLines(service)) })
}

/** A database that is not ready either while whoever writes it does not answer. */
function withWriterPing(db: Database, ping: () => Promise<void>): Database {
  const pingBoth = async () => {
    await db.ping()
    await ping()
  }
  return { ...db, ping: pingBoth }
}

/** Answers that the service is alive and not ready, until it is told to stop. */
async function serveNotReady(config: Config, logger: ProcessResources['logger']): Promise<() => Promise<void>> {
  const service = createService({ db: unavailableDatabase(), mode: config.mode })
  const app = createServer({ service, logger, rateLimit: null, corsOrigins: config.corsOrigins })
  await listenOrExplain(app, config)
  return async () => {
    app.server.closeAllConnections()
    await app.close()
  }
}

/** @throws an error that names the variable which says otherwise, where the address can't be listened on */
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
  /** Called when the port is this process's own, before anything is answered. */
  readonly onListening?: () => void
  /** Called when nothing more can be asked. */
  readonly onDrained?: () => void
}

/** Answers requests until SIGTERM; where. */
async function startServing(
  started: ProcessResources,
  {
    service,
    measuring,
    hasDemo,
    hasBackgroundWork: sendsWebhooks,
    sharing,
    onListening = () => {},
    onDrained: onClosed,
  }: ServerStartOptions,
): Promise<string> {
  const { config, logger } = started
  const configured = configuredRails(config, service)
  measuring.observeDatabase(gaugeSource(service, configured, logger))
  const app = createServer({
    service,
    logger: measuring.wrapAccessLog(logger),
    rateLimit: config.rateLimit,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    documents: config.documents,
    rails: configured,
    spans: measuring.requestSpans,
    ...(sharing && { sharing }),
    ...(hasDemo && { tabs: () => tourTabs(service), demoKey: demoApiKey }),
  })
  let fault: unknown = null
  app.server.once('listening', () => {
    try {
      onListening()
    } catch (error) {
      fault = error
    }
  })
  // One that is killed has kept what was made of its files, too; only the first start of a version has any of it to write.
  flushCompileCache()
  const address = await listenOrExplain(app, config)
  if (fault !== null) throw fault
  if (hasDemo) await pointDemoWebhooks(started, service, address)
  const dispatcher = sendsWebhooks ? startWebhookDispatcher(config, service, { logger, measuring }) : null
  const rails = sendsWebhooks ? startPayoutRails(config, service, { logger, measuring }) : null
  const sealing = sendsWebhooks ? startHistorySealer(service, logger) : null
  // Where there are several processes, it is the writer or the supervisor that has backups made.
  const backups = sharing === undefined ? startBackupSchedule(config, service, logger) : null
  logger.info({ address, mode: config.mode }, 'ready')
  if (hasDemo && !isLoopback(config.host)) logger.warn(publicDemoKeyWarning(config.host))

  let isEnding = false
  const drain = async (signal: string) => {
    if (isEnding) return
    isEnding = true
    logger.info({ signal }, 'draining')
    setTimeout(() => app.server.closeAllConnections(), connectionDrainTimeoutMs).unref()
    const close = async () => {
      await Promise.all([app.close(), dispatcher?.stop(), rails?.stop(), sealing?.stop(), backups?.stop()])
      await measuring.shutdown()
      onClosed?.()
    }
    await shutDown(started, { close, withinMs: shutdownTimeoutMs })
  }
  process.on('SIGTERM', drain)
  process.on('SIGINT', drain)
  return address
}

/** The demo without its webhooks is better than none: on a full disk nothing can be changed. */
async function pointDemoWebhooks(
  { config, logger }: ProcessResources,
  service: Service,
  address: string,
): Promise<void> {
  const here = new URL(address)
  // Webhooks reach nothing inside but this machine itself.
  if (!isLoopback(config.host)) here.hostname = '127.0.0.1'
  try {
    await pointDemoWebhooksTo(service, here.origin)
  } catch (error) {
    logger.warn({ err: error }, 'the webhooks of the demo are not sent to this port')
  }
}
