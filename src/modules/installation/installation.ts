import { timestamp } from '../../core/ids-and-clock.ts'
import type { Reader } from '../../database/query.ts'
import type { Mode, Service } from '../../operations/context.ts'
import { insertInstallation, installationRow } from './repository.ts'

/**
 * Holds that a database is of one mode for good: the first to open it decides, everyone after must agree.
 *
 * Demo rates, invented balances and addresses that anyone can spend from must never meet a live merchant, not even when
 * an operator forgets to set `MODE` for one command.
 *
 * @throws Error that says which mode the database is of
 */
export async function claimMode(service: Service): Promise<void> {
  const { db, mode } = service
  const installed = (await installationRow(db, {})) ?? (await install(service))
  if (installed.mode === mode) return
  throw new Error(
    `This database is of MODE=${installed.mode}, not ${mode}: set MODE=${installed.mode}, or DATABASE_URL to another one.`,
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

/** The mode that a database is of; `null` before its first start. */
export async function findMode(db: Reader): Promise<Mode | null> {
  return (await installationRow(db, {}))?.mode ?? null
}
