import cluster from 'node:cluster'
import { flushCompileCache } from 'node:module'
import { isLoopback } from '../core/net/is-loopback.ts'
import type { Database } from '../database/database.ts'
import { absentDatabase } from '../database/database.ts'
import { demoApiKey, hasDemo as findDemo, pointDemoTo } from '../demo/demo.ts'
import { tourTabs } from '../demo/tour.ts'
import { comingPrices } from '../modules/pricing/fees/coming-prices.ts'
import type { Measuring } from '../observability/metrics/measure.ts'
import type { Service } from '../operations/context.ts'
import { createService, performHere } from '../operations/context.ts'
import type { Sharing } from '../server/host.ts'
import { createServer } from '../server/host.ts'
import type { Config } from './config.ts'
import { startDispatching } from './dispatching.ts'
import { cannotListen } from './listen-error.ts'
import { secretsOf } from './load-secrets.ts'
import { chooseMeasuring, lookedInto, measuringForSupervisor } from './metrics-server.ts'
import { railsOf, startPaying } from './paying.ts'
import { startBackups } from './scheduled-backups.ts'
import { startSealing } from './sealing.ts'
import type { Started } from './start.ts'
import { end, greeting, prepare, publicKeyWarning, start, takeOver } from './start.ts'
import { withTracing } from './start-tracing.ts'
import type { ReaderDetails } from './workers/messages.ts'
import { beatForSupervisor, exchangeWithSupervisor, tellSupervisor } from './workers/messages.ts'
import { lineToWriter } from './workers/remote-writer.ts'

/** How long after SIGTERM connections that send or read nothing are waited for, and then the rest of the end. */
const connectionsTimeoutMs = 5_000
const endTimeoutMs = 9_000

/** Answers requests as the only process. */
export async function serve(config: Config): Promise<void> {
  const { measuring: measured, listen: listenForMetrics } = await chooseMeasuring(config)
  const { onCommitted } = measured
  const started = await start(config, { onCommitted, onWait: (logger) => refuseAll(config, logger) })
  const measuring = await withTracing(measured, started, 'service')
  const { mode, webhookAllowed } = config
  const service = createService({
    db: measuring.database(started.db),
    mode,
    webhookAllowed,
    secrets: secretsOf(config, mode),
    perform: measuring.perform(performHere),
  })
  const hasDemo = await prepare(service)
  const closeMetrics = await listenForMetrics(started.logger)
  const address = await listen(started, {
    service,
    measuring,
    hasDemo,
    sendsWebhooks: true,
    onListening: () => takeOver(started),
    onClosed: closeMetrics,
  })
  // Standard output has log lines only.
  process.stderr.write(greeting(config, address, hasDemo, await comingPrices(service)))
}

/** Answers requests beside other processes; where one of them does the writing, it gets what is to be written. */
export async function serveAsWorker(config: Config, { writerPath }: ReaderDetails): Promise<void> {
  const measured = await measuringForSupervisor(config)
  const { onCommitted } = measured
  const started = await start(config, { role: 'reader', isReadOnly: writerPath !== null, onCommitted })
  const measuring = await withTracing(measured, started, 'reader')
  const line = writerPath === null ? null : lineToWriter(writerPath, started.db.refresh)
  // What another process writes is measured there.
  const db = line === null ? measuring.database(started.db) : withPing(started.db, line.ping)
  const perform = line?.perform ?? measuring.perform(performHere)
  const { mode, webhookAllowed } = config
  const secrets = secretsOf(config, mode)
  const service = createService({ db, mode, webhookAllowed, secrets, perform })
  const hasDemo = line === null ? await prepare(service) : config.mode === 'sandbox' && (await findDemo(service))
  const address = await listen(started, {
    service,
    measuring,
    hasDemo,
    // Else a process of its own does.
    sendsWebhooks: line === null,
    sharing: { processes: config.workers, exchange: exchangeWithSupervisor() },
    onClosed: () => {
      line?.close()
      cluster.worker?.disconnect()
    },
  })
  beatForSupervisor()
  tellSupervisor({ ready: greeting(config, address, hasDemo, await comingPrices(service)) })
}

