import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'

/** A migrated, empty database of its own in a new folder, closed and removed when the test ends. */
export async function openTestDatabase(): Promise<{ db: Database; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  const path = join(folder, 'test.sqlite')
  const db = await openTestDatabaseAt(path)
  onTestFinished(() => rm(folder, { recursive: true }))
  return { db, path }
}

/** The database at `path`, closed when the test ends; a commit of unknown outcome fails the test. */
export async function openTestDatabaseAt(path: string): Promise<Database> {
  const db = await openDatabase({
    url: `sqlite:${path}`,
    onFatal: (error) => {
      throw error
    },
  })
  onTestFinished(() => db.close())
  return db
}
