import { setTimeout as delay } from 'node:timers/promises'
import { isLoopback } from '../core/net/ip-networks.ts'
import { cliCommand } from '../core/package.ts'
import type { Database, DatabaseOptions } from '../database/database.ts'
import { TemporarilyUnavailableError, takenOverExitCode } from '../database/database.ts'
import type { PendingMigrations } from '../database/migration.ts'
import { demoApiKey, hasDemo, seedDemo } from '../demo/demo.ts'
import { findBlockingCopy } from '../modules/installation/database-copy.ts'
import { claimMode } from '../modules/installation/installation.ts'
import type { Service } from '../operations/context.ts'
import type { Config } from './config.ts'
import type { LogOutput, ProcessRole } from './logger.ts'
import { createLogger, standardOutput } from './logger.ts'
import { openDatabase } from './open-database.ts'

type ProcessLogger = ReturnType<typeof createLogger>

export type ProcessResources = {
  readonly config: Config
  readonly db: Database
  readonly logger: ProcessLogger
  readonly output: LogOutput
}

/**
 * `onWait` is called once if the database cannot be opened yet. The function that `onWait` returns is called when the
 * database can be opened.
 */
type ProcessStartOptions = {
  readonly role?: ProcessRole
  readonly isReadOnly?: boolean
  readonly onCommitted?: DatabaseOptions['onCommitted']
  readonly onWait?: (logger: ProcessLogger) => Promise<() => Promise<unknown>>
}

const openRetryMs = 1_000

/**
 * Waits while the database is temporarily unavailable, for example because the disk is full. Without waiting, the
 * process would exit, and the service manager would restart the process repeatedly.
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
      // In live mode only `migrate` creates a database. If every command created databases, a typing error in the URL
      // would start an empty service.
      mustExist: config.mode === 'live',
      mustBeDurable: config.mode === 'live',
      isReadOnly,
      onFatal: (error) => {
        logger.fatal({ err: error }, 'commit outcome is unknown, ending the process')
        process.exit(1)
      },
      onStopped: (error) => logger.fatal({ err: error }, 'database files were changed, rejecting all requests'),
      beforeMigrating: (pending) => logger.warn(migrationNotice(pending)),
      onWarning: (message) => logger.warn(message),
      onCommitted,
    })
  let stopWaiting: (() => Promise<unknown>) | null = null
  for (;;) {
    try {
      const db = await openConfiguredDatabase()
      await requireNoCopy(db)
      await stopWaiting?.()
      return { config, db, logger, output }
    } catch (error) {
      if (!(error instanceof TemporarilyUnavailableError)) throw error
      if (stopWaiting === null) process.stderr.write(`${error.message}: waiting for the database\n`)
      logger.error({ err: error }, 'database is not available, will retry')
      stopWaiting ??= await onWait(logger)
      await delay(openRetryMs)
    }
  }
}

/** @throws TemporarilyUnavailableError during a copy, and Error when the database has moved */
async function requireNoCopy(db: Database): Promise<void> {
  const copy = await findBlockingCopy(db)
  if (copy === null) return
  await db.close()
  const message = `${copy.message} ${copy.advice}`
  throw copy.isOver ? new Error(message) : new TemporarilyUnavailableError(message)
}

/**
 * In the sandbox, seeds an empty database with the demo.
 *
 * @returns whether the demo exists
 * @throws Error if the mode of the database is not the mode of the service
 */
export async function prepareDatabase(service: Service): Promise<boolean> {
  await claimMode(service)
  return service.mode === 'sandbox' && ((await hasDemo(service)) || (await seedDemo(service)))
}

/** A process that is no longer the writer sends its last responses, and exits after `rejectionGraceMs`. */
const rejectionGraceMs = 200

/** If another service becomes the writer of the database, this process exits. */
export function takeOverDatabase(started: ProcessResources): void {
  const { db, logger } = started
  try {
    db.takeOver(() => {
      logger.fatal('database was taken over by another service, ending the process')
      setTimeout(() => process.exit(takenOverExitCode), rejectionGraceMs)
    })
  } catch (error) {
    if (!(error instanceof TemporarilyUnavailableError)) throw error
    // The takeover can fail because the disk is full. Until the takeover succeeds, the process serves only reads.
    logger.error({ err: error }, 'database takeover failed, will retry')
    setTimeout(takeOverDatabase, openRetryMs, started).unref()
  }
}

export function startupMessage(
  { mode, databaseUrl, host, metrics, console }: Config,
  address: string,
  hasDemo: boolean,
  upcomingPrices: readonly string[] = [],
): string {
  const database = databaseUrl.replace(/\/\/[^/@]*@/, '//')
  const lines = [
    `payout-gateway is ready (${mode}, ${database})`,
    `  Start    ${address} (in a browser; links to everything)`,
    `  REST     ${address}/api`,
    `  Docs     ${address}/docs (REST, in a browser; OpenAPI at /openapi.json)`,
    `  GraphQL  ${address}/graphql${mode === 'sandbox' ? ' (GraphiQL, in a browser)' : ''}`,
    `  Health   ${address}/readyz`,
  ]
  if (console) lines.push(`  Console  ${console.url} (for operators: operator create)`)
  if (metrics) lines.push(`  Metrics  http://${metrics.host}:${metrics.port}/metrics`)
  if (upcomingPrices.length > 0) {
    lines.push('', 'Warning: these rates and fees take effect later, unless cancelled (rate cancel, fee cancel):')
    lines.push(...upcomingPrices.map((line) => `  ${line}`), '')
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

export function publicDemoKeyWarning(host: string): string {
  return `HOST=${host} accepts requests from other machines, and the demo key is public. Set HOST=127.0.0.1, or MODE=live with another database.`
}

export async function shutDown(
  { db, logger, output }: ProcessResources,
  { close, withinMs }: { close: () => Promise<unknown>; withinMs: number },
): Promise<void> {
  // `process.exit` would wait until the log is written, so the process kills itself. All acknowledged writes are
  // durable before the process is killed.
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), withinMs).unref()
  await close()
  await db.close()
  logger.info('shutdown is complete')
  output.end()
}

export function migrationNotice(
  { latestApplied: from, names, rewrites }: PendingMigrations,
  backup: string | null = null,
): string {
  const steps = `${names.length} ${names.length === 1 ? 'migration' : 'migrations'}`
  const sentences = [
    `The database will be migrated from ${from} to ${names.at(-1)}: ${steps} in one transaction.`,
    'Earlier versions of the service cannot open it afterwards.',
  ]
  if (rewrites.length > 0) {
    sentences.push(
      `This rewrites ${rewrites.join(' and ')}: for a million payouts it takes some minutes, and half of the database size in free disk space.`,
    )
  }
  sentences.push(
    backup === null
      ? `To go back, restore a backup from before: \`${cliCommand} migrate --backup <file>\` creates one first.`
      : `It is backed up to ${backup} first: restore that to go back.`,
  )
  return sentences.join(' ')
}
