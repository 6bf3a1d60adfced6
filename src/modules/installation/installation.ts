import { timestamp } from '../../core/ids-and-clock.ts'
import type { Reader } from '../../database/query.ts'
import type { Mode, Service } from '../../operations/context.ts'
import { insertInstallation, installationRow } from './repository.ts'

/**
 * The first process sets the mode of a database permanently. Without this rule, an operator who forgets to set `MODE`
 * could give live merchants demo rates, seeded balances, and addresses whose private keys are public.
 *
 * @throws Error if the database has another mode
 */
export async function claimMode(service: Service): Promise<void> {
  const { db, mode } = service
  const installed = (await installationRow(db, {})) ?? (await install(service))
  if (installed.mode === mode) return
  throw new Error(
    `This database is of MODE=${installed.mode}, not ${mode}. Set MODE=${installed.mode}, or point DATABASE_URL to another database.`,
  )
}

function install({ db, mode, now }: Service) {
  return db.write(async (tx) => {
    const row = { id: 1, mode, createdAt: timestamp(now()) }
    const earlier = await installationRow(tx, {})
    if (!earlier) await insertInstallation(tx, row)
    return earlier ?? row
  })
}

export async function findMode(db: Reader): Promise<Mode | null> {
  return (await installationRow(db, {}))?.mode ?? null
}
