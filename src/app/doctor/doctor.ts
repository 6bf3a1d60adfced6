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
import { findMode } from '../../modules/installation/installation.ts'
import type { Config } from '../config.ts'
import { inspectDatabase } from '../open-database.ts'
import {
  checkBackupAge,
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

/** What rows tell, in the order in which it is told. */
const checks: Readonly<Record<string, DiagnosisCheck>> = {
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
 * Looks through an installation, beside a service at work or without one, and changes nothing.
 *
 * @param now milliseconds since 1970
 */
export async function diagnose(config: Config, now: number): Promise<Diagnosis[]> {
  const path = sqlitePathOf(config.databaseUrl)
  try {
    const visit = await inspectDatabase(config.databaseUrl)
    try {
      // A visitor leaves no file beside the database, but has them while it looks.
      const backups = checkBackupAge(config, now)
      const ofFiles = path === null ? [backups] : [await checkDiskSpace(path), checkFilePermissions(path), backups]
      const ofDatabase = [...engineDiagnoses(visit.state), ...(await schemaDiagnoses(visit))]
      return [checkNodeVersion(), ...ofFiles, ...ofDatabase, ...(await rowDiagnoses(config, { visit, path, now }))]
    } finally {
      await visit.close()
    }
  } catch (error) {
    const advice = 'Nothing starts or is stored without it: look whether DATABASE_URL names it, and who may read it.'
    return [checkNodeVersion(), reportFault('database', (error as Error).message, advice)]
  }
}

function engineDiagnoses(state: EngineState): Diagnosis[] {
  return [...checkEngineSettings(state), ...checkServerClock(state), checkMigrations(state)]
}

/** Nothing where the tables are of another form: there is no schema of this version's to compare theirs with. */
async function schemaDiagnoses(visit: InspectedDatabase): Promise<Diagnosis[]> {
  return isSchemaCurrent(visit.state)
    ? [await runCheck('schema', async () => checkSchemaDrift(await visit.checkSchema()))]
    : []
}

function isSchemaCurrent({ unknownMigration: unknown, pendingMigrations: coming }: EngineState): boolean {
  return unknown === undefined && coming.length === 0
}

type RowCheckInput = { readonly visit: InspectedDatabase; readonly path: string | null; readonly now: number }

/** Nothing where the tables are of another form: this version's queries may not know them. */
async function rowDiagnoses(config: Config, { visit: { db, state }, path, now }: RowCheckInput): Promise<Diagnosis[]> {
  if (!isSchemaCurrent(state)) return []
  const found = await findMode(db)
  const mode = found ?? config.mode
  const examined: DiagnosisContext = { db, mode, now, rails: config.rails.map(({ name }) => name) }
  const ownKey = mode === 'sandbox' && path !== null ? `${path}.secrets-key` : null
  const secrets: DiagnosisCheck = async () =>
    checkSecretsKeys(config, { endpoints: await endpointHealth(db, {}), now, ownKey })
  const looks = Object.entries({ secrets, ...checks }).map(([name, check]) => runCheck(name, () => check(examined)))
  return [checkMode(config, found), checkCorsOrigins(config), ...(await Promise.all(looks))]
}

/** Rows that can't be read are a finding too. */
async function runCheck(name: string, look: () => Promise<Diagnosis>): Promise<Diagnosis> {
  try {
    return await look()
  } catch (error) {
    return reportFault(
      name,
      `This could not be looked at: ${(error as Error).message}`,
      '`audit` finds what is damaged.',
    )
  }
}
