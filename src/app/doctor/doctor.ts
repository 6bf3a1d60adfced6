import type { EngineState, Visit } from '../../database/database.ts'
import { sqlitePathOf, visitDatabase } from '../../database/open-database.ts'
import type { Check, Diagnosis, Examined } from '../../modules/diagnoses/diagnosis.ts'
import { fault } from '../../modules/diagnoses/diagnosis.ts'
import { endingKeys, keysOfTheMode, unusedKeys } from '../../modules/diagnoses/key-checks.ts'
import { missingFees, missingRates, oldRates } from '../../modules/diagnoses/price-checks.ts'
import {
  disabledEndpoints,
  failingEndpoints,
  openAttention,
  railsThatArePaused,
  storedTimes,
  unknownRails,
} from '../../modules/diagnoses/queue-checks.ts'
import { endpointHealth } from '../../modules/diagnoses/repository.ts'
import { findMode } from '../../modules/installation/find-mode.ts'
import type { Config } from '../config.ts'
import {
  closedFiles,
  engineSettings,
  freshBackups,
  keysOfSecrets,
  migrationsRun,
  modeAgrees,
  namedOrigins,
  nodeVersion,
  roomOnDisk,
  schemaIsOurs,
  serverClock,
} from './installation-checks.ts'

/** What rows tell, in the order in which it is told. */
const checks: Readonly<Record<string, Check>> = {
  clock: storedTimes,
  'keys of the mode': keysOfTheMode,
  'unused keys': unusedKeys,
  'ending keys': endingKeys,
  rates: missingRates,
  'age of rates': oldRates,
  fees: missingFees,
  'disabled webhooks': disabledEndpoints,
  'failing webhooks': failingEndpoints,
  'paused rails': railsThatArePaused,
  routes: unknownRails,
  attention: openAttention,
}

/**
 * Looks through an installation, beside a service at work or without one, and changes nothing.
 *
 * @param now milliseconds since 1970
 */
export async function diagnose(config: Config, now: number): Promise<Diagnosis[]> {
  const path = sqlitePathOf(config.databaseUrl)
  try {
    const visit = await visitDatabase(config.databaseUrl)
    try {
      // A visitor leaves no file beside the database, but has them while it looks.
      const backups = freshBackups(config, now)
      const ofFiles = path === null ? [backups] : [await roomOnDisk(path), closedFiles(path), backups]
      const ofDatabase = [...ofEngine(visit.state), ...(await ofSchema(visit))]
      return [nodeVersion(), ...ofFiles, ...ofDatabase, ...(await ofRows(config, { visit, path, now }))]
    } finally {
      await visit.close()
    }
  } catch (error) {
    const advice = 'Nothing starts or is stored without it: look whether DATABASE_URL names it, and who may read it.'
    return [nodeVersion(), fault('database', (error as Error).message, advice)]
  }
}

function ofEngine(state: EngineState): Diagnosis[] {
  return [...engineSettings(state), ...serverClock(state), migrationsRun(state)]
}

/** Nothing where the tables are of another form: there is no schema of this version's to compare theirs with. */
async function ofSchema(visit: Visit): Promise<Diagnosis[]> {
  return isCurrent(visit.state) ? [await lookedAt('schema', async () => schemaIsOurs(await visit.checkSchema()))] : []
}

function isCurrent({ unknown, coming }: EngineState): boolean {
  return unknown === undefined && coming.length === 0
}

type Visited = { readonly visit: Visit; readonly path: string | null; readonly now: number }

/** Nothing where the tables are of another form: this version's queries may not know them. */
async function ofRows(config: Config, { visit: { db, state }, path, now }: Visited): Promise<Diagnosis[]> {
  if (!isCurrent(state)) return []
  const found = await findMode(db)
  const mode = found ?? config.mode
  const examined: Examined = { db, mode, now, rails: config.rails.map(({ name }) => name) }
  const ownKey = mode === 'sandbox' && path !== null ? `${path}.secrets-key` : null
  const secrets: Check = async () => keysOfSecrets(config, { endpoints: await endpointHealth(db, {}), now, ownKey })
  const looks = Object.entries({ secrets, ...checks }).map(([name, check]) => lookedAt(name, () => check(examined)))
  return [modeAgrees(config, found), namedOrigins(config), ...(await Promise.all(looks))]
}

/** Rows that can't be read are a finding too. */
async function lookedAt(name: string, look: () => Promise<Diagnosis>): Promise<Diagnosis> {
  try {
    return await look()
  } catch (error) {
    return fault(name, `This could not be looked at: ${(error as Error).message}`, '`audit` finds what is damaged.')
  }
}
