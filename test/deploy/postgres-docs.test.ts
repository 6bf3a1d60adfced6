import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { nonDurableSettings, startSystemServer, systemBinaries } from '../support/postgres-server.ts'
import { cli, createEmptyInstallation } from '../support/process.ts'

const root = resolve(import.meta.dirname, '../..')

/** Whether Debian's PostgreSQL is installed and this process may become its user. */
const binaries = systemBinaries()
const canRun = binaries !== null && process.getuid?.() === 0 && /^postgres:/m.test(readFileSync('/etc/passwd', 'utf8'))
if (!canRun) {
  const message =
    'NO TEST RUNS THE COMMANDS THAT MAKE A POSTGRESQL DATABASE: that takes root, and apt-get install postgresql'
  if (process.env.CI) throw new Error(message)
  process.stderr.write(`\n*** ${message} ***\n\n`)
}

/** Returns the commands of a page that start with `word`, verbatim. */
function commandsIn(page: string, word: string): string[] {
  return readFileSync(join(root, page), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${word} `))
}

test.skipIf(!canRun)(
  'the commands in the guide to PostgreSQL create a database on which the service starts',
  async () => {
    // A cluster that was created without a locale, as in a container, has another encoding.
    const server = await startSystemServer(binaries as string, nonDurableSettings, { encoding: 'SQL_ASCII' })
    onTestFinished(() => server.remove())
    const { hostname, port } = new URL(server.url('postgres'))
    const commands = commandsIn('docs/guides/moving-to-postgresql.md', 'runuser -u postgres --')
    expect(commands).toHaveLength(2)

    for (const command of commands) {
      const env = { PATH: `${binaries}:${process.env.PATH}`, PGHOST: hostname, PGPORT: port, LC_ALL: 'C' }
      const { status, stderr } = spawnSync('sh', ['-c', command], { env, cwd: '/', encoding: 'utf8' })
      expect([command, status, stderr]).toEqual([command, 0, ''])
    }

    const [started = ''] =
      readFileSync(join(root, 'docs/guides/moving-to-postgresql.md'), 'utf8').match(
        /^DATABASE_URL=postgres:\S+ npm start$/m,
      ) ?? []
    const [, url = ''] = /^DATABASE_URL=(\S+) npm start$/.exec(started) ?? []
    const place = await createEmptyInstallation({ DATABASE_URL: url.replace('127.0.0.1', `127.0.0.1:${port}`) })
    expect(await cli(place, 'demo')).toMatchObject({ code: 0 })
    const client = new pg.Client(place.env.DATABASE_URL)
    await client.connect()
    const { rows } = await client.query(`select pg_encoding_to_char(encoding) as encoding, datctype as ctype
    from pg_database where datname = current_database()`)
    await client.end()
    expect(rows).toEqual([{ encoding: 'UTF8', ctype: 'C.UTF-8' }])
  },
)
