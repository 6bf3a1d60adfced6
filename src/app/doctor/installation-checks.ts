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
import type { BlockingCopy } from '../../modules/installation/database-copy.ts'
import type { Mode } from '../../operations/context.ts'
import type { Config } from '../config.ts'
import { listBackups } from '../scheduled-backups.ts'

/** Node.js versions that are too old are rejected when the program starts. */
export function checkNodeVersion(): Diagnosis {
  return reportOk('node', `This is Node.js ${process.versions.node}.`)
}

/** Settings that can lose committed data are faults. Other wrong settings are warnings. */
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

export function checkMigrations({ pendingMigrations, unknownMigration }: EngineState): Diagnosis {
  if (unknownMigration !== undefined) {
    const message = `The database has migration ${unknownMigration}, which this version does not know.`
    return reportFault(
      'migrations',
      message,
      'Use the later version of the service that ran it, or restore a backup from before.',
    )
  }
  if (pendingMigrations.length === 0) return reportOk('migrations', 'The database has every migration.')
  const message = `The database lacks migrations: ${formatNames(pendingMigrations)}. Its rows are not checked until they have run.`
  return reportWarning(
    'migrations',
    message,
    'The next start runs them. To create a backup first, run `migrate --backup <file>`.',
  )
}

export function checkSchemaDrift({ differences, notices, unchecked }: SchemaCheck): Diagnosis {
  const check = 'schema'
  if (unchecked !== null)
    return reportWarning(
      check,
      `The schema was not compared: ${unchecked}.`,
      'Grant this user that right, or check the schema yourself.',
    )
  if (differences.length > 0) {
    const message = `The schema differs from the migrations: ${formatNames(differences)}.`
    const advice =
      'Find out who changed it, then undo the change or restore a backup from before. Until then payouts may fail, and rows may change undetected.'
    return reportFault(check, message, advice)
  }
  return reportOk(
    check,
    `The schema matches the migrations${notices.length > 0 ? `, and ${formatNames(notices)}` : ''}.`,
  )
}

const clockToleranceMs = 5_000

export function checkServerClock({ clockSkewMs }: EngineState): Diagnosis[] {
  if (clockSkewMs === null) return []
  const seconds = Math.round(clockSkewMs / 1_000)
  if (Math.abs(clockSkewMs) <= clockToleranceMs)
    return [reportOk('server clock', 'The clocks of the database server and of this machine agree.')]
  const message = `The clock of the database server is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} this machine’s.`
  return [
    reportWarning(
      'server clock',
      message,
      'Synchronize both clocks (chrony or ntpd): leases and due times depend on them.',
    ),
  ]
}

export function checkMode({ mode, isModeGiven }: Config, storedMode: Mode | null): Diagnosis {
  if (storedMode === null)
    return reportWarning('mode', 'No service has used this database yet.', 'Start the service, or run `migrate`.')
  if (!isModeGiven || mode === storedMode) return reportOk('mode', `The database has MODE=${storedMode}.`)
  const message = `The database has MODE=${storedMode}, not ${mode}: the service does not start.`
  return reportFault('mode', message, `Set MODE=${storedMode}, or DATABASE_URL to another database.`)
}

/** An unfinished copy that blocks the database is a fault, because the service then rejects all payouts. */
export function checkCopy(copy: BlockingCopy | null): Diagnosis {
  if (copy === null) return reportOk('copy', 'No copy to or from another database blocks this one.')
  return reportFault('copy', copy.message, copy.advice)
}

/** Ignores backups by other tools. */
export function checkBackupAge({ backupFolder, backupEveryMs, databaseUrl }: Config, now: number): Diagnosis {
  if (backupFolder === null) return reportOk('backups', 'BACKUP_DIR is not set: the service creates no backups.')
  const advice = 'Search the service’s log for "backup failed", and check that the service has BACKUP_DIR set.'
  try {
    const [latest] = listBackups(backupFolder, backupSourceName(databaseUrl))
    if (latest === undefined) return reportWarning('backups', `There is no backup in ${backupFolder} yet.`, advice)
    const message = `The latest backup in ${backupFolder} is of ${timestamp(latest.createdAt)}`
    if (now - latest.createdAt <= 2 * backupEveryMs) return reportOk('backups', `${message}.`)
    return reportFault('backups', `${message}, older than two intervals of BACKUP_EVERY.`, advice)
  } catch (error) {
    return reportFault('backups', `${backupFolder} cannot be read: ${(error as Error).message}`, advice)
  }
}

