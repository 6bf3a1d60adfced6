import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { timestamp } from '../../core/ids-and-clock.ts'
import { deriveKeyId } from '../../core/secrets/secrets.ts'
import type { EngineState } from '../../database/database.ts'
import { backupSourceName } from '../../database/engines.ts'
import type { SchemaCheck } from '../../database/migration.ts'
import type { Diagnosis } from '../../modules/diagnoses/diagnosis.ts'
import { formatNames, reportFault, reportOk, reportWarning } from '../../modules/diagnoses/diagnosis.ts'
import type { endpointHealth } from '../../modules/diagnoses/repository.ts'
import type { Mode } from '../../operations/context.ts'
import type { Config } from '../config.ts'
import { listBackups } from '../scheduled-backups.ts'

/** The service's own version of Node.js: an older one does not come as far as this. */
export function checkNodeVersion(): Diagnosis {
  return reportOk('node', `Node.js ${process.versions.node} runs this.`)
}

/** What is read back of the engine, a line for each setting; `where` it loses something with real money it is a fault. */
export function checkEngineSettings({ version, settings }: EngineState): Diagnosis[] {
  return settings.map(({ name, value, advice }) => {
    const message = `${version}: ${name} is ${value}.`
    if (advice === null) return reportOk(name, message)
    return durabilitySettings.includes(name) ? reportFault(name, message, advice) : reportWarning(name, message, advice)
  })
}

const durabilitySettings = [
  ...['synchronous', 'synchronous_commit', 'fsync', 'full_page_writes'],
  ...['synchronous_standby_names', 'synchronous standbys'],
]

export function checkMigrations({ pendingMigrations: coming, unknownMigration: unknown }: EngineState): Diagnosis {
  if (unknown !== undefined) {
    const message = `The database has migration ${unknown}, which this version does not know.`
    return reportFault(
      'migrations',
      message,
      'Use the later version that brought it there, or restore a backup of before.',
    )
  }
  if (coming.length === 0) return reportOk('migrations', 'The database is of the latest form.')
  const message = `The database lacks ${formatNames(coming)}; what its rows tell is looked at afterwards.`
  return reportWarning(
    'migrations',
    message,
    'The next start runs them: make a backup before, by `migrate --backup <file>`.',
  )
}

/** Holds that triggers, indexes, constraints and policies are those that the migrations make. */
export function checkSchemaDrift({ differences, notices, unchecked }: SchemaCheck): Diagnosis {
  const check = 'schema'
  if (unchecked !== null)
    return reportWarning(check, `Not compared: ${unchecked}.`, 'Give the user that right, or look there.')
  if (differences.length > 0) {
    const message = `The schema is not that of the migrations: ${formatNames(differences)}.`
    const advice =
      'Find out who changed it, then undo it or restore a backup of before: payouts may fail, and what is stored may be changed unseen.'
    return reportFault(check, message, advice)
  }
  return reportOk(
    check,
    `The schema is that of the migrations${notices.length > 0 ? `, and ${formatNames(notices)}` : ''}.`,
  )
}

/** How far two clocks may be apart. */
const clockToleranceMs = 5_000

export function checkServerClock({ clockSkewMs: aheadMs }: EngineState): Diagnosis[] {
  if (aheadMs === null) return []
  const seconds = Math.round(aheadMs / 1_000)
  if (Math.abs(aheadMs) <= clockToleranceMs) return [reportOk('server clock', 'The database server has the same time.')]
  const message = `The clock of the database server is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}.`
  return [reportWarning('server clock', message, 'Put both right (chrony or ntpd): leases and what is due go by them.')]
}

export function checkMode({ mode, isModeGiven }: Config, found: Mode | null): Diagnosis {
  if (found === null)
    return reportWarning('mode', 'The database was never started.', 'Start the service, or `migrate`.')
  if (!isModeGiven || mode === found) return reportOk('mode', `The database is of MODE=${found}.`)
  const message = `The database is of MODE=${found}, not ${mode}: the service does not start.`
  return reportFault('mode', message, `Set MODE=${found}, or DATABASE_URL to another database.`)
}

