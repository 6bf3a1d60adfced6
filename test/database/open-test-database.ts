import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { openDatabase } from '../../src/app/open-database.ts'
import type { Database } from '../../src/database/database.ts'
import type { Engine } from '../support/app.ts'
import { newDatabase } from '../support/app.ts'

/** Opens a migrated, empty database in a new folder; closes and removes it when the test ends. */
export async function openTestDatabase(): Promise<{ db: Database; path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  const path = join(folder, 'test.sqlite')
  const db = await openTestDatabaseAt(path)
  onTestFinished(() => rm(folder, { recursive: true }))
  return { db, path }
}

/** Opens a migrated, empty database of an engine. */
export async function openTestDatabaseOn(engine: Engine): Promise<{ db: Database; url: string }> {
  const { url, remove } = await newDatabase(engine)
  const db = await open(url)
  onTestFinished(async () => {
    await db.close()
    await remove()
  })
  return { db, url }
}

/** Opens the database at `path` and closes it when the test ends. */
export async function openTestDatabaseAt(path: string): Promise<Database> {
  const db = await open(`sqlite:${path}`)
  onTestFinished(() => db.close())
  return db
}

/** A commit of unknown outcome fails the test. */
function open(url: string): Promise<Database> {
  return openDatabase({
    url,
    onFatal: (error) => {
      throw error
    },
  })
}