/**
 * If less disk space than `minFreeBytes` is free, the write-ahead log may fill the disk, and the service then rejects
 * payouts.
 */
const minFreeBytes = 64 * 1024 * 1024

export async function checkDiskSpace(path: string): Promise<Diagnosis> {
  const { bavail, bsize } = await statfs(dirname(path))
  const free = bavail * bsize
  const used = databaseFiles(path).reduce((sum, { size }) => sum + size, 0)
  const message = `The disk of the database has ${formatMiB(free)} free, and the database uses ${formatMiB(used)}.`
  if (free < minFreeBytes) return reportFault('disk', message, 'Make room: the service rejects writes on a full disk.')
  if (free >= used) return reportOk('disk', message)
  return reportWarning(
    'disk',
    message,
    'Make room: a backup, a migration and a restore each need as much as the database uses.',
  )
}

function formatMiB(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`
}

export function checkFilePermissions(path: string): Diagnosis {
  const exposedFiles = databaseFiles(path).filter(({ mode }) => process.platform !== 'win32' && (mode & 0o077) !== 0)
  if (exposedFiles.length === 0) return reportOk('permissions', 'Only their owner can read the database files.')
  const names = exposedFiles.map(({ file }) => file)
  return reportWarning(
    'permissions',
    `Other users of this machine can open ${formatNames(names)}.`,
    `chmod 600 ${names.join(' ')}`,
  )
}

function databaseFiles(path: string) {
  return ['', '-wal', '-shm', '.secrets-key'].flatMap((suffix) => {
    const stats = statSync(path + suffix, { throwIfNoEntry: false })
    return stats ? [{ file: path + suffix, size: stats.size, mode: stats.mode }] : []
  })
}

export function checkCorsOrigins({ corsOrigins, mode }: Config): Diagnosis {
  if (mode === 'sandbox' || corsOrigins?.[0] !== '*')
    return reportOk('origins', 'CORS_ORIGINS is not *, or the mode is sandbox.')
  const message = 'CORS_ORIGINS is * in live mode: any web page can read responses to requests from a browser.'
  return reportWarning('origins', message, 'Name the origins of your own pages in CORS_ORIGINS.')
}

type EndpointHealthList = Awaited<ReturnType<typeof endpointHealth>>

/** @param ownKey path of the sandbox's key file, if it uses one */
export function checkSecretsKeys(
  { secretsKeys }: Config,
  { endpoints, now, ownKey }: { endpoints: EndpointHealthList; now: number; ownKey: string | null },
): Diagnosis {
  const check = 'secrets'
  if (endpoints.length === 0) return reportOk(check, 'No webhook endpoint has a secret.')
  if (secretsKeys.length === 0) {
    if (ownKey !== null && statSync(ownKey, { throwIfNoEntry: false }))
      return reportOk(check, `Secrets are encrypted with the key in ${ownKey}.`)
    const missing = ownKey === null ? 'SECRETS_KEY is not set' : `${ownKey} does not exist`
    return reportFault(check, `${missing}, so ${endpoints.length} webhook endpoints get no webhooks.`, secretsKeyAdvice)
  }
  const available = secretsKeys.map(deriveKeyId)
  const sealed = endpoints.flatMap(({ secrets, signingKeys }) => [...secrets, ...signingKeys])
  const needed = sealed
    .filter(({ until }) => until === null || Date.parse(until) > now)
    .map(({ sealed }) => keyIdOf(sealed))
  const missing = [...new Set(needed)].filter((id) => !available.includes(id))
  if (missing.length === 0) return reportOk(check, 'SECRETS_KEY has every key that encrypted webhook secrets.')
  return reportFault(
    check,
    `SECRETS_KEY lacks keys that encrypted webhook secrets: ${formatNames(missing)}.`,
    secretsKeyAdvice,
  )
}

const secretsKeyAdvice =
  'Set SECRETS_KEY as in the service’s environment. If the key is lost, `webhook rotate <webhook id>` creates new secrets.'

function keyIdOf(sealed: string): string {
  return sealed.split('.')[1] ?? ''
}
