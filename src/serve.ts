import cluster from 'node:cluster'
import { demoApiKey, hasDemo as findDemo } from '../db/demo/demo.ts'
import { tourTabs } from '../db/demo/tour.ts'
import type { Config } from './config.ts'
import type { Service } from './context.ts'
import { createService } from './context.ts'
import { absentDatabase } from './database/database.ts'
import type { Sharing } from './server.ts'
import { createServer } from './server.ts'
import type { Started } from './start.ts'
import { end, greeting, prepare, start } from './start.ts'
import { lineToWriter } from './workers/hand-over.ts'
import type { ReaderDetails } from './workers/messages.ts'
import { exchangeWithSupervisor, tellSupervisor } from './workers/messages.ts'

/** How long after SIGTERM connections that send or read nothing are waited for, and then the rest of the end. */
const connectionsTimeoutMs = 5_000
const endTimeoutMs = 9_000

/** Answers requests as the only process. */
export async function serve(config: Config): Promise<void> {
  const started = await start(config, { onWait: (logger) => refuseAll(config, logger) })
  const service = createService({ db: started.db, mode: config.mode })
  const hasDemo = await prepare(service)
  const address = await listen(started, { service, hasDemo })
  // Standard output has log lines only.
  process.stderr.write(greeting(config, address, hasDemo))
}

/** Answers requests beside other processes; where one of them does the writing, it gets what is to be written. */
export async function serveAsWorker(config: Config, { writerPath }: ReaderDetails): Promise<void> {
  const started = await start(config, { role: 'reader', isReadOnly: writerPath !== null })
  const line = writerPath === null ? null : lineToWriter(writerPath, started.db.refresh)
  const service = createService({ db: started.db, mode: config.mode, handOver: line?.handOver ?? null })
  const hasDemo = line === null ? await prepare(service) : config.mode === 'sandbox' && (await findDemo(service))
  const address = await listen(started, {
    service,
    hasDemo,
    sharing: { processes: config.workers, exchange: exchangeWithSupervisor() },
    onClosed: () => {
      line?.close()
      cluster.worker?.disconnect()
    },
  })
  tellSupervisor({ ready: greeting(config, address, hasDemo) })
}

/** Answers that the service is alive and not ready, until it is told to stop. */
async function refuseAll(config: Config, logger: Started['logger']): Promise<() => Promise<void>> {
  const service = createService({ db: absentDatabase(), mode: config.mode })
  const app = createServer({ service, logger, rateLimit: null })
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
    const { code = '' } = error as NodeJS.ErrnoException
    const hint = hints[code]
    if (hint === undefined) throw error
    throw new Error(`Cannot listen on ${host}, port ${port} (${code}): ${hint}`, { cause: error })
  }
}

const hints: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program does. Set PORT to another one; 0 takes a free one.',
  EACCES: 'this user may not. Set PORT to 1024 or above.',
  EADDRNOTAVAIL: 'this machine has no such address. Set HOST to one that it has.',
  ENOTFOUND: 'there is no such host. Set HOST to an address of this machine.',
}

type Listening = {
  readonly service: Service
  readonly hasDemo: boolean
  readonly sharing?: Sharing
  /** Called when nothing more can be asked. */
  readonly onClosed?: () => void
}

/** Answers requests until SIGTERM; where. */
async function listen(started: Started, { service, hasDemo, sharing, onClosed }: Listening): Promise<string> {
  const { config, logger } = started
  const app = createServer({
    service,
    logger,
    rateLimit: config.rateLimit,
    ...(sharing && { sharing }),
    ...(hasDemo && { tabs: () => tourTabs(service), demoKey: demoApiKey }),
  })
  const address = await listenAt(app, config)
  logger.info({ address, mode: config.mode }, 'ready')

  let isEnding = false
  const drain = async (signal: string) => {
    if (isEnding) return
    isEnding = true
    logger.info({ signal }, 'draining')
    setTimeout(() => app.server.closeAllConnections(), connectionsTimeoutMs).unref()
    const close = async () => {
      await app.close()
      onClosed?.()
    }
    await end(started, { close, withinMs: endTimeoutMs })
  }
  process.on('SIGTERM', drain)
  process.on('SIGINT', drain)
  return address
}
