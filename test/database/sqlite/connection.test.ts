import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { inspectDatabase } from '../../../src/app/open-database.ts'
import { openConnection } from '../../../src/database/sqlite/sqlite-connection.ts'
import { openTestDatabase } from '../open-test-database.ts'
import { attempt, rawQuery } from '../rows.ts'

/** Creates a file with a rollback journal, and locks the file against other writers. */
async function lockNewFile() {
  const folder = await mkdtemp(join(tmpdir(), 'payout-gateway-'))
  const path = join(folder, 'test.sqlite')
  const holder = new Sqlite(path)
  onTestFinished(async () => {
    holder.close()
    await rm(folder, { recursive: true })
  })
  holder.exec('create table created (id integer)')
  holder.exec('begin immediate')
  return { path, holder }
}

/** Calls `onWait` instead of each wait for the lock. */
function replaceWaits(onWait: () => void) {
  const wait = vi.spyOn(Atomics, 'wait').mockImplementation(() => {
    if (wait.mock.calls.length > 1_000) throw new Error('the connection waits without end')
    onWait()
    return 'timed-out'
  })
  onTestFinished(() => wait.mockRestore())
  return wait
}

describe('a SQLite connection to a new file', () => {
  test('waits until another process has released its lock before it enables the WAL', async () => {
    const { path, holder } = await lockNewFile()
    const wait = replaceWaits(() => {
      if (wait.mock.calls.length === 3) holder.exec('rollback')
    })

    const { raw } = openConnection(path, { isReadOnly: false })

    onTestFinished(() => void raw.close())
    expect(raw.pragma('journal_mode', { simple: true })).toBe('wal')
    expect(wait).toHaveBeenCalledTimes(3)
    // Five seconds for 500 attempts.
    expect(wait.mock.calls[0]?.[3]).toBe(10)
  })

  test('fails if another process keeps its lock', async () => {
    const { path } = await lockNewFile()
    const wait = replaceWaits(() => {})

    expect(() => openConnection(path, { isReadOnly: false })).toThrow(expect.objectContaining({ code: 'SQLITE_BUSY' }))
    expect(wait).toHaveBeenCalledTimes(500)
  })

  test('fails immediately if the file is not a database', async () => {
    const { path, holder } = await lockNewFile()
    holder.close()
    await writeFile(path, 'precious '.repeat(100))
    const wait = replaceWaits(() => {})

    expect(() => openConnection(path, { isReadOnly: false })).toThrow('file is not a database')
    expect(wait).not.toHaveBeenCalled()
  })
})

test('a SQLite connection for an inspection cannot write, and reports the durability of the service', async () => {
  const { path } = await openTestDatabase()
  const { db, state, close } = await inspectDatabase(`sqlite:${path}`)
  onTestFinished(close)

  await expect(attempt(() => rawQuery(sql`delete from merchants`)(db))).rejects.toMatchObject({
    code: 'SQLITE_READONLY',
  })
  expect(state.settings).toMatchObject([
    { name: 'journal_mode', value: 'wal', advice: null },
    { name: 'synchronous', value: 'FULL', advice: null },
  ])
})