/** A database that is not ready either while whoever writes it does not answer. */
function withPing(db: Database, ping: () => Promise<void>): Database {
  const pingBoth = async () => {
    await db.ping()
    await ping()
  }
  return { ...db, ping: pingBoth }
}

/** Answers that the service is alive and not ready, until it is told to stop. */
async function refuseAll(config: Config, logger: Started['logger']): Promise<() => Promise<void>> {
  const service = createService({ db: absentDatabase(), mode: config.mode })
  const app = createServer({ service, logger, rateLimit: null, corsOrigins: config.corsOrigins })
  await listenAt(app, config)
  return async () => {
    app.server.closeAllConnections()
    await app.close()
  }
}

/** @throws an error that names the variable which says otherwise, where the address can't be listened on */
async function listenAt(app: ReturnType<typeof createServer>, { host, port }: Config): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    throw cannotListen(error, { host, port })
  }
}

type Listening = {
  readonly service: Service
  readonly measuring: Measuring
  readonly hasDemo: boolean
  readonly sendsWebhooks: boolean
  readonly sharing?: Sharing
  /** Called when the port is this process's own, before anything is answered. */
  readonly onListening?: () => void
  /** Called when nothing more can be asked. */
  readonly onClosed?: () => void
}

/** Answers requests until SIGTERM; where. */
async function listen(
  started: Started,
  { service, measuring, hasDemo, sendsWebhooks, sharing, onListening = () => {}, onClosed }: Listening,
): Promise<string> {
  const { config, logger } = started
  const configured = railsOf(config, service)
  measuring.lookInto(lookedInto(service, configured, logger))
  const app = createServer({
    service,
    logger: measuring.answers(logger),
    rateLimit: config.rateLimit,
    corsOrigins: config.corsOrigins,
    trustedProxies: config.trustedProxies,
    documents: config.documents,
    rails: configured,
    spans: measuring.requests,
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
  const address = await listenAt(app, config)
  if (fault !== null) throw fault
  if (hasDemo) await showWebhooks(started, service, address)
  const dispatcher = sendsWebhooks ? startDispatching(config, service, { logger, measuring }) : null
  const rails = sendsWebhooks ? startPaying(config, service, { logger, measuring }) : null
  const sealing = sendsWebhooks ? startSealing(service, logger) : null
  // Where there are several processes, it is the writer or the supervisor that has backups made.
  const backups = sharing === undefined ? startBackups(config, service, logger) : null
  logger.info({ address, mode: config.mode }, 'ready')
  if (hasDemo && !isLoopback(config.host)) logger.warn(publicKeyWarning(config.host))

  let isEnding = false
  const drain = async (signal: string) => {
    if (isEnding) return
    isEnding = true
    logger.info({ signal }, 'draining')
    setTimeout(() => app.server.closeAllConnections(), connectionsTimeoutMs).unref()
    const close = async () => {
      await Promise.all([app.close(), dispatcher?.stop(), rails?.stop(), sealing?.stop(), backups?.stop()])
      await measuring.end()
      onClosed?.()
    }
    await end(started, { close, withinMs: endTimeoutMs })
  }
  process.on('SIGTERM', drain)
  process.on('SIGINT', drain)
  return address
}

/** The demo without its webhooks is better than none: on a full disk nothing can be changed. */
async function showWebhooks({ config, logger }: Started, service: Service, address: string): Promise<void> {
  const here = new URL(address)
  // Webhooks reach nothing inside but this machine itself.
  if (!isLoopback(config.host)) here.hostname = '127.0.0.1'
  try {
    await pointDemoTo(service, here.origin)
  } catch (error) {
    logger.warn({ err: error }, 'the webhooks of the demo are not sent to this port')
  }
}
