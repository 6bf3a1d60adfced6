import type { EngineState, InspectedDatabase } from '../../database/database.ts'
import { sqlitePathOf } from '../../database/engines.ts'
import type { Diagnosis, DiagnosisCheck, DiagnosisContext } from '../../modules/diagnoses/diagnosis.ts'
import { reportFault } from '../../modules/diagnoses/diagnosis.ts'
import { checkExpiringKeys, checkKeyModes, checkUnusedKeys } from '../../modules/diagnoses/key-checks.ts'
import { checkMissingFees, checkMissingRates, checkStaleRates } from '../../modules/diagnoses/price-checks.ts'
import {
  checkAttentionQueue,
  checkDisabledEndpoints,
  checkFailingEndpoints,
  checkPausedRails,
  checkStoredTimes,
  checkUnknownRails,
} from '../../modules/diagnoses/queue-checks.ts'
import { endpointHealth } from '../../modules/diagnoses/repository.ts'
import { findBlockingCopy } from '../../modules/installation/database-copy.ts'
import { findMode } from '../../modules/installation/installation.ts'
import type { Config } from '../config.ts'
import { inspectDatabase } from '../open-database.ts'
import {
  checkBackupAge,
  checkCopy,
  checkCorsOrigins,
  checkDiskSpace,
  checkEngineSettings,
  checkFilePermissions,
  checkMigrations,
  checkMode,
  checkNodeVersion,
  checkSchemaDrift,
  checkSecretsKeys,
  checkServerClock,
} from './installation-checks.ts'

const rowChecks: Readonly<Record<string, DiagnosisCheck>> = {
  clock: checkStoredTimes,
  'keys of the mode': checkKeyModes,
  'unused keys': checkUnusedKeys,
  'ending keys': checkExpiringKeys,
  rates: checkMissingRates,
  'age of rates': checkStaleRates,
  fees: checkMissingFees,
  'disabled webhooks': checkDisabledEndpoints,
  'failing webhooks': checkFailingEndpoints,
  'paused rails': checkPausedRails,
  routes: checkUnknownRails,
  attention: checkAttentionQueue,
}

/**
 * Checks an installation, even while its service is running.
 *
 * @param now milliseconds since 1970
 */
export async function diagnose(config: Config, now: number): Promise<Diagnosis[]> {
  const path = sqlitePathOf(config.databaseUrl)
  try {
    const inspected = await inspectDatabase(config.databaseUrl)
    try {
      // SQLite may delete the files `-wal` and `-shm` when the database is closed, so `doctor` checks the files before
      // it closes the database.
      const backups = checkBackupAge(config, now)
      const ofFiles = path === null ? [backups] : [await checkDiskSpace(path), checkFilePermissions(path), backups]
      return [
        ...[checkNodeVersion(), ...ofFiles, ...engineDiagnoses(inspected.state)],
        ...(await contentDiagnoses(config, { inspected, path, now })),
      ]
    } finally {
      await inspected.close()
    }
  } catch (error) {
    const advice =
      'The service cannot start without its database: check DATABASE_URL, and that this user can read the database.'
    return [checkNodeVersion(), reportFault('database', (error as Error).message, advice)]
  }
}

function engineDiagnoses(state: EngineState): Diagnosis[] {
  return [...checkEngineSettings(state), ...checkServerClock(state), checkMigrations(state)]
}

type ContentInput = { readonly inspected: InspectedDatabase; readonly path: string | null; readonly now: number }

/**
 * If migrations are pending or unknown, `doctor` does not read tables, because the queries may not match the schema. If
 * the database is an incomplete copy, `doctor` checks only the progress of the copy.
 */
async function contentDiagnoses(config: Config, input: ContentInput): Promise<Diagnosis[]> {
  const { db, state, checkSchema } = input.inspected
  if (state.unknownMigration !== undefined || state.pendingMigrations.length > 0) return []
  const copy = await findBlockingCopy(db)
  if (copy?.isTarget) return [checkCopy(copy)]
  const schema = await runCheck('schema', async () => checkSchemaDrift(await checkSchema()))
  return [schema, checkCopy(copy), ...(await rowDiagnoses(config, input))]
}

async function rowDiagnoses(config: Config, { inspected: { db }, path, now }: ContentInput): Promise<Diagnosis[]> {
  const storedMode = await findMode(db)
  const mode = storedMode ?? config.mode
  const context: DiagnosisContext = { db, mode, now, rails: config.rails.map(({ name }) => name) }
  const ownKey = mode === 'sandbox' && path !== null ? `${path}.secrets-key` : null
  const secrets: DiagnosisCheck = async () =>
    checkSecretsKeys(config, { endpoints: await endpointHealth(db, {}), now, ownKey })
  const running = Object.entries({ secrets, ...rowChecks }).map(([name, check]) => runCheck(name, () => check(context)))
  return [checkMode(config, storedMode), checkCorsOrigins(config), ...(await Promise.all(running))]
}

async function runCheck(name: string, check: () => Promise<Diagnosis>): Promise<Diagnosis> {
  try {
    return await check()
  } catch (error) {
    return reportFault(name, `The check failed: ${(error as Error).message}`, 'Run `audit`, which finds damaged rows.')
  }
}
