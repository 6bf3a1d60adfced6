import { timestamp } from '../../core/ids-and-clock.ts'
import type { Reader } from '../../database/query.ts'
import type { Mode, Service } from '../../operations/context.ts'
import { insertInstallation, installationRow } from './repository.ts'

/**
 * Permanently: the first process decides; later ones must agree.
 *
 * Demo rates, seeded balances and addresses that anyone can spend from must never reach a live merchant, even if an
 * operator forgets to set `MODE` for one command.
 *
 * @throws Error with the mode of the database
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

/** `null` before the first start. */
export async function findMode(db: Reader): Promise<Mode | null> {
  return (await installationRow(db, {}))?.mode ?? null
}
