import { mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { openDatabase } from '../../src/app/open-database.ts'
import { nonDurableSettings, startPostgresServer } from './postgres-server.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** A migrated, empty SQLite file that each test copies. */
    sqliteTemplate: string
    /** The URL of the tests' PostgreSQL server without a database name; `null` if there is none. */
    postgresUrl: string | null
  }
}

/** The name of the migrated, empty template database. */
export const template = 'template_of_tests'

/** Creates the template database of each engine. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  if (project.vite.config.mode === 'sqlite') return setUpSqlite(project)
  const removeFile = await makeTemplateFile(project)
  const removeServer = await startServer(project)
  return async () => {
    await removeServer?.()
    await removeFile()
  }
}

/** Restricts the tests to one engine, as `npm run test:sqlite` does. */
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
 * The folder of temporary files: in memory if Linux has a tmpfs with room, because
 * disk waits take half of a small test. Tests about files and processes use folders on the disk.
 */
async function scratchFolder(): Promise<string> {
  const inMemory = '/dev/shm'
  const room = await statfs(inMemory).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return room > 2 ** 30 ? inMemory : tmpdir()
}

/** Starts one PostgreSQL server for all tests; optional only outside CI on a platform without a build. */
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
