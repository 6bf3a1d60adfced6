import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/app/open-database.ts'
import { nonDurableSettings, startPostgresServer } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A migrated, empty SQLite file that every test's own is a copy of. */
    sqliteTemplate: string
    /** The URL of the tests' PostgreSQL server up to the name of a database; `null` where there is none. */
    postgresUrl: string | null
  }
}

/** The database that every test's own is a copy of: migrated and empty. */
export const template = 'template_of_tests'

/** Makes what every test's own database is a copy of, on each engine. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  if (project.vite.config.mode === 'sqlite') return setUpSqlite(project)
  const removeFile = await makeTemplateFile(project)
  const removeServer = await startServer(project)
  return async () => {
    await removeServer?.()
    await removeFile()
  }
}

/** For one engine only, as `npm run test:sqlite` asks for while somebody works. */
export function setUpSqlite(project: TestProject): Promise<() => Promise<void>> {
  project.provide('postgresUrl', null)
  return makeTemplateFile(project)
}

async function makeTemplateFile(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(await scratchFolder(), 'payout-gateway-tests-'))
  const path = join(folder, 'template.sqlite')
  await migrated(`sqlite:${path}`)
  project.provide('sqliteTemplate', path)
  return () => rm(folder, { recursive: true })
}

/**
 * Where files are that nothing needs when the tests are over: in memory, where Linux has a folder for that with room, because
 * to wait for a disk takes half of a small test. Tests about files and processes have folders on the disk.
 */
async function scratchFolder(): Promise<string> {
  const inMemory = '/dev/shm'
  const room = await statfs(inMemory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return room > 2 ** 30 ? inMemory : tmpdir()
}

/** Starts one PostgreSQL server for all tests; only a platform without a build does without, and never in CI. */
async function startServer(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const server = await startPostgresServer(nonDurableSettings).catch((error: Error) => {
    if (process.env.CI) throw error
    process.stderr.write(`\n*** NO TEST RUNS ON POSTGRESQL: ${error.message} ***\n\n`)
    return null
  })
  project.provide('postgresUrl', server?.url('') ?? null)
  if (!server) return undefined
  const admin = new pg.Client(server.url('postgres'))
  await admin.connect()
  await admin.query(`create database ${template}`)
  await admin.end()
  await migrated(server.url(template))
  return server.remove
}

async function migrated(url: string): Promise<void> {
  const onFatal = (error: Error) => {
    throw error
  }
  await (await openDatabase({ url, onFatal })).close()
}
