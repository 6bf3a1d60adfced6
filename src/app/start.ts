import { setTimeout as delay } from 'node:timers/promises'
import { isLoopback } from '../core/net/ip-networks.ts'
import type { Database, DatabaseOptions } from '../database/database.ts'
import { TemporarilyUnavailableError, takenOverExitCode } from '../database/database.ts'
import type { PendingMigrations } from '../database/migration.ts'
import { demoApiKey, hasDemo, seedDemo } from '../demo/demo.ts'
import { claimMode } from '../modules/installation/installation.ts'
import type { Service } from '../operations/context.ts'
import type { Config } from './config.ts'
import type { LogOutput, ProcessRole } from './logger.ts'
import { createLogger, standardOutput } from './logger.ts'
import { openDatabase } from './open-database.ts'

type ProcessLogger = ReturnType<typeof createLogger>

/** What every process of the service begins with. */
export type ProcessResources = {
  readonly config: Config
  readonly db: Database
  readonly logger: ProcessLogger
  readonly output: LogOutput
}

/** What becomes of a start that has to wait: `onWait` is called once, and what it answers is called when the wait is over. */
type ProcessStartOptions = {
  readonly role?: ProcessRole
  readonly isReadOnly?: boolean
  readonly onCommitted?: DatabaseOptions['onCommitted']
  readonly onWait?: (logger: ProcessLogger) => Promise<() => Promise<unknown>>
}

/** How often a database is tried that can't be opened yet. */
const openRetryMs = 1_000

/**
 * Opens the log and the database, and waits for as long as that can't be opened because its disk is full: ending would
 * have the process started again and again.
 */
export async function startProcess(
  config: Config,
  { role = 'service', isReadOnly = false, onCommitted, onWait = async () => async () => {} }: ProcessStartOptions = {},
): Promise<ProcessResources> {
  const output = standardOutput(role)
  const logger = createLogger(config.logLevel, output, role)
  const openConfiguredDatabase = () =>
    openDatabase({
      url: config.databaseUrl,
      // A mistyped URL must not be taken for a new service: with real money only `migrate` makes one.
      mustExist: config.mode === 'live',
      mustBeDurable: config.mode === 'live',
      isReadOnly,
      onFatal: (error) => {
        logger.fatal({ err: error }, 'commit outcome is unknown, ending the process')
        process.exit(1)
      },
      onStopped: (error) => logger.fatal({ err: error }, 'database files were changed, rejecting all requests'),
      beforeMigrating: (coming) => logger.warn(migrationNotice(coming)),
      onWarning: (message) => logger.warn(message),
      onCommitted,
    })
  let stopWaiting: (() => Promise<unknown>) | null = null
  for (;;) {
    try {
      const db = await openConfiguredDatabase()
      await stopWaiting?.()
      return { config, db, logger, output }
    } catch (error) {
      if (!(error instanceof TemporarilyUnavailableError)) throw error
      if (stopWaiting === null) process.stderr.write(`${error.message}: waiting\n`)
      logger.error({ err: error }, 'database is not available, will retry')
      stopWaiting ??= await onWait(logger)
      await delay(openRetryMs)
    }
  }
}

/**
 * Makes the database one of this mode, and in the sandbox gives an empty one the demo.
 *
 * @returns whether the demo is there
 * @throws when the database is of the other mode
 */
export async function prepareDatabase(service: Service): Promise<boolean> {
  await claimMode(service)
  return service.mode === 'sandbox' && ((await hasDemo(service)) || (await seedDemo(service)))
}

/** How long answers may take that are ready when such a process ends. */
const rejectionGraceMs = 200

/** Makes this process the one that writes its database, until another service does the same: then it ends. */
export function takeOverDatabase(started: ProcessResources): void {
  const { db, logger } = started
  try {
    db.takeOver(() => {
      logger.fatal('database was taken over by another service, ending the process')
      // Whoever waits is refused first.
      setTimeout(() => process.exit(takenOverExitCode), rejectionGraceMs)
    })
  } catch (error) {
    if (!(error instanceof TemporarilyUnavailableError)) throw error
    // On a full disk nothing can be stored, this neither: it reads, and takes over when there is room again.
    logger.error({ err: error }, 'database takeover failed, will retry')
    setTimeout(takeOverDatabase, openRetryMs, started).unref()
  }
}

/** Where everything is, and which prices are to come, for whoever started the service. */
export function startupMessage(
  { mode, databaseUrl, host, metrics }: Config,
  address: string,
  hasDemo: boolean,
  coming: readonly string[] = [],
): string {
  const place = databaseUrl.replace(/\/\/[^/@]*@/, '//')
  const lines = [
    `payout-gateway is ready (${mode}, ${place})`,
    `  Start    ${address} (in a browser: what is where)`,
    `  REST     ${address}/api`,
    `  Docs     ${address}/docs (REST, in a browser; OpenAPI at /openapi.json)`,
    `  GraphQL  ${address}/graphql${mode === 'sandbox' ? ' (GraphiQL, in a browser)' : ''}`,
    `  Health   ${address}/readyz`,
  ]
  if (metrics) lines.push(`  Metrics  http://${metrics.host}:${metrics.port}/metrics`)
  if (coming.length > 0) {
    lines.push('', 'Warning: these take over later, unless cancelled (rate cancel, fee cancel):')
    lines.push(...coming.map((line) => `  ${line}`), '')
  }
  if (hasDemo) {
    lines.push(
      `  Demo     x-api-key: ${demoApiKey}`,
      '',
      'Try:',
      `  curl -s ${address}/api/customers -H 'x-api-key: ${demoApiKey}'`,
    )
    if (!isLoopback(host)) lines.push('', `WARNING: ${publicDemoKeyWarning(host)}`)
  }
  return `${lines.join('\n')}\n\n`
}

/** What is said where others than this machine can use the demo. */
export function publicDemoKeyWarning(host: string): string {
  return `HOST=${host} lets other machines in, and everyone knows the demo key. Set HOST=127.0.0.1, or MODE=live with another database.`
}

/** Lets go of everything, `close` first, and so ends the process: after `withinMs` milliseconds whatever happens. */
export async function shutDown(
  { db, logger, output }: ProcessResources,
  { close, withinMs }: { close: () => Promise<unknown>; withinMs: number },
): Promise<void> {
  // Not process.exit, which waits for whoever should read the log. Everything acknowledged is on disk already.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), withinMs).unref()
  await close()
  await db.close()
  logger.info('ended')
  output.end()
}

/**
 * What an operator should know before a database that is in use is brought into a later form.
 *
 * @param copy where a copy of it is made first, if one is
 */
export function migrationNotice(
  { latestApplied: from, names, rewrites }: PendingMigrations,
  copy: string | null = null,
): string {
  const steps = `${names.length} ${names.length === 1 ? 'migration' : 'migrations'}`
  const sentences = [
    `The database is brought from the form of ${from} to that of ${names.at(-1)}: ${steps} in one transaction, all of them or none.`,
    'Versions of before can not open it then.',
  ]
  if (rewrites.length > 0) {
    sentences.push(
      `This rewrites ${rewrites.join(' and ')}: for a million payouts some minutes, and half as much disk again until it is done.`,
    )
  }
  sentences.push(
    copy === null
      ? 'The way back is a copy from before: `npm run -s cli -- migrate --backup <file>` makes one first.'
      : `It is copied to ${copy} first, which is the way back.`,
  )
  return sentences.join(' ')
}
