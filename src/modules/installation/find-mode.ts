import type { Reader } from '../../database/query.ts'
import type { Mode } from '../../operations/context.ts'
import { installationRow } from './repository.ts'

/** The mode that a database is of; `null` before its first start. */
export async function findMode(db: Reader): Promise<Mode | null> {
  return (await installationRow(db, {}))?.mode ?? null
}
