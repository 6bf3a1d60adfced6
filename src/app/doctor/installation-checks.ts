import { statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { timestamp } from '../../core/ids.ts'
import { idOf } from '../../core/secrets/secrets.ts'
import type { EngineState } from '../../database/database.ts'
import { backedUpFile } from '../../database/open-database.ts'
import type { SchemaCheck } from '../../database/schema-check.ts'
import type { Diagnosis } from '../../modules/diagnoses/diagnosis.ts'
import { fault, ok, some, warning } from '../../modules/diagnoses/diagnosis.ts'
import type { endpointHealth } from '../../modules/diagnoses/repository.ts'
import type { Mode } from '../../operations/context.ts'
import { backupsIn } from '../backup-files.ts'
import type { Config } from '../config.ts'

/** The service's own version of Node.js: an older one does not come as far as this. */
export function nodeVersion(): Diagnosis {
  return ok('node', `Node.js ${process.versions.node} runs this.`)
}

/** What is read back of the engine, a line for each setting; `where` it loses something with real money it is a fault. */
export function engineSettings({ version, settings }: EngineState): Diagnosis[] {
  return settings.map(({ name, value, advice }) => {
    const message = `${version}: ${name} is ${value}.`
    if (advice === null) return ok(name, message)
    return losing.includes(name) ? fault(name, message, advice) : warning(name, message, advice)
  })
}

const losing = [
  ...['synchronous', 'synchronous_commit', 'fsync', 'full_page_writes'],
  ...['synchronous_standby_names', 'synchronous standbys'],
]

export function migrationsRun({ coming, unknown }: EngineState): Diagnosis {
  if (unknown !== undefined) {
    const message = `The database has migration ${unknown}, which this version does not know.`
    return fault('migrations', message, 'Use the later version that brought it there, or restore a backup of before.')
  }
  if (coming.length === 0) return ok('migrations', 'The database is of the latest form.')
  const message = `The database lacks ${some(coming)}; what its rows tell is looked at afterwards.`
  return warning('migrations', message, 'The next start runs them: make a backup before, by `migrate --backup <file>`.')
}

/** Holds that triggers, indexes, constraints and policies are those that the migrations make. */
export function schemaIsOurs({ differences, notices, unchecked }: SchemaCheck): Diagnosis {
  const check = 'schema'
  if (unchecked !== null)
    return warning(check, `Not compared: ${unchecked}.`, 'Give the user that right, or look there.')
  if (differences.length > 0) {
    const message = `The schema is not that of the migrations: ${some(differences)}.`
    const advice =
      'Find out who changed it, then undo it or restore a backup of before: payouts may fail, and what is stored may be changed unseen.'
    return fault(check, message, advice)
  }
  return ok(check, `The schema is that of the migrations${notices.length > 0 ? `, and ${some(notices)}` : ''}.`)
}

/** How far two clocks may be apart. */
const clockToleranceMs = 5_000

export function serverClock({ aheadMs }: EngineState): Diagnosis[] {
  if (aheadMs === null) return []
  const seconds = Math.round(aheadMs / 1_000)
  if (Math.abs(aheadMs) <= clockToleranceMs) return [ok('server clock', 'The database server has the same time.')]
  const message = `The clock of the database server is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead' : 'behind'}.`
  return [warning('server clock', message, 'Put both right (chrony or ntpd): leases and what is due go by them.')]
}

export function modeAgrees({ mode, isModeGiven }: Config, found: Mode | null): Diagnosis {
  if (found === null) return warning('mode', 'The database was never started.', 'Start the service, or `migrate`.')
  if (!isModeGiven || mode === found) return ok('mode', `The database is of MODE=${found}.`)
  const message = `The database is of MODE=${found}, not ${mode}: the service does not start.`
  return fault('mode', message, `Set MODE=${found}, or DATABASE_URL to another database.`)
}

/** How old the latest backup of the schedule is; nothing is known of those that others make. */
export function freshBackups({ backupFolder, backupEveryMs, databaseUrl }: Config, now: number): Diagnosis {
  if (backupFolder === null)
    return ok('backups', 'BACKUP_DIR is not set: whatever backups there are, others make them.')
  const advice =
    'Look for "a backup could not be made" in the service’s log, and whether the service has BACKUP_DIR set.'
  try {
    const [latest] = backupsIn(backupFolder, backedUpFile(databaseUrl))
    if (latest === undefined) return warning('backups', `There is no backup in ${backupFolder} yet.`, advice)
    const told = `The latest backup in ${backupFolder} is of ${timestamp(latest.madeAt)}`
    if (now - latest.madeAt <= 2 * backupEveryMs) return ok('backups', `${told}.`)
    return fault('backups', `${told}, older than two intervals of BACKUP_EVERY.`, advice)
  } catch (error) {
    return fault('backups', `${backupFolder} can't be read: ${(error as Error).message}`, advice)
  }
}

/** Below this a disk is full with the next log, and payouts are refused. */
const leastFreeBytes = 64 * 1024 * 1024

/** A backup, a migration and a restore each need room for another database. */
export async function roomOnDisk(path: string): Promise<Diagnosis> {
  const { bavail, bsize } = await statfs(dirname(path))
  const free = bavail * bsize
  const used = filesOf(path).reduce((sum, { size }) => sum + size, 0)
  const message = `${inMiB(free)} are free on the disk of the database, which has ${inMiB(used)}.`
  if (free < leastFreeBytes) return fault('disk', message, 'Make room: on a full disk nothing can be stored.')
  if (free >= used) return ok('disk', message)
  return warning('disk', message, 'Make room: a backup, a migration and a restore each take as much again.')
}

function inMiB(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`
}

export function closedFiles(path: string): Diagnosis {
  const open = filesOf(path).filter(({ mode }) => process.platform !== 'win32' && (mode & 0o077) !== 0)
  if (open.length === 0) return ok('permissions', 'Only their owner can read the files of the database.')
  const names = open.map(({ file }) => file)
  return warning('permissions', `Other users of this machine can open ${some(names)}.`, `chmod 600 ${names.join(' ')}`)
}

/** The files that a database consists of, and the key that the sandbox has beside it. */
function filesOf(path: string) {
  return ['', '-wal', '-shm', '.secrets-key'].flatMap((suffix) => {
    const found = statSync(path + suffix, { throwIfNoEntry: false })
    return found ? [{ file: path + suffix, size: found.size, mode: found.mode }] : []
  })
}

export function namedOrigins({ corsOrigins, mode }: Config): Diagnosis {
  if (mode === 'sandbox' || corsOrigins?.[0] !== '*')
    return ok('origins', 'CORS_ORIGINS is as narrow as the mode asks.')
  const message = 'CORS_ORIGINS is * in live: any page may read what a key in it is answered.'
  return warning('origins', message, 'Name the origins of your own pages in CORS_ORIGINS.')
}

type Endpoints = Awaited<ReturnType<typeof endpointHealth>>

/** Holds that what the endpoints' secrets were encrypted with is there. @param ownKey the path of the sandbox's, if it has one */
export function keysOfSecrets(
  { secretsKeys }: Config,
  { endpoints, now, ownKey }: { endpoints: Endpoints; now: number; ownKey: string | null },
): Diagnosis {
  const check = 'secrets'
  if (endpoints.length === 0) return ok(check, 'No webhook endpoint has a secret.')
  if (secretsKeys.length === 0) {
    if (ownKey !== null && statSync(ownKey, { throwIfNoEntry: false }))
      return ok(check, `Secrets are kept by ${ownKey}.`)
    const missing = ownKey === null ? 'SECRETS_KEY is not set' : `${ownKey} is not there`
    return fault(check, `${missing}, and ${endpoints.length} webhook endpoints get nothing.`, howToHaveKeys)
  }
  const given = secretsKeys.map(idOf)
  const sealed = endpoints.flatMap(({ secrets, signingKeys }) => [...secrets, ...signingKeys])
  const needed = sealed
    .filter(({ until }) => until === null || Date.parse(until) > now)
    .map(({ sealed }) => keyOf(sealed))
  const missing = [...new Set(needed)].filter((id) => !given.includes(id))
  if (missing.length === 0) return ok(check, 'SECRETS_KEY has every key that webhook secrets were encrypted with.')
  return fault(check, `SECRETS_KEY lacks what webhook secrets were encrypted with: ${some(missing)}.`, howToHaveKeys)
}

const howToHaveKeys =
  'Set SECRETS_KEY as the service’s environment has it; where it is lost for good, `webhook rotate <webhook id>` gives new secrets.'

function keyOf(sealed: string): string {
  return sealed.split('.')[1] ?? ''
}
