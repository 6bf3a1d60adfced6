import { demoApiKey, seedDemo } from '../db/demo/demo.ts'
import { tourTabs } from '../db/demo/tour.ts'
import type { Config } from './config.ts'
import { readConfig } from './config.ts'
import type { Service } from './context.ts'
import { createService } from './context.ts'
import { openDatabase } from './database/open.ts'
import { claimMode } from './installation/claim-mode.ts'
import { createLogger, endLog, standardOutput } from './logger.ts'
import { createServer } from './server.ts'

/** How long after SIGTERM connections that send or read nothing are waited for, and then the rest of the end. */
const connectionsTimeoutMs = 5_000
const endTimeoutMs = 9_000

async function main(): Promise<void> {
  const config = readConfig()
  const output = standardOutput()
  const logger = createLogger(config.logLevel, output)
  const db = await openDatabase({
    url: config.databaseUrl,
    onFatal: (error) => {
      logger.fatal({ err: error }, 'the outcome of a commit is unknown: ending the process')
      process.exit(1)
    },
    onWarning: (message) => logger.warn(message),
  })
  const service = createService({ db, mode: config.mode })
  await claimMode(service)
  const hasDemo = await prepareDemo(service)
  const app = createServer({
    service,
    logger,
    rateLimit: config.rateLimit,
    ...(hasDemo && { tabs: () => tourTabs(service) }),
  })
  const address = await app.listen({ host: config.host, port: config.port })
  process.stderr.write(greeting(config, address, hasDemo))
  logger.info({ address, mode: config.mode }, 'ready')

  let isEnding = false
  const end = async (signal: string) => {
    if (isEnding) return
    isEnding = true
    logger.info({ signal }, 'draining')
    setTimeout(() => app.server.closeAllConnections(), connectionsTimeoutMs).unref()
    // Not process.exit, which waits for whoever should read the log. Everything acknowledged is on disk already.
    setTimeout(() => process.kill(process.pid, 'SIGKILL'), endTimeoutMs).unref()
    await app.close()
    await db.close()
    logger.info('ended')
    endLog(output)
  }
  process.on('SIGTERM', end)
  process.on('SIGINT', end)
}

async function prepareDemo(service: Service): Promise<boolean> {
  return service.mode === 'sandbox' && (await seedDemo(service))
}

/** Where everything is, on standard error: standard output has log lines only. */
function greeting({ mode, databaseUrl }: Config, address: string, hasDemo: boolean): string {
  const place = databaseUrl.replace(/\/\/[^/@]*@/, '//')
  const lines = [
    `payout-gateway is ready (${mode}, ${place})`,
    `  REST     ${address}/api`,
    `  GraphQL  ${address}/graphql${mode === 'sandbox' ? ' (GraphiQL, in a browser)' : ''}`,
    `  Health   ${address}/readyz`,
  ]
  if (hasDemo) {
    lines.push(
      `  Demo     x-api-key: ${demoApiKey}`,
      '',
      'Try:',
      `  curl -s ${address}/api/customers -H 'x-api-key: ${demoApiKey}'`,
    )
  }
  return `${lines.join('\n')}\n\n`
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
