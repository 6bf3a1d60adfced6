import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { readConfig } from '../../../src/app/config.ts'
import { openDatabase } from '../../../src/app/open-database.ts'
import { serve } from '../../../src/app/serve.ts'
import type { TestInstallation } from '../../support/process.ts'
import { cli, createEmptyInstallation, createLiveInstallation, startService } from '../../support/process.ts'

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

/** Returns the error that a starting service would print, without a process. */
const failure = ({ env }: TestInstallation) =>
  serve(readConfig({ ...env, PORT: '0' })).then(String, (error: Error) => error.message)

describe('a mistyped DATABASE_URL', () => {
  test('with a missing folder creates nothing', async () => {
    const place = await createEmptyInstallation()
    const missing = join(place.folder, 'missing')
    const mistyped = { ...place, env: { ...place.env, DATABASE_URL: `sqlite:${missing}/payouts.sqlite` } }

    await expect(startService(mistyped)).rejects.toThrow(`the folder ${missing} does not exist`)
    expect((await cli(mistyped, 'merchant', 'create', 'Acme')).stderr).toContain(`the folder ${missing} does not exist`)
    expect(existsSync(missing)).toBe(false)
  })

  test.each([
    ['of other tables', 'create table orders (id integer primary key) strict'],
    ['with its own table of migrations', 'create table migrations (id integer primary key, name text)'],
    ['with a table of migrations that looks like ours', 'create table migrations (name text, applied_at text)'],
  ])('that points to a database %s leaves that database unchanged', async (_, made) => {
    const place = await createEmptyInstallation()
    const foreign = new Sqlite(place.file)
    foreign.exec(made)
    foreign.close()
    const before = readFileSync(place.file)

    expect(await failure(place)).toContain('it is the database of another program, and was not changed')
    for (const args of [['migrate'], ['audit']]) {
      expect((await cli(place, ...args)).stderr).toContain('is the database of another program')
    }
    expect(readFileSync(place.file).equals(before)).toBe(true)
    expect(readdirSync(place.folder)).toEqual(['payouts.sqlite'])
  })

  test('that points to another file leaves that file unchanged', async () => {
    const place = await createEmptyInstallation()
    writeFileSync(place.file, 'precious '.repeat(100))

    expect(await failure(place)).toContain('file is not a database')
    expect(readFileSync(place.file, 'utf8')).toBe('precious '.repeat(100))
  })

  test('in live mode creates no database; only migrate creates one', async () => {
    const place = await createEmptyInstallation({ MODE: 'live' })
    expect(await failure(place)).toMatch(/it does not exist; .* to create a new one, run `npm run -s cli -- migrate`/)
    for (const args of [
      ['merchant', 'create', 'Acme'],
      ['rate', 'set', 'USDC', 'NGN', '1500'],
    ]) {
      expect(await cli(place, ...args)).toMatchObject({ code: 1, stderr: expect.stringContaining('does not exist') })
    }
    writeFileSync(place.file, '')
    expect(await failure(place)).toContain('does not exist')

    expect((await cli(place, 'migrate', '--json')).json()).toEqual({ migrated: true })
    await startService(place)
    expect((await cli(place, 'merchant', 'create', 'Acme')).code).toBe(0)
  })
})

describe('the folder of the default database', () => {
  test('is created only by commands that create a database', async () => {
    const { folder, env } = await createEmptyInstallation()
    const inFolder = (command: string, environment = {}) => {
      const cli = join(import.meta.dirname, '../../../src/cli/cli.ts')
      const options = { cwd: folder, env: { ...env, DATABASE_URL: '', ...environment }, encoding: 'utf8' as const }
      return spawnSync(process.execPath, [cli, ...command.split(' ')], options)
    }

    expect(inFolder('audit').stderr).toContain(`the folder ${join(folder, 'db')} does not exist`)
    expect(inFolder('merchant create Acme', { MODE: 'live' }).stderr).toContain('does not exist')
    expect(existsSync(join(folder, 'db'))).toBe(false)

    expect(inFolder('migrate', { MODE: 'live' }).status).toBe(0)
    expect([modeOf(join(folder, 'db')), readdirSync(join(folder, 'db'))]).toEqual(['700', ['payouts.sqlite']])
    expect(inFolder('merchant create Acme', { MODE: 'live' }).status).toBe(0)
  })
})

describe('the files that other users of the machine can read', () => {
  test('do not include the database, its WAL or a backup', async () => {
    const place = await createLiveInstallation()
    await startService(place)
    const copy = join(place.folder, 'copy.sqlite')
    await cli(place, 'backup', copy)

    const files = readdirSync(place.folder).map((name) => [name, modeOf(join(place.folder, name))])
    expect(files.length).toBeGreaterThanOrEqual(4)
    expect(files.filter(([, mode]) => mode !== '600')).toEqual([])
  })

  test('cause a warning if they include the database, and the file mode of the database stays unchanged', async () => {
    const place = await createLiveInstallation()
    const warnings: string[] = []
    const open = async () => {
      const url = place.env.DATABASE_URL
      const db = await openDatabase({ url, onFatal: () => {}, onWarning: (warning) => warnings.push(warning) })
      await db.close()
    }
    await open()
    expect(warnings).toEqual([])

    chmodSync(place.file, 0o640)
    await open()
    expect(warnings).toEqual([expect.stringContaining('chmod 600')])
    expect(modeOf(place.file)).toBe('640')
  })
})