/** How old the latest backup of the schedule is; nothing is known of those that others make. */
export function checkBackupAge({ backupFolder, backupEveryMs, databaseUrl }: Config, now: number): Diagnosis {
  if (backupFolder === null)
    return reportOk('backups', 'BACKUP_DIR is not set: whatever backups there are, others make them.')
  const advice = 'Look for "backup failed" in the service’s log, and whether the service has BACKUP_DIR set.'
  try {
    const [latest] = listBackups(backupFolder, backupSourceName(databaseUrl))
    if (latest === undefined) return reportWarning('backups', `There is no backup in ${backupFolder} yet.`, advice)
    const told = `The latest backup in ${backupFolder} is of ${timestamp(latest.createdAt)}`
    if (now - latest.createdAt <= 2 * backupEveryMs) return reportOk('backups', `${told}.`)
    return reportFault('backups', `${told}, older than two intervals of BACKUP_EVERY.`, advice)
  } catch (error) {
    return reportFault('backups', `${backupFolder} can't be read: ${(error as Error).message}`, advice)
  }
}

/** Below this a disk is full with the next log, and payouts are refused. */
const minFreeBytes = 64 * 1024 * 1024

/** A backup, a migration and a restore each need room for another database. */
export async function checkDiskSpace(path: string): Promise<Diagnosis> {
  const { bavail, bsize } = await statfs(dirname(path))
  const free = bavail * bsize
  const used = databaseFiles(path).reduce((sum, { size }) => sum + size, 0)
  const message = `${formatMiB(free)} are free on the disk of the database, which has ${formatMiB(used)}.`
  if (free < minFreeBytes) return reportFault('disk', message, 'Make room: on a full disk nothing can be stored.')
  if (free >= used) return reportOk('disk', message)
  return reportWarning('disk', message, 'Make room: a backup, a migration and a restore each take as much again.')
}

function formatMiB(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`
}

export function checkFilePermissions(path: string): Diagnosis {
  const open = databaseFiles(path).filter(({ mode }) => process.platform !== 'win32' && (mode & 0o077) !== 0)
  if (open.length === 0) return reportOk('permissions', 'Only their owner can read the files of the database.')
  const names = open.map(({ file }) => file)
  return reportWarning(
    'permissions',
    `Other users of this machine can open ${formatNames(names)}.`,
    `chmod 600 ${names.join(' ')}`,
  )
}

/** The files that a database consists of, and the key that the sandbox has beside it. */
function databaseFiles(path: string) {
  return ['', '-wal', '-shm', '.secrets-key'].flatMap((suffix) => {
    const found = statSync(path + suffix, { throwIfNoEntry: false })
    return found ? [{ file: path + suffix, size: found.size, mode: found.mode }] : []
  })
}

export function checkCorsOrigins({ corsOrigins, mode }: Config): Diagnosis {
  if (mode === 'sandbox' || corsOrigins?.[0] !== '*')
    return reportOk('origins', 'CORS_ORIGINS is as narrow as the mode asks.')
  const message = 'CORS_ORIGINS is * in live: any page may read what a key in it is answered.'
  return reportWarning('origins', message, 'Name the origins of your own pages in CORS_ORIGINS.')
}

type EndpointHealthList = Awaited<ReturnType<typeof endpointHealth>>

/** Holds that what the endpoints' secrets were encrypted with is there. @param ownKey the path of the sandbox's, if it has one */
export function checkSecretsKeys(
  { secretsKeys }: Config,
  { endpoints, now, ownKey }: { endpoints: EndpointHealthList; now: number; ownKey: string | null },
): Diagnosis {
  const check = 'secrets'
  if (endpoints.length === 0) return reportOk(check, 'No webhook endpoint has a secret.')
  if (secretsKeys.length === 0) {
    if (ownKey !== null && statSync(ownKey, { throwIfNoEntry: false }))
      return reportOk(check, `Secrets are kept by ${ownKey}.`)
    const missing = ownKey === null ? 'SECRETS_KEY is not set' : `${ownKey} is not there`
    return reportFault(check, `${missing}, and ${endpoints.length} webhook endpoints get nothing.`, secretsKeyAdvice)
  }
  const given = secretsKeys.map(deriveKeyId)
  const sealed = endpoints.flatMap(({ secrets, signingKeys }) => [...secrets, ...signingKeys])
  const needed = sealed
    .filter(({ until }) => until === null || Date.parse(until) > now)
    .map(({ sealed }) => keyIdOf(sealed))
  const missing = [...new Set(needed)].filter((id) => !given.includes(id))
  if (missing.length === 0)
    return reportOk(check, 'SECRETS_KEY has every key that webhook secrets were encrypted with.')
  return reportFault(
    check,
    `SECRETS_KEY lacks what webhook secrets were encrypted with: ${formatNames(missing)}.`,
    secretsKeyAdvice,
  )
}

const secretsKeyAdvice =
  'Set SECRETS_KEY as the service’s environment has it; where it is lost for good, `webhook rotate <webhook id>` gives new secrets.'

function keyIdOf(sealed: string): string {
  return sealed.split('.')[1] ?? ''
}
